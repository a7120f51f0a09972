use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body;
use omniassist_core::{EventBuf, LlmEvent};
use pin_project_lite::pin_project;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::failure::FailedAnswer;
use super::lasting::Lasting;
use super::request::{ProviderRequest, ReadError};
use super::response::{BodyKind, Origin};
use super::retry;
use super::shared::Shared;
use crate::decoder::WireDecoder;
use crate::timer::Timer;
use crate::{Error, ProviderErrorKind, Result, one_line};

/// The distance of a deadline that is never reached. It replaces a deadline that the clock cannot represent.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// The silence after the last content that counts as the end of the body. Token counts and the end of the stream follow
/// without a pause. A finish reason is no sign of the last content if the provider runs code, or writes one on each event.
const AFTER_FINISH: Duration = Duration::from_secs(2);
/// Chunks without an event that are read in one poll, before the task yields to others.
const CHUNKS_PER_POLL: usize = 64;
/// Events that are held back until one is visible.
const MAX_HELD: usize = 64;

type Connecting = Pin<Box<dyn Future<Output = reqwest::Result<reqwest::Response>> + Send>>;

pin_project! {
    /// A provider's answer as a stream. Each wait is a separate state, and the stream can be dropped in any of them.
    pub(super) struct Answer<D> {
        core: Core<D>,
        #[pin]
        timer: Timer,
    }
}

/// All fields of an [`Answer`] but its timer. None of them is pinned.
struct Core<D> {
    shared: Arc<Shared>,
    request: ProviderRequest,
    decoder: D,
    read_error: ReadError,
    /// Set if the answer outlives its connection.
    lasting: Option<Arc<dyn Lasting>>,
    state: State,
    /// Events that the consumer has not taken.
    events: EventBuf<LlmEvent>,
    /// `true` after an event that a repeated request would show twice.
    visible: bool,
    /// `true` if events are passed on. Until one is visible, or names the answer, they are held back.
    released: bool,
    /// `true` if the request was sent again because a pooled connection was closed. That does not count as a repeat.
    reconnected: bool,
    /// Repeats made, since the last event of a lasting answer.
    repeats: u32,
    /// The position of a lasting answer when its connection was last lost.
    position: Option<u64>,
    /// `true` if the provider refused to send the rest of an answer.
    was_refused: bool,
    /// Bytes that may still come.
    room: usize,
    /// The failure that follows the last of `events`.
    failed: Option<Error>,
}

enum State {
    Unsent,
    Connecting { response: Connecting, first_byte: Instant },
    Streaming(Streaming),
    Failing { answer: FailedAnswer, origin: Origin },
    Waiting { until: Instant },
    Done,
}

struct Streaming {
    body: reqwest::Body,
    decoder: Box<dyn WireDecoder>,
    origin: Origin,
    /// The deadline of the first byte of the body; `None` after that byte.
    first_byte: Option<Instant>,
    /// The time since which a read is pending. Time in which the consumer does not poll is not idle time.
    pending_since: Option<Instant>,
}

/// The result of one poll of the provider.
enum Progress {
    /// A state has changed, or events may be ready.
    Changed,
    /// A chunk was read.
    Chunk,
}

impl<D> Answer<D>
where
    D: Fn() -> Box<dyn WireDecoder>,
{
    pub(super) fn new(
        shared: Arc<Shared>,
        request: ProviderRequest,
        decoder: D,
        read_error: ReadError,
        lasting: Option<Arc<dyn Lasting>>,
    ) -> Self {
        let room = shared.limits.max_response_bytes;
        let core = Core {
            shared,
            request,
            decoder,
            read_error,
            lasting,
            state: State::Unsent,
            // More events are rarely pending.
            events: EventBuf::with_capacity(2),
            visible: false,
            released: false,
            reconnected: false,
            repeats: 0,
            position: None,
            was_refused: false,
            room,
            failed: None,
        };
        Self { core, timer: Timer::default() }
    }
}

