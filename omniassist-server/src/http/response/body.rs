use std::fmt;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::{Limits, RunEvent, sse};
use tokio::time::Instant;

use super::batch::Batch;
use super::event_source::{EventSource, Watched};
use crate::bridge::BridgeStream;
use crate::endpoint::McpBody;
use crate::engine::{Admission, View};
use crate::timer::Timer;
use crate::wake_flag::WakeFlag;
use crate::{Refusal, Run};

/// The initial capacity of a stream's buffer: a few frames of one token each, which then share one allocation.
const BUFFER_BYTES: usize = 256;

/// The length at which a frame is sent although more events are ready.
const FRAME_BYTES: usize = 16 * 1024;

/// The time between the last bytes and the error of a body that breaks off. A server drops unwritten bytes when a body
/// fails, and over HTTP/2 another task than the polling one writes them.
const BEFORE_BREAK: Duration = Duration::from_millis(50);

/// The body of a response of the assistant: whole, a stream of events, or the content of a stored file.
///
/// Dropping the body of a run stops the run, unless the run is stored. Dropping the body of a runtime's stream unsubscribes
/// from it. Failures are events of the stream; plain text has no events, so there the body [breaks off](CutAnswer). The body is
/// `Sync`, as some frameworks require.
#[must_use = "a body does nothing unless polled"]
pub struct AssistantBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    /// The answer to a HEAD request: the length that the answer to a GET has.
    Head(u64),
    Events(Box<EventBody>),
    /// The body of an endpoint that another crate implements.
    Mounted(McpBody),
    #[cfg(feature = "files")]
    File(super::file_body::FileBody),
}

impl AssistantBody {
    pub(in crate::http) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(bytes.into())))
    }

    pub(in crate::http) fn mounted(body: McpBody) -> Self {
        Self(Kind::Mounted(body))
    }

    #[cfg(feature = "files")]
    pub(in crate::http) fn file(file: super::file_body::FileBody) -> Self {
        Self(Kind::File(file))
    }

    /// Returns the body of the answer to a HEAD request. Some servers leave out the bytes themselves; hyper does not
    /// over HTTP/2.
    pub(super) fn left_out(self) -> Self {
        let length = self.size_hint().exact().unwrap_or_default();
        Self(Kind::Head(length))
    }

    pub(in crate::http) fn events(run: Run, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        Self::opened(EventBody::new(run, encoder, keep_alive))
    }

    /// Creates the body of a viewer of a stored run. Dropping it does not stop the run.
    pub(in crate::http) fn view(view: View, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
        Self::opened(EventBody::of(EventSource::View(view), encoder, keep_alive))
    }

    /// Creates the body of a viewer that begins with these bytes.
    pub(in crate::http) fn view_after(
        begun: BytesMut,
        view: View,
        encoder: Box<dyn DialectEncoder>,
        keep_alive: Duration,
    ) -> Self {
        let mut events = EventBody::of(EventSource::View(view), encoder, keep_alive);
        events.buffer = begun;
        Self::opened(events)
    }

    pub(in crate::http) fn bridge(
        stream: BridgeStream,
        encoder: Box<dyn DialectEncoder>,
        limits: &Limits,
    ) -> Self {
        let patience = limits.write_timeout.max(limits.keep_alive.saturating_mul(2));
        let source = EventSource::Bridge(Watched::new(stream, patience));
        Self::opened(EventBody::of(source, encoder, limits.keep_alive))
    }

    pub(in crate::http) fn opened(events: EventBody) -> Self {
        Self(Kind::Events(Box::new(events)))
    }

    /// Starts the run of a stream before the head of its response is written, so that the request to the provider is
    /// sent first. Waits until the host has planned the run, at most for the keep-alive time.
    ///
    /// # Errors
    ///
    /// Returns the refusal of a run that the host refuses before it begins.
    pub(in crate::http) async fn start(&mut self) -> Result<(), Refusal> {
        let Kind::Events(events) = &mut self.0 else { return Ok(()) };
        let begun = events.last_frame;
        poll_fn(|cx| {
            events.read_source(cx);
            // The keep-alive time begins anew when it is over, also in a format without comments.
            let must_wait = !events.has_something_to_send() && events.last_frame == begun;
            match events.source.admission() {
                Admission::Undecided if must_wait => Poll::Pending,
                Admission::Undecided | Admission::Granted => Poll::Ready(Ok(())),
                Admission::Refused(refusal) => Poll::Ready(Err(*refusal)),
            }
        })
        .await?;
        tokio::task::yield_now().await;
        Ok(())
    }
}

