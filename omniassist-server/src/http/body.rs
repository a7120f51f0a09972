use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Limits, sse};
use tokio::time::{Instant, Sleep};

use super::source::{EventSource, Watched};
use crate::Run;
use crate::runtime::RuntimeStream;

/// What one frame may hold before it is sent, though more events are ready.
const FRAME_BYTES: usize = 16 * 1024;

/// The body of a response of the assistant: whole, or a stream of events.
///
/// Dropping the body of a run stops the run, and unsubscribes from a runtime. It never fails: what goes wrong in a run is told in the stream.
#[must_use = "a body does nothing unless polled"]
pub struct AssistantBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Events(Box<EventBody>),
}

impl AssistantBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(bytes.into())))
    }

    pub(super) fn events(run: Run, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        run.end_when_unread();
        Self::of(EventSource::Run(run), encoder, keep_alive)
    }

    pub(super) fn runtime(stream: RuntimeStream, encoder: Box<dyn DialectEncoder>, limits: &Limits) -> Self {
        let patience = limits.write_timeout.max(limits.keep_alive.saturating_mul(2));
        Self::of(EventSource::Runtime(Watched::new(stream, patience)), encoder, limits.keep_alive)
    }

    fn of(source: EventSource, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        Self(Kind::Events(Box::new(EventBody {
            source,
            encoder,
            buffer: BytesMut::new(),
            keep_alive,
            last_frame: Instant::now(),
            timer: Box::pin(tokio::time::sleep(keep_alive)),
            ended: false,
        })))
    }
}

impl Body for AssistantBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty())),
            Kind::Events(events) => events.poll_bytes(cx),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Kind::Events(events) => events.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for AssistantBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "AssistantBody::Whole",
            Kind::Events(_) => "AssistantBody::Events",
        })
    }
}

/// Polls a run, or a runtime, and encodes what it does: all events that are ready go into one frame.
struct EventBody {
    source: EventSource,
    encoder: Box<dyn DialectEncoder>,
    buffer: BytesMut,
    keep_alive: Duration,
    last_frame: Instant,
    /// Set for some time after `last_frame` at the latest; looked at, and set again, only when it fires.
    timer: Pin<Box<Sleep>>,
    ended: bool,
}

impl EventBody {
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while !self.ended && self.buffer.len() < FRAME_BYTES {
            match self.source.poll_event(cx) {
                Poll::Ready(Some(event)) => self.encoder.encode(&event, &mut self.buffer),
                Poll::Ready(None) => {
                    self.encoder.finish(&mut self.buffer);
                    self.ended = true;
                }
                Poll::Pending => break,
            }
        }
        if self.buffer.is_empty() && !self.ended {
            self.poll_keep_alive(cx);
        }
        if !self.buffer.is_empty() {
            self.last_frame = Instant::now();
            return Poll::Ready(Some(self.buffer.split().freeze()));
        }
        if self.ended { Poll::Ready(None) } else { Poll::Pending }
    }

    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) {
        while self.timer.as_mut().poll(cx).is_ready() {
            let mut due = self.last_frame + self.keep_alive;
            if due <= Instant::now() {
                if self.encoder.takes_comments() {
                    sse::encode::comment(&mut self.buffer, "keep-alive");
                }
                due = Instant::now() + self.keep_alive;
            }
            self.timer.as_mut().reset(due);
        }
    }
}
