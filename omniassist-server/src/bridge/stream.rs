use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use omniassist_core::bridge::{BridgeOptions, MessageAccumulator, Skipped};
use omniassist_core::event::{EventBuf, RunErrorCode};
use omniassist_core::{RunEvent, Text};

use super::AgentEvents;

/// A stream of the run events of one answer.
///
/// It has at least one event. The subscription ends when the message is complete, which can be before the last events
/// are read. Dropping the stream ends the subscription.
#[must_use = "a stream does nothing unless polled"]
pub struct BridgeStream {
    accumulator: MessageAccumulator,
    pub(super) options: BridgeOptions,
    events: Option<AgentEvents>,
    ready: EventBuf<RunEvent>,
}

impl BridgeStream {
    pub(super) fn new(accumulator: MessageAccumulator, options: BridgeOptions, events: AgentEvents) -> Self {
        Self { accumulator, options, events: Some(events), ready: EventBuf::new() }
    }

    /// Ends the subscription, and the message with an error.
    pub(super) fn failed(mut self) -> Self {
        self.events = None;
        self.accumulator.fail(RunErrorCode::Internal, &mut self.ready);
        self
    }

    /// Returns the id of the assistant message.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        self.accumulator.message_id()
    }

    /// Returns the accumulator with the state of the message.
    #[must_use]
    pub fn accumulator(&self) -> &MessageAccumulator {
        &self.accumulator
    }

    /// Polls for the next event. Returns `None` after the last one.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        loop {
            if let Some(event) = self.ready.pop() {
                return Poll::Ready(Some(event));
            }
            let Some(events) = &mut self.events else { return Poll::Ready(None) };
            let next = match events.as_mut().poll_next(cx) {
                Poll::Ready(next) => next,
                Poll::Pending => return Poll::Pending,
            };
            match next.map(|event| event.and_then(|event| self.accumulator.apply(event, &mut self.ready))) {
                Some(Ok(())) => {}
                Some(Err(skipped)) => self.report(&skipped),
                None => self.accumulator.fail(RunErrorCode::StreamInterrupted, &mut self.ready),
            }
            if self.accumulator.is_closed() {
                self.events = None;
            }
        }
    }

    fn report(&self, skipped: &Skipped) {
        let message_id = self.accumulator.message_id().as_str();
        if skipped.is_fault() {
            tracing::warn!(message_id, "{skipped}");
        } else {
            tracing::trace!(message_id, "{skipped}");
        }
    }
}

impl Stream for BridgeStream {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for BridgeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeStream").field("message_id", self.message_id()).finish_non_exhaustive()
    }
}
