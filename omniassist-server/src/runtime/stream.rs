use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use omniassist_core::dialect::ai_sdk::Framing;
use omniassist_core::dialect::ai_sdk::runtime::{MessageAccumulator, Skipped, TransportOptions};
use omniassist_core::event::{EventBuf, RunErrorCode};
use omniassist_core::{RunEvent, Text};

use super::{RuntimeChunks, RuntimeEvents};

/// What comes of a runtime's events, driven by being polled.
///
/// At least one event comes before it ends. Once the message is over it is unsubscribed from the runtime, though the
/// last events may not have been taken yet. Dropping it unsubscribes.
#[must_use = "a stream does nothing unless polled"]
pub struct RuntimeStream {
    accumulator: MessageAccumulator,
    options: TransportOptions,
    events: Option<RuntimeEvents>,
    ready: EventBuf<RunEvent>,
}

impl RuntimeStream {
    pub(super) fn new(
        accumulator: MessageAccumulator,
        options: TransportOptions,
        events: RuntimeEvents,
    ) -> Self {
        Self { accumulator, options, events: Some(events), ready: EventBuf::new() }
    }

    /// Unsubscribes, and ends the message with an error.
    pub(super) fn failed(mut self) -> Self {
        self.events = None;
        self.accumulator.fail(RunErrorCode::Internal, &mut self.ready);
        self
    }

    /// Id of the assistant message that is written.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        self.accumulator.message_id()
    }

    /// What is known of the message.
    #[must_use]
    pub fn accumulator(&self) -> &MessageAccumulator {
        &self.accumulator
    }

    /// The same as chunks of the UI message stream, each a JSON object.
    pub fn into_chunks(self) -> RuntimeChunks {
        let encoder = self.options.encoder(Framing::Ndjson);
        RuntimeChunks::new(self, encoder)
    }

    /// The next event; `None` after the last one.
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
        let message_id = self.accumulator.message_id();
        if skipped.is_fault() {
            tracing::warn!(%message_id, "{skipped}");
        } else {
            tracing::trace!(%message_id, "{skipped}");
        }
    }
}

impl Stream for RuntimeStream {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.poll_event(cx)
    }
}

impl fmt::Debug for RuntimeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeStream").field("message_id", self.message_id()).finish_non_exhaustive()
    }
}
