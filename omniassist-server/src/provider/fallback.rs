//! A chain of providers: when one cannot answer, the next is asked.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use omniassist_core::{LlmEvent, LlmPayload, Text};

use super::{LlmProvider, LlmStream};
use crate::{Error, ProviderErrorKind, Result, one_line};

/// Events that are held back until one is visible.
const MAX_HELD: usize = 64;

type Predicate = Arc<dyn Fn(&Error) -> bool + Send + Sync>;
type Callback = Arc<dyn Fn(&Switch<'_>) + Send + Sync>;

/// Providers in order of preference. The next one is asked when the one before fails and nothing of its answer was
/// shown yet.
///
/// Until the first visible event, the start of an answer, token counts and events of unknown kinds are held back; a
/// provider that fails takes them with it. After that the answer belongs to its provider: a failure ends the stream,
/// and no other provider is asked.
///
/// **When it switches.** If [`Fallback::is_provider_failure`] is `true`, unless [`switch_when`](Self::switch_when)
/// sets another rule. Each provider makes its own repeats first: in a chain, providers with a low
/// `Limits::max_retries` and a short `Limits::first_byte_timeout` switch sooner.
///
/// **The payload** is the same for all. A model that the payload names goes to every provider in the chain, so leave it
/// out if the providers do not share one name. State that one provider attached to the conversation
/// stays in it, and the others leave it out of their requests.
///
/// **The model.** [`LlmEvent::Start`] names the model (the chain fills it in where the provider does not say), a
/// `tracing` event at level INFO names provider and model when another than the first answers, and
/// [`on_switch`](Self::on_switch) is called at every switch. [`name`](LlmProvider::name) lists the whole chain.
///
/// **When all fail,** the error is that of the provider that was asked last. Its
/// [`source`](std::error::Error::source) tells of those before it and goes on to its own source.
///
/// Dropping the stream closes the connection to the provider that is being asked; no further one is asked.
///
/// ```
/// use futures_util::StreamExt;
/// use omniassist_server::core::{LlmEvent, LlmPayload, TranscriptItem};
/// use omniassist_server::provider::{Fallback, LlmProvider};
/// use omniassist_server::testing::{ScriptedProvider, Turn};
/// use omniassist_server::{Error, ProviderErrorKind};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let down = ScriptedProvider::new().turn(Turn::error(Error::provider(ProviderErrorKind::Unavailable)));
/// let up = ScriptedProvider::new().with_model("spare").turn("Hello.");
/// let provider = Fallback::new(down).or(up).on_switch(|switch| println!("{} failed", switch.from()));
///
/// let payload = LlmPayload::new([TranscriptItem::user("Hello?")]);
/// let events: Vec<_> = provider.stream(payload).collect().await;
/// assert!(matches!(&events[0], Ok(LlmEvent::Start { model: Some(model), .. }) if model == "spare"));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Fallback {
    providers: Vec<Arc<dyn LlmProvider>>,
    name: String,
    switch_when: Predicate,
    on_switch: Option<Callback>,
}

impl Fallback {
    /// Creates a chain of one provider.
    #[must_use]
    pub fn new(primary: impl LlmProvider) -> Self {
        Self {
            providers: Vec::new(),
            name: String::new(),
            switch_when: Arc::new(Self::is_provider_failure),
            on_switch: None,
        }
        .or(primary)
    }

    /// Adds the provider that is asked when all before have failed.
    #[must_use]
    pub fn or(mut self, next: impl LlmProvider) -> Self {
        if !self.name.is_empty() {
            self.name.push('|');
        }
        self.name.push_str(next.name());
        self.providers.push(Arc::new(next));
        self
    }

    /// Decides after which errors the next provider is asked. It is never consulted once something was shown. Default:
    /// [`Fallback::is_provider_failure`].
    #[must_use]
    pub fn switch_when(mut self, predicate: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        self.switch_when = Arc::new(predicate);
        self
    }

    /// Calls back on each switch, before the next provider is asked. The callback runs while the answer is being
    /// polled, so it must not block. Default: nothing but a `tracing` event.
    #[must_use]
    pub fn on_switch(mut self, callback: impl Fn(&Switch<'_>) + Send + Sync + 'static) -> Self {
        self.on_switch = Some(Arc::new(callback));
        self
    }

    /// Returns `true` if an error is a failure of the provider, which another provider does not share. Such failures are
    /// no connection, a deadline that passed, a connection that broke, a rate limit or quota, a provider that is not
    /// available, and a 5xx status.
    ///
    /// Not a conversation that is too long, not any other 4xx status of the request itself, and not refused
    /// credentials: a wrong key must be noticed.
    #[must_use]
    pub fn is_provider_failure(error: &Error) -> bool {
        use ProviderErrorKind::{Connect, Interrupted, RateLimited, Response, Timeout, Unavailable};
        match error.provider_kind() {
            Some(Connect | Timeout | Interrupted | RateLimited | Unavailable) => true,
            Some(Response) => error.status().is_some_and(|status| status >= 500),
            _ => false,
        }
    }
}

impl LlmProvider for Fallback {
    /// The names in the chain: `openai|anthropic`.
    fn name(&self) -> &str {
        &self.name
    }

