use std::fmt;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Limits, RunEvent, sse};
use tokio::time::Instant;

use super::burst::Burst;
use super::source::{EventSource, Watched};
use super::woken::Woken;
use crate::Run;
use crate::bridge::BridgeStream;
use crate::timer::Timer;

/// What the buffer of a stream has room for at first: some frames of a token each, which then share one allocation.
const BUFFER_BYTES: usize = 256;

/// What one frame may hold before it is sent, though more events are ready.
const FRAME_BYTES: usize = 16 * 1024;

/// How long what was said has to leave before the answer breaks off: a server drops what it has not written when a body
/// fails. Over HTTP/2 another task than the one that polls the body writes it, the response's head included.
const BEFORE_BREAK: Duration = Duration::from_millis(50);

/// The body of a response of the assistant: whole, or a stream of events.
///
/// Dropping the body of a run stops the run, and unsubscribes from a runtime. What goes wrong is told in the stream. Only plain text has no
/// words for that: there the body [breaks off](CutAnswer). It is `Sync`, as some frameworks ask.
#[must_use = "a body does nothing unless polled"]
pub struct AssistantBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    /// What a GET would be answered is this long.
    Head(u64),
    Events(Box<EventBody>),
}

impl AssistantBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(bytes.into())))
    }

    /// The body of the answer to a HEAD request. Of the servers that this is for, some leave out the bytes themselves,
    /// and hyper does not over HTTP/2.
    pub(super) fn left_out(self) -> Self {
        let length = self.size_hint().exact().unwrap_or_default();
        Self(Kind::Head(length))
    }

    pub(super) fn events(run: Run, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        Self::opened(EventBody::new(run, encoder, keep_alive))
    }

    pub(super) fn bridge(stream: BridgeStream, encoder: Box<dyn DialectEncoder>, limits: &Limits) -> Self {
        let patience = limits.write_timeout.max(limits.keep_alive.saturating_mul(2));
        let source = EventSource::Bridge(Watched::new(stream, patience));
        Self::opened(EventBody::of(source, encoder, limits.keep_alive))
    }

    pub(super) fn opened(events: EventBody) -> Self {
        Self(Kind::Events(Box::new(events)))
    }
}

/// A plain text answer broke off: its run failed or was stopped after it had said something. The connection is closed
/// without the response's end, so that no client takes what it has for the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutAnswer(());

impl fmt::Display for CutAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off before it was complete")
    }
}

impl std::error::Error for CutAnswer {}

impl Body for AssistantBody {
    type Data = Bytes;
    type Error = CutAnswer;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutAnswer>>> {
        let bytes = match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty()).map(Ok)),
            Kind::Head(_) => Poll::Ready(None),
            Kind::Events(events) => events.poll_bytes(cx),
        };
        bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Kind::Head(_) => true,
            Kind::Events(events) => events.state == State::Over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Head(length) => SizeHint::with_exact(*length),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for AssistantBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "AssistantBody::Whole",
            Kind::Head(_) => "AssistantBody::Head",
            Kind::Events(_) => "AssistantBody::Events",
        })
    }
}

/// Polls a run, or a runtime, and encodes what it does: all events that are ready go into one frame.
pub(super) struct EventBody {
    source: EventSource,
    encoder: Box<dyn DialectEncoder>,
    buffer: BytesMut,
    keep_alive: Duration,
    last_frame: Instant,
    timer: Pin<Box<Timer>>,
    burst: Burst,
    woken: Woken,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// The run has ended, and its end may not have been sent.
    Ended,
    /// The body is about to break off.
    Breaking,
    /// Everything was sent.
    Over,
}

impl EventBody {
    pub(super) fn new(run: Run, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        run.end_when_unread();
        Self::of(EventSource::Run(run), encoder, keep_alive)
    }

    fn of(source: EventSource, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        Self {
            source,
            encoder,
            buffer: BytesMut::with_capacity(BUFFER_BYTES),
            keep_alive,
            last_frame: Instant::now(),
            timer: Box::pin(Timer::default()),
            burst: Burst::default(),
            woken: Woken::new(),
            state: State::Running,
        }
    }

    /// How long the provider that failed the run asks to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match &self.source {
            EventSource::Run(run) => run.retry_after(),
            EventSource::Bridge(_) => None,
        }
    }

    /// Whether there are bytes to send, or the end.
    pub(super) fn has_something_to_send(&self) -> bool {
        !self.buffer.is_empty() || self.state != State::Running
    }

    /// Whether the response must not look complete.
    pub(super) fn is_cut(&self) -> bool {
        self.encoder.is_cut()
    }

    /// Encodes the next event, and gives it; `None` when the run has ended.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        let event = ready!(self.source.poll_event(cx));
        match &event {
            Some(event) => self.encoder.encode(event, &mut self.buffer),
            None => {
                self.encoder.finish(&mut self.buffer);
                self.state = State::Ended;
            }
        }
        Poll::Ready(event)
    }

    /// Encodes all events that are ready, as long as the frame has room.
    fn fill(&mut self) {
        let (encoder, buffer) = (&mut self.encoder, &mut self.buffer);
        let mut cx = Context::from_waker(self.woken.waker());
        let polled = self.source.poll_events(&mut cx, &mut |event| {
            encoder.encode(&event, buffer);
            if buffer.len() < FRAME_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if self.buffer.len() >= FRAME_BYTES {
            self.woken.set();
        }
        if polled.is_ready() {
            self.encoder.finish(&mut self.buffer);
            self.state = State::Ended;
        }
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutAnswer>>> {
        if self.burst.refuses(self.woken.is_set(), cx) {
            return Poll::Pending;
        }
        if self.state == State::Running && self.buffer.len() < FRAME_BYTES {
            let was_woken = self.woken.take(cx);
            if !was_woken && self.buffer.is_empty() && self.timer.is_armed() {
                return Poll::Pending;
            }
            self.fill();
        }
        if self.buffer.is_empty() && self.state == State::Running {
            self.poll_keep_alive();
        }
        if !self.buffer.is_empty() {
            let now = Instant::now();
            let may_wait = self.state == State::Running && self.buffer.len() < FRAME_BYTES;
            let since_last = now - self.last_frame;
            if may_wait && self.burst.holds(self.buffer.len(), since_last, cx) {
                return Poll::Pending;
            }
            self.last_frame = now;
            self.burst.sent(since_last);
            if self.state == State::Ended && !self.encoder.is_cut() {
                self.state = State::Over;
            }
            return Poll::Ready(Some(Ok(self.buffer.split().freeze())));
        }
        match self.state {
            State::Running => Poll::Pending,
            State::Over => Poll::Ready(None),
            State::Ended if self.encoder.is_cut() => {
                self.state = State::Breaking;
                self.last_frame = Instant::now();
                self.poll_break(cx)
            }
            State::Ended => {
                self.state = State::Over;
                Poll::Ready(None)
            }
            State::Breaking => self.poll_break(cx),
        }
    }

    fn poll_break(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutAnswer>>> {
        ready!(self.timer.as_mut().poll_deadline(cx, self.last_frame + BEFORE_BREAK));
        self.state = State::Over;
        Poll::Ready(Some(Err(CutAnswer(()))))
    }

    fn poll_keep_alive(&mut self) {
        let mut cx = Context::from_waker(self.woken.waker());
        while self.timer.as_mut().poll_deadline(&mut cx, self.last_frame + self.keep_alive).is_ready() {
            if self.encoder.takes_comments() {
                sse::encode::comment(&mut self.buffer, "keep-alive");
            }
            self.last_frame = Instant::now();
        }
    }
}
