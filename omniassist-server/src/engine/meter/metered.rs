use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use omniassist_core::{LlmEvent, LlmPayload};
use tokio::task::JoinHandle;

use super::budget::Stop;
use super::estimate::BYTES_PER_TOKEN;
use super::lease::Lease;
use super::run_meter::{Meter, RESERVATION};
use super::tally::Tally;
use crate::Result;
use crate::provider::{LlmProvider, LlmStream};
use crate::throttle::Spent;

/// The answer of a model, whose tokens are reserved before they are used. The provider is called after the first
/// reservation. Dropping the answer settles the tokens of the call.
struct MeteredStream {
    meter: Meter,
    call: Option<(Arc<dyn LlmProvider>, LlmPayload)>,
    answer: Option<LlmStream>,
    turn: Option<Turn>,
    /// The pending reservation. The answer is not read before it is complete.
    reserving: Option<Reserving>,
    /// The end of the answer, once it was reached.
    ending: Option<Ending>,
}

/// A pending reservation. It returns the number of tokens.
type Reserving = Pin<Box<dyn Future<Output = Result<u64, Stop>> + Send>>;

/// The end of an answer, which is passed on when its tokens are settled.
struct Ending {
    last: Option<Result<LlmEvent>>,
    settling: Pin<Box<dyn Future<Output = Result<(), Stop>> + Send>>,
}

/// A model call in progress.
struct Turn {
    lease: Lease,
    tally: Tally,
    /// The reserved tokens.
    reserved: u64,
    /// The number of bytes after which more tokens are reserved.
    reserve_at: u64,
    finished: bool,
    calls_tools: bool,
}

impl Meter {
    /// Returns the answer of a provider, which is called after its tokens are reserved.
    pub(in crate::engine) fn stream(&self, provider: Arc<dyn LlmProvider>, payload: LlmPayload) -> LlmStream {
        Box::pin(MeteredStream::new(self.clone(), provider, payload))
    }
}

impl MeteredStream {
    fn new(meter: Meter, provider: Arc<dyn LlmProvider>, payload: LlmPayload) -> Self {
        let turn = Turn {
            lease: meter.next_lease(),
            tally: Tally::new(&payload),
            reserved: 0,
            reserve_at: 0,
            finished: false,
            calls_tools: false,
        };
        let reserving = Some(turn.reserve());
        let (turn, call) = (Some(turn), Some((provider, payload)));
        Self { meter, call, answer: None, turn, reserving, ending: None }
    }

    /// Ends the call now. A call that was not made used nothing.
    fn stop(&mut self) {
        self.answer = None;
        if self.call.take().is_none()
            && let Some(turn) = self.turn.take()
        {
            drop(turn.settle(false));
        }
        self.turn = None;
    }

    /// Takes an event of the answer, and reserves more tokens if it used up those of the call.
    fn take(&mut self, event: &LlmEvent) {
        if let Some(turn) = &mut self.turn
            && turn.take(event)
        {
            self.reserving = Some(turn.reserve());
        }
    }

    /// Settles the tokens of the call, and then reserves some to send the model the results of its tools.
    fn end(&mut self, last: Option<Result<LlmEvent>>) {
        self.answer = None;
        let has_failed = last.is_some();
        let continues =
            self.turn.as_ref().is_some_and(|turn| turn.calls_tools && (turn.finished || !has_failed));
        let settling = self.turn.take().and_then(|turn| turn.settle(has_failed));
        let meter = self.meter.clone();
        let settling = async move {
            if let Some(settling) = settling {
                let _ = settling.await;
            }
            if continues { meter.reserve_next().await } else { Ok(()) }
        };
        self.ending = Some(Ending { last, settling: Box::pin(settling) });
    }
}

impl Stream for MeteredStream {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(ending) = &mut this.ending {
                let settled = ready!(ending.settling.as_mut().poll(cx));
                let last = this.ending.take().and_then(|ending| ending.last);
                return Poll::Ready(settled.map_or_else(|stop| Some(Err(stop.into())), |()| last));
            }
            if let Some(reserving) = &mut this.reserving {
                let granted = ready!(reserving.as_mut().poll(cx));
                this.reserving = None;
                match (granted, &mut this.turn) {
                    (Ok(tokens), Some(turn)) => turn.granted(tokens),
                    (Ok(_), None) => {}
                    (Err(stop), _) => {
                        this.stop();
                        return Poll::Ready(Some(Err(stop.into())));
                    }
                }
            }
            if let Some((provider, payload)) = this.call.take() {
                this.answer = Some(provider.stream(payload));
            }
            let Some(answer) = &mut this.answer else { return Poll::Ready(None) };
            match ready!(answer.as_mut().poll_next(cx)) {
                Some(Ok(event)) => {
                    this.take(&event);
                    return Poll::Ready(Some(Ok(event)));
                }
                last => this.end(last),
            }
        }
    }
}

impl Drop for MeteredStream {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Turn {
    /// Reserves the tokens that the call has used, and some more.
    fn reserve(&self) -> Reserving {
        let used = self.tally.used();
        let least = if self.tally.has_begun() { used.max(1) } else { used.saturating_add(1) };
        Box::pin(self.lease.change(least..=used.saturating_add(RESERVATION)))
    }

    fn granted(&mut self, tokens: u64) {
        self.reserved = tokens;
        self.plan();
    }

    /// Computes when more tokens are needed. The estimate of the following output is added to what the call has used so far.
    fn plan(&mut self) {
        let more = self.reserved.saturating_sub(self.tally.used());
        self.reserve_at = self.tally.written().saturating_add(more).saturating_mul(BYTES_PER_TOKEN);
    }

    /// Counts the output of the model. Returns `true` if it used up the tokens of the call.
    fn take(&mut self, event: &LlmEvent) -> bool {
        let has_written = self.tally.take(event);
        match event {
            LlmEvent::Usage(_) => self.plan(),
            LlmEvent::ToolCallStart { .. } => self.calls_tools = true,
            LlmEvent::Finish { .. } => self.finished = true,
            _ => {}
        }
        has_written && self.tally.bytes() > self.reserve_at
    }

    /// Settles the tokens of the call. A call that was refused before its first event used nothing.
    fn settle(self, has_failed: bool) -> Option<JoinHandle<()>> {
        let is_refused = has_failed && !self.tally.has_begun();
        let spent = if is_refused { Spent::nothing() } else { self.tally.spent() };
        self.lease.settle(spent)
    }
}