/// The error of a plain text answer that broke off, because its run failed or was stopped after its first words. The
/// connection is closed without the end of the response, so that no client takes a part for the whole.
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
            Kind::Mounted(body) => {
                return body
                    .as_mut()
                    .poll_frame(cx)
                    .map(|frame| frame.map(|frame| frame.map_err(|never| match never {})));
            }
            #[cfg(feature = "files")]
            Kind::File(file) => {
                file.poll_bytes(cx).map(|bytes| bytes.map(|bytes| bytes.map_err(|()| CutAnswer(()))))
            }
        };
        bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.as_ref().is_none_or(Bytes::is_empty),
            Kind::Head(_) => true,
            Kind::Events(events) => events.state == State::Over,
            Kind::Mounted(body) => body.is_end_stream(),
            #[cfg(feature = "files")]
            Kind::File(file) => file.left() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Head(length) => SizeHint::with_exact(*length),
            Kind::Events(_) => SizeHint::default(),
            Kind::Mounted(body) => body.size_hint(),
            #[cfg(feature = "files")]
            Kind::File(file) => SizeHint::with_exact(file.left()),
        }
    }
}

impl fmt::Debug for AssistantBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Whole(_) => "AssistantBody::Whole",
            Kind::Head(_) => "AssistantBody::Head",
            Kind::Events(_) => "AssistantBody::Events",
            Kind::Mounted(_) => "AssistantBody::Mounted",
            #[cfg(feature = "files")]
            Kind::File(_) => "AssistantBody::File",
        })
    }
}

/// A stream of encoded events: all events that are ready go into one frame.
pub(in crate::http) struct EventBody {
    source: EventSource,
    encoder: Box<dyn DialectEncoder>,
    buffer: BytesMut,
    keep_alive: Duration,
    last_frame: Instant,
    timer: Pin<Box<Timer>>,
    batch: Batch,
    wake_flag: WakeFlag,
    state: State,
    /// Set with the event that ends the run. A run that nobody read is dropped without one.
    is_complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// The run has ended; its last bytes may still be in the buffer.
    Ended,
    /// The body waits before it breaks off.
    Breaking,
    /// Everything was sent.
    Over,
}

