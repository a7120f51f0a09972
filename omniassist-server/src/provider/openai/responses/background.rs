//! Background responses: answers that the API goes on with when the connection to it is lost.
//!
//! Protocol: <https://platform.openai.com/docs/guides/background>.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use http::Method;
use omniassist_core::{AnswerHandle, EventBuf, KeptAnswer, Limits, LlmEvent, Text};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::decode::Reader;
use super::wire::{Numbered, Response};
use crate::provider::api::Asked;
use crate::provider::settings::Endpoint;
use crate::provider::wire::EventReader;
use crate::provider::{ApiDecoder, LlmStream, WireDecoder};
use crate::sync::lock;
use crate::transport::{Lasting, ProviderRequest};
use crate::{Error, ProviderErrorKind, Result, one_line};

/// The time that a cancellation may take. It includes the wait for the id of a response that has none yet.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest id that becomes part of a URL.
const MAX_ID: usize = 256;

/// The characters of an id that are encoded in a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Sends a request for a background response, or fetches the one that the payload names. `include` has the fields of the
/// response that the request asks for.
pub(super) fn send(endpoint: &Endpoint, asked: Asked, include: Option<&'static str>) -> LlmStream {
    let Asked { url, body, payload, limits } = asked;
    let keeper = Text::from(format!("{url} {}", payload.model.as_deref().unwrap_or_default()));
    let fetch = payload.kept.as_ref().and_then(|kept| kept.fetch.as_ref());
    let running =
        fetch.filter(|handle| handle.keeper == keeper).and_then(|handle| url_of(endpoint, &handle.id));
    let background = Arc::new(Background {
        endpoint: endpoint.clone(),
        include,
        keeper,
        limits,
        kept: payload.kept,
        state: Mutex::new(State { running, ..State::default() }),
    });
    let shared = Arc::clone(&background);
    let lasting = Arc::clone(&background) as Arc<dyn Lasting>;
    let events = endpoint.send_lasting(url, body, move || shared.decoder(), Some(lasting));
    Box::pin(BackgroundStream { events: Some(events), background, runtime: None })
}

/// Returns the URL of a response, or `None` for an id that a URL cannot contain.
fn url_of(endpoint: &Endpoint, id: &str) -> Option<Url> {
    // A segment of dots alone would be removed from the path, also if it is encoded.
    if id.len() > MAX_ID || id.trim_matches('.').is_empty() {
        return None;
    }
    endpoint.url(&format!("/{}", utf8_percent_encode(id, ENCODED))).ok()
}

/// One background response, over all of its connections.
struct Background {
    endpoint: Endpoint,
    include: Option<&'static str>,
    keeper: Text,
    limits: Arc<Limits>,
    kept: Option<KeptAnswer>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reader: Reader,
    /// The URL of the response, from its first event to its last.
    running: Option<Url>,
    /// The number of the last event that was read.
    last: Option<u64>,
    /// `true` if the handle was sent.
    is_announced: bool,
    is_over: bool,
    /// `true` if nobody reads the events.
    is_abandoned: bool,
}

impl Background {
    /// Returns a decoder of the next connection. It continues the events of a response that is running.
    fn decoder(self: &Arc<Self>) -> Box<dyn WireDecoder> {
        let mut state = lock(&self.state);
        if state.last.is_none() || state.running.is_none() {
            let (running, is_abandoned) = (state.running.take(), state.is_abandoned);
            *state = State { reader: Reader::new(&self.limits), running, is_abandoned, ..State::default() };
        }
        Box::new(ApiDecoder::of(Events(Arc::clone(self)), &self.limits))
    }

    /// Takes note of a response that begins. One that the API runs in the foreground ends with its connection.
    fn begin(&self, response: &Response<'_>, state: &mut State, out: &mut EventBuf<LlmEvent>) {
        let id = response.id.as_str();
        if state.is_announced || response.background == Some(false) {
            return;
        }
        if state.running.is_none() {
            state.running = url_of(&self.endpoint, id);
        }
        if state.running.is_some() {
            state.is_announced = true;
            out.push(LlmEvent::Kept(AnswerHandle::new(self.keeper.clone(), id)));
        }
    }

    fn is_left(&self) -> bool {
        self.kept.as_ref().is_some_and(KeptAnswer::is_left)
    }

    /// Cancels the response. `events` are those of a response whose id is not known yet.
    async fn cancel(self: Arc<Self>, events: Option<LlmStream>) -> Result<()> {
        if let Some(mut events) = events {
            while lock(&self.state).running.is_none() && events.next().await.is_some() {}
        }
        let running = lock(&self.state).running.take();
        match running {
            Some(url) if !self.is_left() => cancel(self.endpoint.clone(), url).await,
            _ => Ok(()),
        }
    }
}

