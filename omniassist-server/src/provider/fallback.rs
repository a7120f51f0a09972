//! A chain of providers: if one fails, the next one is called.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use omniassist_core::{LlmEvent, LlmPayload, Text};

use super::{LlmProvider, LlmStream};
use crate::{BoxError, Error, ProviderErrorKind, Result, one_line};

/// The largest number of events that are buffered before one is visible.
const MAX_HELD: usize = 64;

type Predicate = Arc<dyn Fn(&Error) -> bool + Send + Sync>;
type Callback = Arc<dyn Fn(&Switch<'_>) + Send + Sync>;

/// Providers in order of preference. If a provider fails before a visible event of its answer, the next one is called.
///
/// Until the first visible event, the chain buffers the start of an answer, token counts and events of unknown kinds; a
/// failure discards them. After it, a failure ends the stream, and no other provider is called.
///
/// **Usage.** The usage, the cost and the budget of a run lack the tokens that a provider reported before the chain switched,
/// although it may charge for them: the tokens of two models have no common price.
///
/// **Condition.** The chain switches if [`Fallback::is_provider_failure`] is `true`, unless
/// [`switch_when`](Self::switch_when) sets another rule. Each provider performs its own retries first: in a chain,
/// providers with a low `Limits::max_retries` and a short `Limits::first_byte_timeout` switch sooner.
///
/// **Payload.** All providers receive the same payload. A model in the payload goes to every provider, so leave it out
/// if the providers have different model names. Metadata that one provider attached to the conversation is kept.
/// Providers of another API do not send it. One of the same API that refuses it is asked once more without it.
///
/// **Model.** [`LlmEvent::Start`] contains the model; the chain adds it if the provider sends none. If another provider
/// than the first answers, a `tracing` event at level INFO contains its name and model. [`on_switch`](Self::on_switch)
/// is called at every switch. [`name`](LlmProvider::name) lists the whole chain.
///
/// **Failure of all.** The error is that of the last provider. Its [`source`](std::error::Error::source) chain lists
/// the errors of the earlier providers, followed by its own sources.
///
/// Dropping the stream closes the connection to the current provider, and no other one is called.
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

    /// Adds a provider, which is called if all earlier ones have failed.
    #[must_use]
    pub fn or(mut self, next: impl LlmProvider) -> Self {
        if !self.name.is_empty() {
            self.name.push('|');
        }
        self.name.push_str(next.name());
        self.providers.push(Arc::new(next));
        self
    }

    /// Sets the condition for calling the next provider after an error. It is not evaluated after a visible event.
    /// Default: [`Fallback::is_provider_failure`].
    #[must_use]
    pub fn switch_when(mut self, predicate: impl Fn(&Error) -> bool + Send + Sync + 'static) -> Self {
        self.switch_when = Arc::new(predicate);
        self
    }

    /// Sets a callback for each switch, which runs before the next provider is called. It runs while the answer is
    /// polled, so it must not block. Default: a `tracing` event only.
    #[must_use]
    pub fn on_switch(mut self, callback: impl Fn(&Switch<'_>) + Send + Sync + 'static) -> Self {
        self.on_switch = Some(Arc::new(callback));
        self
    }

    /// Returns `true` if an error is a failure of the provider that another provider may not share. Such failures are
    /// an unreachable server, an exceeded deadline, a broken connection, a rate limit or quota, an unavailable
    /// provider, and a 5xx status.
    ///
    /// Returns `false` for a conversation that is too long, for any other 4xx status, and for refused credentials,
    /// because a wrong key must not stay unnoticed.
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
    /// Returns the names in the chain: `openai|anthropic`.
    fn name(&self) -> &str {
        &self.name
    }

    /// Returns the model of the first provider.
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

/// A switch to the next provider after a failure; see [`Fallback::on_switch`].
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

    /// Returns the name of the next provider.
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

/// The answer of the first provider that succeeds.
struct Chain {
    fallback: Fallback,
    payload: LlmPayload,
    at: usize,
    current: Option<LlmStream>,
    held: VecDeque<LlmEvent>,
    /// `true` if events are passed on. Before that they are buffered.
    visible: bool,
    earlier: Vec<(String, Error)>,
    /// The item after the buffered events: an error, or the end of the stream.
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
                // The journal of a run needs a handle long before the first text.
                Some(Ok(event)) if this.visible || matches!(event, LlmEvent::Kept(_)) => {
                    return Poll::Ready(Some(Ok(event)));
                }
                Some(Ok(event)) => this.hold(event),
                Some(Err(error)) => this.fail(error),
                None => this.end(None),
            }
        }
    }
}

impl Chain {
    /// Takes an event before the answer is final.
    fn hold(&mut self, mut event: LlmEvent) {
        let provider = self.fallback.providers.get(self.at);
        if let LlmEvent::Start { model: model @ None, .. } = &mut event {
            *model = self.payload.model.clone().or_else(|| Some(provider?.model()?.to_owned().into()));
        }
        self.visible = event.is_visible() || self.held.len() >= MAX_HELD;
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

    /// Switches to the next provider if that is safe, permitted and possible; otherwise ends with the error.
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

    /// Closes the connection and releases the buffered events.
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

/// The earlier failures, inserted between the last failure and its own source.
#[derive(Debug)]
struct Earlier {
    failures: Vec<(String, Error)>,
    source: Option<BoxError>,
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
