use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use omniassist_core::filter::{FilteredTurn, MAX_HELD_TIME, OutputFilter, Stopped};
use omniassist_core::{EventBuf, LlmEvent};
use tokio::time::Instant;

use crate::provider::LlmStream;
use crate::timer::Timer;
use crate::{Error, Result, panics};

/// The code of a run that a filter stopped.
const STOPPED: &str = "output_refused";

/// The stream of an answer whose text passes through filters.
pub(super) struct FilteredStream {
    answer: Option<LlmStream>,
    turn: FilteredTurn,
    ready: EventBuf<LlmEvent>,
    /// The item after the ready events: an error, or the end of the stream.
    last: Option<Option<Error>>,
    timer: Pin<Box<Timer>>,
    look: Option<Look>,
}

/// A check of the withheld text. Text that was withheld at the previous check and still is must be sent. The time between
/// two checks is half the longest time for which text may be withheld, so text is withheld for at least that half. The clock
/// is not read for each piece of text.
#[derive(Clone, Copy)]
struct Look {
    /// The bytes of text received by then.
    received: u64,
    next: Instant,
}

impl FilteredStream {
    pub(super) fn new(answer: LlmStream, filters: Vec<Arc<dyn OutputFilter>>) -> Self {
        Self {
            answer: Some(answer),
            turn: FilteredTurn::new(filters),
            ready: EventBuf::new(),
            last: None,
            timer: Box::pin(Timer::default()),
            look: None,
        }
    }

    fn filter(
        &mut self,
        step: impl FnOnce(&mut FilteredTurn, &mut EventBuf<LlmEvent>) -> Result<(), Stopped>,
    ) {
        let (turn, ready) = (&mut self.turn, &mut self.ready);
        let error = match panics::catch("a filter of the model's text", || step(turn, ready)) {
            Some(Ok(())) => return,
            Some(Err(stopped)) => Error::refused(STOPPED, stopped.message().clone()),
            None => Error::configuration("a filter of the model's text panicked"),
        };
        self.end(Some(error));
    }

    /// Closes the provider's stream. The first end counts.
    fn end(&mut self, error: Option<Error>) {
        self.answer = None;
        self.last.get_or_insert(error);
    }

    /// Completes when text was withheld for the longest permitted time.
    fn poll_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (received, held) = self.turn.held();
        if held == 0 {
            self.look = None;
            return Poll::Pending;
        }
        loop {
            let look =
                *self.look.get_or_insert_with(|| Look { received, next: Instant::now() + MAX_HELD_TIME / 2 });
            ready!(self.timer.as_mut().poll_deadline(cx, look.next));
            self.look = None;
            if received.saturating_sub(held as u64) < look.received {
                return Poll::Ready(());
            }
        }
    }
}

impl Stream for FilteredStream {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.ready.pop() {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(last) = &mut this.last {
                return Poll::Ready(last.take().map(Err));
            }
            let Some(answer) = &mut this.answer else { return Poll::Ready(None) };
            match answer.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(event))) => this.filter(|turn, ready| turn.take(event, ready)),
                Poll::Ready(Some(Err(error))) => {
                    this.filter(FilteredTurn::end);
                    this.end(Some(error));
                }
                Poll::Ready(None) => {
                    this.filter(FilteredTurn::end);
                    this.end(None);
                }
                Poll::Pending => {
                    ready!(this.poll_due(cx));
                    this.filter(FilteredTurn::due);
                }
            }
        }
    }
}