async fn cancel(endpoint: Endpoint, mut url: Url) -> Result<()> {
    url.set_path(&format!("{}/cancel", url.path()));
    let endpoint = endpoint.for_documents(&[])?;
    let mut answer = endpoint.send(url, Bytes::new(), || Box::new(Unread));
    match answer.next().await {
        Some(Err(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Starts a cancellation that nobody waits for.
fn detach(runtime: &Handle, cancelling: impl Future<Output = Result<()>> + Send + 'static) {
    runtime.spawn(async move {
        let error = match timeout(CANCEL_TIMEOUT, cancelling).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => Error::provider(ProviderErrorKind::Timeout),
        };
        let error = one_line::chain(&error);
        tracing::warn!(%error, "a background response was not cancelled, and may run to its end");
    });
}

impl Lasting for Background {
    fn position(&self) -> Option<u64> {
        let state = lock(&self.state);
        match (&state.running, state.last) {
            (None, _) => None,
            (Some(_), Some(last)) => Some(last.saturating_add(1)),
            // The events of a server that does not number them cannot be continued.
            (Some(_), None) => (!state.is_announced).then_some(0),
        }
    }

    fn next(&self, first: &ProviderRequest) -> Option<ProviderRequest> {
        let state = lock(&self.state);
        if state.is_abandoned {
            return None;
        }
        let Some(mut url) = state.running.clone() else { return Some(first.clone()) };
        url.query_pairs_mut()
            .append_pair("stream", "true")
            .extend_pairs(state.last.map(|last| ("starting_after", last.to_string())))
            .extend_pairs(self.include.map(|field| ("include[]", field)));
        Some(ProviderRequest { method: Method::GET, url, body: Bytes::new(), ..first.clone() })
    }

    fn forget(&self, refusal: &Error) {
        let running = lock(&self.state).running.take();
        // A response that is too old to be streamed may still be running.
        if let (Some(url), Ok(runtime)) = (running, Handle::try_current())
            && refusal.status() != Some(404)
        {
            detach(&runtime, cancel(self.endpoint.clone(), url));
        }
    }
}

/// The events of a response. Dropping the stream cancels the response, unless it is left to another process.
struct BackgroundStream {
    /// `None` after their end.
    events: Option<LlmStream>,
    background: Arc<Background>,
    /// The runtime of the first poll, with which the request was sent.
    runtime: Option<Handle>,
}

impl Stream for BackgroundStream {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.runtime.is_none() {
            self.runtime = Handle::try_current().ok();
        }
        let Some(events) = &mut self.events else { return Poll::Ready(None) };
        let polled = events.as_mut().poll_next(cx);
        if matches!(polled, Poll::Ready(None)) {
            self.events = None;
        }
        polled
    }
}

impl Drop for BackgroundStream {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let mut events = self.events.take();
        {
            let mut state = lock(&self.background.state);
            state.is_abandoned = true;
            if state.running.is_some() {
                events = None;
            } else if events.is_none() || state.is_over {
                return;
            }
        }
        if !self.background.is_left() {
            detach(&runtime, Arc::clone(&self.background).cancel(events));
        }
    }
}

/// Reads the events of one connection.
struct Events(Arc<Background>);

impl EventReader for Events {
    fn event(&mut self, name: &str, data: &Text, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        // The reader reports what is not JSON.
        let Numbered { kind, sequence_number, response } = serde_json::from_str(data).unwrap_or_default();
        let kind = kind.non_empty().unwrap_or(name);
        let mut state = lock(&self.0.state);
        if sequence_number.0.is_some() && sequence_number.0 <= state.last {
            return Ok(());
        }
        state.last = sequence_number.0.or(state.last);
        if matches!(
            kind,
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" | "error"
        ) {
            (state.running, state.is_over) = (None, true);
        }
        if kind == "response.cancelled" {
            return Err(Error::provider(ProviderErrorKind::Interrupted).with_code("cancelled"));
        }
        state.reader.event(name, data, out)?;
        if let (false, Some(response)) = (state.is_over, response)
            && let Ok(response) = serde_json::from_str::<Response<'_>>(response.get())
        {
            self.0.begin(&response, &mut state, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut EventBuf<LlmEvent>) -> Result<()> {
        lock(&self.0.state).reader.end(out)
    }

    fn is_complete(&self) -> bool {
        lock(&self.0.state).reader.is_complete()
    }
}

/// The decoder of an answer that is not used.
struct Unread;

impl WireDecoder for Unread {
    fn feed(&mut self, _: Bytes, _: &mut EventBuf<LlmEvent>) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &mut EventBuf<LlmEvent>) -> Result<()> {
        Ok(())
    }
}