    /// The model of the provider that is asked first.
    fn model(&self) -> Option<&str> {
        self.providers.first()?.model()
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        Box::pin(Chain {
            fallback: self.clone(),
            payload,
            at: 0,
            current: None,
            held: VecDeque::new(),
            visible: false,
            earlier: Vec::new(),
            last: None,
        })
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").field("providers", &self.name).finish_non_exhaustive()
    }
}

/// A provider has failed and the next one is asked; see [`Fallback::on_switch`].
#[derive(Debug)]
pub struct Switch<'a> {
    from: &'a str,
    to: &'a str,
    error: &'a Error,
}

impl Switch<'_> {
    /// Returns the name of the provider that failed.
    #[must_use]
    pub fn from(&self) -> &str {
        self.from
    }

    /// Returns the name of the provider that is asked now.
    #[must_use]
    pub fn to(&self) -> &str {
        self.to
    }

    /// Returns the error of the provider that failed.
    #[must_use]
    pub fn error(&self) -> &Error {
        self.error
    }
}

/// The answer of the first provider that can give one.
struct Chain {
    fallback: Fallback,
    payload: LlmPayload,
    at: usize,
    current: Option<LlmStream>,
    held: VecDeque<LlmEvent>,
    /// `true` if the consumer is given events. Until then they are held back.
    visible: bool,
    earlier: Vec<(String, Error)>,
    /// The end of the stream after the held events: an error, or nothing.
    last: Option<Option<Error>>,
}

impl Stream for Chain {
    type Item = Result<LlmEvent>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if this.visible
                && let Some(event) = this.held.pop_front()
            {
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(last) = &mut this.last {
                return Poll::Ready(last.take().map(Err));
            }
            let Some(provider) = this.fallback.providers.get(this.at) else { return Poll::Ready(None) };
            let current = this.current.get_or_insert_with(|| provider.stream(this.payload.clone()));
            match ready!(current.as_mut().poll_next(cx)) {
                Some(Ok(event)) if this.visible => return Poll::Ready(Some(Ok(event))),
                Some(Ok(event)) => this.hold(event),
                Some(Err(error)) => this.fail(error),
                None => this.end(None),
            }
        }
    }
}

impl Chain {
    /// Takes an event of which it is not yet known whether its answer goes on.
    fn hold(&mut self, mut event: LlmEvent) {
        let provider = self.fallback.providers.get(self.at);
        if let LlmEvent::Start { model: model @ None, .. } = &mut event {
            *model = self.payload.model.clone().or_else(|| Some(provider?.model()?.to_owned().into()));
        }
        let held = matches!(event, LlmEvent::Start { .. } | LlmEvent::Usage(_) | LlmEvent::Unknown { .. });
        self.visible = !held || self.held.len() >= MAX_HELD;
        self.held.push_back(event);
        if self.visible && self.at > 0 {
            let name = provider.map_or("", |provider| provider.name());
            let model = self.held.iter().find_map(|event| match event {
                LlmEvent::Start { model, .. } => model.as_ref().map(Text::as_str),
                _ => None,
            });
            tracing::info!(provider = name, model, "another model provider answers");
        }
    }

    /// Goes on to the next provider if that is safe, wanted and possible; otherwise ends with the error.
    fn fail(&mut self, error: Error) {
        let providers = &self.fallback.providers;
        let switch = match (providers.get(self.at), providers.get(self.at + 1)) {
            (Some(from), Some(to)) if !self.visible && (self.fallback.switch_when)(&error) => {
                Switch { from: from.name(), to: to.name(), error: &error }
            }
            _ => return self.end(Some(error)),
        };
        let shown = one_line::chain(&error);
        tracing::warn!(from = switch.from, to = switch.to, error = %shown, "asking the next model provider");
        if let Some(callback) = &self.fallback.on_switch {
            callback(&switch);
        }
        let from = switch.from.to_owned();
        self.earlier.push((from, error));
        self.held.clear();
        self.current = None;
        self.at += 1;
    }

    /// Closes the connection and gives what was held.
    fn end(&mut self, error: Option<Error>) {
        self.current = None;
        self.visible = true;
        let earlier = std::mem::take(&mut self.earlier);
        self.last = Some(error.map(|error| match earlier.is_empty() {
            true => error,
            false => error.map_source(|source| Box::new(Earlier { failures: earlier, source })),
        }));
    }
}

/// The failures before the one that counts, put between that one and its own source.
#[derive(Debug)]
struct Earlier {
    failures: Vec<(String, Error)>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl fmt::Display for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("providers asked before failed too")?;
        for (at, (name, error)) in self.failures.iter().enumerate() {
            write!(f, "{} {name}: {error}", if at == 0 { ':' } else { ';' })?;
        }
        Ok(())
    }
}

impl StdError for Earlier {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