impl<D> Stream for Answer<D>
where
    D: Fn() -> Box<dyn WireDecoder>,
{
    type Item = Result<LlmEvent>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let mut chunks = 0;
        loop {
            if this.core.has_item() {
                return Poll::Ready(this.core.take_item());
            }
            if let Progress::Chunk = ready!(this.core.poll_progress(this.timer.as_mut(), cx)) {
                chunks += 1;
                if chunks > CHUNKS_PER_POLL {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
        }
    }
}

impl<D> Core<D>
where
    D: Fn() -> Box<dyn WireDecoder>,
{
    /// Returns `true` if the next item does not require a poll of the provider.
    fn has_item(&self) -> bool {
        matches!(self.state, State::Done) || self.released && !self.events.is_empty()
    }

    /// Returns an event, the failure after the last event, or the end.
    fn take_item(&mut self) -> Option<Result<LlmEvent>> {
        match self.events.pop() {
            Some(event) => Some(Ok(event)),
            None => self.failed.take().map(Err),
        }
    }

    fn poll_progress(&mut self, timer: Pin<&mut Timer>, cx: &mut Context<'_>) -> Poll<Progress> {
        match &mut self.state {
            State::Unsent => {
                self.send();
                Poll::Ready(Progress::Changed)
            }
            State::Connecting { response, first_byte } => {
                let first_byte = *first_byte;
                match response.as_mut().poll(cx) {
                    Poll::Ready(Ok(response)) => self.open(response, first_byte),
                    Poll::Ready(Err(error)) => self.fail_request(error),
                    Poll::Pending => {
                        ready!(timer.poll_deadline(cx, first_byte));
                        self.fail(Error::provider(ProviderErrorKind::Timeout), &Origin::default());
                    }
                }
                Poll::Ready(Progress::Changed)
            }
            State::Streaming(_) => self.poll_body(timer, cx),
            State::Failing { answer, .. } => {
                if answer.poll_read(cx).is_pending() {
                    ready!(timer.poll_deadline(cx, answer.deadline()));
                }
                if let State::Failing { answer, origin } = mem::replace(&mut self.state, State::Done) {
                    match answer.into_events() {
                        Ok((body, read)) => {
                            self.read_events(body, origin, None);
                            self.read(read);
                        }
                        Err(answer) => self.fail(answer.to_error(self.read_error), &origin),
                    }
                }
                Poll::Ready(Progress::Changed)
            }
            State::Waiting { until } => {
                ready!(timer.poll_deadline(cx, *until));
                self.send();
                Poll::Ready(Progress::Changed)
            }
            State::Done => Poll::Ready(Progress::Changed),
        }
    }

    fn send(&mut self) {
        let Ok(runtime) = Handle::try_current() else {
            let error = Error::configuration("a provider's stream must be polled inside a tokio runtime");
            return self.end(Some(error));
        };
        let request = match &self.lasting {
            None => self.request.clone(),
            Some(lasting) => match lasting.next(&self.request) {
                Some(request) => request,
                None => return self.end(None),
            },
        };
        if self.place().is_none() {
            self.room = self.shared.limits.max_response_bytes;
        }
        let ProviderRequest { method, url, headers, body, .. } = request;
        let client = self.shared.clients.of(&runtime);
        let response = client.request(method, url).headers(headers.as_ref().clone()).body(body).send();
        let first_byte = after(Instant::now(), self.shared.first_byte);
        self.state = State::Connecting { response: Box::pin(response), first_byte };
    }

    /// Handles a request without any answer. A provider may close a pooled connection while a request is written to it.
    /// That is not a failure of the provider, so the request is immediately repeated once, on a new connection.
    fn fail_request(&mut self, error: reqwest::Error) {
        let was_sent = !(error.is_builder() || error.is_timeout() || error.is_connect());
        if was_sent && self.shared.answered.load(Ordering::Relaxed) && !self.reconnected {
            self.reconnected = true;
            tracing::debug!("a pooled connection to the provider had died");
            return self.send();
        }
        self.fail(request_error(error), &Origin::default());
    }

    fn open(&mut self, response: reqwest::Response, first_byte: Instant) {
        self.shared.answered.store(true, Ordering::Relaxed);
        let (head, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        let origin = Origin::of(&head.headers);
        let limits = &self.shared.limits;
        let kind = BodyKind::of(head.status, &head.headers);
        let is_wanted = kind == BodyKind::Events || (kind == BodyKind::Json && self.request.answers_json);
        if is_wanted {
            return self.read_events(body, origin, Some(first_byte));
        }
        let deadline = after(Instant::now(), self.shared.first_byte.min(limits.idle_timeout));
        let answer = FailedAnswer::new(kind, head.status.as_u16(), body, deadline);
        self.state = State::Failing { answer, origin };
    }

    fn read_events(&mut self, body: reqwest::Body, origin: Origin, first_byte: Option<Instant>) {
        let decoder = (self.decoder)();
        self.state = State::Streaming(Streaming { body, decoder, origin, first_byte, pending_since: None });
    }

    fn poll_body(&mut self, timer: Pin<&mut Timer>, cx: &mut Context<'_>) -> Poll<Progress> {
        let State::Streaming(streaming) = &mut self.state else { return Poll::Ready(Progress::Changed) };
        match Pin::new(&mut streaming.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                streaming.pending_since = None;
                // Trailers end the body. Their content is not used.
                let Ok(data) = frame.into_data() else { return Poll::Ready(Progress::Chunk) };
                if !data.is_empty() {
                    streaming.first_byte = None;
                    self.read(data);
                }
                Poll::Ready(Progress::Chunk)
            }
            Poll::Ready(Some(Err(error))) => {
                let error = Error::provider(ProviderErrorKind::Interrupted).with_source(error.without_url());
                self.break_off(error);
                Poll::Ready(Progress::Changed)
            }
            Poll::Ready(None) => {
                self.close();
                Poll::Ready(Progress::Changed)
            }
            Poll::Pending => {
                let since = *streaming.pending_since.get_or_insert_with(Instant::now);
                let idle = self.shared.limits.idle_timeout;
                let idle = if streaming.decoder.has_ended() { idle.min(AFTER_FINISH) } else { idle };
                let deadline = streaming.first_byte.unwrap_or_else(|| after(since, idle));
                ready!(timer.poll_deadline(cx, deadline));
                self.break_off(Error::provider(ProviderErrorKind::Timeout));
                Poll::Ready(Progress::Changed)
            }
        }
    }

    /// Decodes a chunk.
    fn read(&mut self, mut data: Bytes) {
        let State::Streaming(streaming) = &mut self.state else { return };
        // The bytes within the limit are decoded, so that the events do not depend on the sizes of the chunks.
        let too_large = data.len() > self.room;
        data.truncate(self.room);
        self.room -= data.len();
        let result = if self.visible {
            streaming.decoder.feed(data, &mut self.events)
        } else {
            let mut fresh = EventBuf::new();
            let result = streaming.decoder.feed(data, &mut fresh);
            self.hold(&mut fresh);
            result
        };
        match result {
            Ok(()) if too_large => self.fail_streaming(Error::provider(ProviderErrorKind::TooLarge)),
            Ok(()) => {}
            Err(error) => self.fail_streaming(error),
        }
    }

    /// Keeps events back until one is visible: before that, the request may still be repeated.
    fn hold(&mut self, fresh: &mut EventBuf<LlmEvent>) {
        for event in fresh.drain() {
            self.visible |= event.is_visible() || self.events.len() >= MAX_HELD;
            self.released |= self.visible || matches!(event, LlmEvent::Kept(_));
            self.events.push(event);
        }
        if self.visible {
            // The request is not sent again, and the stream may take long, so its body is freed.
            self.request.body = Bytes::new();
        }
    }

    /// Handles the regular end of the body.
    fn close(&mut self) {
        let State::Streaming(streaming) = &mut self.state else { return };
        let mut fresh = EventBuf::new();
        let result = streaming.decoder.finish(&mut fresh);
        self.hold(&mut fresh);
        match result {
            Ok(()) => self.end(None),
            Err(error) => self.fail_streaming(error),
        }
    }

    /// Handles a connection that broke or went silent. After the answer's finish, that is not a failure.
    fn break_off(&mut self, error: Error) {
        match &self.state {
            State::Streaming(streaming) if streaming.decoder.is_complete() => self.close(),
            _ => self.fail_streaming(error),
        }
    }

    fn fail_streaming(&mut self, error: Error) {
        let origin = match &mut self.state {
            State::Streaming(streaming) => mem::take(&mut streaming.origin),
            _ => Origin::default(),
        };
        self.fail(error, &origin);
    }

    /// Returns the position of a lasting answer whose rest can be asked for.
    fn place(&self) -> Option<u64> {
        self.lasting.as_ref().and_then(|lasting| lasting.position())
    }

    /// Repeats the request, or asks for the rest of the answer, if that is safe, allowed and may help; otherwise ends with the
    /// error.
    fn fail(&mut self, error: Error, origin: &Origin) {
        let error = origin.complete(error, &self.request.headers);
        let place = self.place();
        if place.is_some() && retry::is_refusal(&error) {
            return self.refused(error);
        }
        if place > self.position {
            (self.position, self.repeats) = (place, 0);
        }
        let limits = &self.shared.limits;
        let is_safe = place.is_some() || !self.visible;
        let may_repeat = is_safe && self.repeats < limits.max_retries && retry::is_worth_repeating(&error);
        let delay = may_repeat.then(|| retry::delay(limits, self.repeats, error.retry_after())).flatten();
        let Some(delay) = delay else { return self.end(Some(error)) };
        self.repeats += 1;
        tracing::debug!(error = %one_line::chain(&error), repeat = self.repeats, ?delay, "repeating a provider request");
        if place.is_none() {
            self.begin_again();
        }
        self.state = State::Waiting { until: after(Instant::now(), delay) };
    }

    /// Handles a provider that does not send the rest of an answer: the first request is sent again, once, if nobody has seen
    /// a part of the answer.
    fn refused(&mut self, refusal: Error) {
        if let Some(lasting) = &self.lasting
            && !self.visible
            && !mem::replace(&mut self.was_refused, true)
        {
            tracing::debug!(error = %one_line::chain(&refusal), "the provider does not send the rest of an answer");
            lasting.forget(&refusal);
            self.begin_again();
            return self.send();
        }
        self.end(Some(Error::provider(ProviderErrorKind::Interrupted).with_source(refusal)));
    }

    fn begin_again(&mut self) {
        self.events = EventBuf::new();
        self.released = false;
    }

    /// Drops the connection, if there is one, and ends the stream.
    fn end(&mut self, error: Option<Error>) {
        self.failed = error;
        self.state = State::Done;
    }
}

/// Returns the moment `delay` after `start`.
fn after(start: Instant, delay: Duration) -> Instant {
    start.checked_add(delay).unwrap_or_else(|| start + FAR)
}

fn request_error(error: reqwest::Error) -> Error {
    let error = error.without_url();
    let kind = if error.is_builder() {
        return Error::configuration("the provider request is not valid").with_source(error);
    } else if error.is_timeout() {
        ProviderErrorKind::Timeout
    } else if error.is_connect() {
        ProviderErrorKind::Connect
    } else if is_no_http(&error) {
        ProviderErrorKind::Protocol
    } else {
        // The request was sent, or partly sent, and then the connection broke.
        ProviderErrorKind::Interrupted
    };
    Error::provider(kind).with_source(error)
}

/// Returns `true` if the answer was not HTTP: from a port that requires TLS, or from another kind of server.
fn is_no_http(error: &reqwest::Error) -> bool {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
        .any(|error| error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse))
}