impl EventBody {
    pub(in crate::http) fn new(run: Run, encoder: Box<dyn DialectEncoder>, keep_alive: Duration) -> Self {
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
            batch: Batch::default(),
            wake_flag: WakeFlag::new(),
            state: State::Running,
            is_complete: false,
        }
    }

    /// Returns the time that the provider which failed the run asks clients to wait.
    pub(in crate::http) fn retry_after(&self) -> Option<Duration> {
        match &self.source {
            EventSource::Run(run) => run.retry_after(),
            EventSource::View(_) | EventSource::Bridge(_) => None,
        }
    }

    /// Returns the host's refusal that ended the run.
    pub(in crate::http) fn refusal(&self) -> Option<Refusal> {
        match &self.source {
            EventSource::Run(run) => run.refusal(),
            EventSource::View(_) | EventSource::Bridge(_) => None,
        }
    }

    /// Returns `true` if there are bytes to send, or the end.
    pub(in crate::http) fn has_something_to_send(&self) -> bool {
        !self.buffer.is_empty() || self.state != State::Running
    }

    /// Returns `true` if the response must not look complete.
    pub(in crate::http) fn is_cut(&self) -> bool {
        self.encoder.is_cut() || (self.state != State::Running && !self.is_complete)
    }

    /// Encodes and returns the next event; `None` when the run has ended.
    pub(in crate::http) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        let event = ready!(self.source.poll_event(cx));
        match &event {
            Some(event) => {
                self.is_complete |= event.is_terminal();
                self.encoder.encode(event, &mut self.buffer);
            }
            None => self.end(),
        }
        Poll::Ready(event)
    }

    /// Returns the next frame.
    ///
    /// A server polls a body more often than there are events: after each frame, after each write, and when the client
    /// sends something. The source of the events is polled only if it woke this body, since a poll of it goes down to
    /// the provider's socket. The order of the steps:
    ///
    /// 1. A held frame ([`Batch`]) waits for one turn of the scheduler.
    /// 2. The ready events are encoded into the buffer. A keep-alive is written if there are no events for too long.
    /// 3. An empty buffer means that there is nothing to send yet, or that the body ends.
    /// 4. A frame that is neither full nor the last one may be held, to be sent together with the next events.
    /// 5. The buffer is sent as one frame.
    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutAnswer>>> {
        if self.batch.refuses(self.wake_flag.is_set(), cx) {
            return Poll::Pending;
        }
        if self.takes_more() {
            self.read_source(cx);
        }
        if self.buffer.is_empty() {
            return self.poll_end(cx);
        }
        if self.takes_more() && self.batch.holds(self.buffer.len(), cx) {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(self.take_frame())))
    }

    /// Returns `true` if more events can go into the frame.
    fn takes_more(&self) -> bool {
        self.state == State::Running && self.buffer.len() < FRAME_BYTES
    }

    /// Encodes the ready events, if the source or the timer has woken this body.
    fn read_source(&mut self, cx: &mut Context<'_>) {
        if self.wake_flag.take(cx) {
            self.fill();
        }
        if self.buffer.is_empty() && self.state == State::Running && !self.timer.is_armed() {
            self.poll_keep_alive();
        }
    }

    /// Encodes all events that are ready, as long as the frame has room.
    fn fill(&mut self) {
        let (encoder, buffer, is_complete) = (&mut self.encoder, &mut self.buffer, &mut self.is_complete);
        let mut cx = Context::from_waker(self.wake_flag.waker());
        let polled = self.source.poll_events(&mut cx, &mut |event| {
            *is_complete |= event.is_terminal();
            encoder.encode(&event, buffer);
            if buffer.len() < FRAME_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if self.buffer.len() >= FRAME_BYTES {
            // The source has more events and does not wake the task for them.
            self.wake_flag.set();
        }
        if polled.is_ready() {
            self.end();
        }
    }

    /// Encodes the end of the run. The response to a client that had stopped reading breaks off instead, which closes
    /// its connection.
    fn end(&mut self) {
        if self.is_complete {
            self.encoder.finish(&mut self.buffer);
        }
        self.state = State::Ended;
    }

    fn take_frame(&mut self) -> Bytes {
        self.last_frame = Instant::now();
        self.batch.sent(self.buffer.len());
        if self.state == State::Ended && !self.is_cut() {
            self.state = State::Over;
        }
        self.buffer.split().freeze()
    }

    /// Ends the body if the run has ended, with an error if it must not look complete.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutAnswer>>> {
        match self.state {
            State::Running => return Poll::Pending,
            State::Over => return Poll::Ready(None),
            State::Ended if !self.is_cut() => {
                self.state = State::Over;
                return Poll::Ready(None);
            }
            State::Ended => {
                self.state = State::Breaking;
                self.last_frame = Instant::now();
            }
            State::Breaking => {}
        }
        ready!(self.timer.as_mut().poll_deadline(cx, self.last_frame + BEFORE_BREAK));
        self.state = State::Over;
        Poll::Ready(Some(Err(CutAnswer(()))))
    }

    /// Writes a comment if nothing was sent for the keep-alive time.
    fn poll_keep_alive(&mut self) {
        let mut cx = Context::from_waker(self.wake_flag.waker());
        while self.timer.as_mut().poll_deadline(&mut cx, self.last_frame + self.keep_alive).is_ready() {
            if self.encoder.takes_comments() {
                self.buffer.extend_from_slice(sse::KEEP_ALIVE);
            }
            self.last_frame = Instant::now();
        }
    }
}
