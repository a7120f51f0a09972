//! Anthropic, and every server that speaks its Messages API.
//!
//! [`AnthropicProvider`] is a request encoder, a pooled transport and a decoder without I/O, which is public too
//! ([`AnthropicDecoder`]). Protocol: <https://platform.claude.com/docs/en/build-with-claude/streaming>.
//!
//! ```
//! use omniassist_server::AnthropicProvider;
//! use omniassist_server::core::{LlmPayload, TranscriptItem};
//!
//! let anthropic = AnthropicProvider::new("sk-ant-…")?;
//!
//! let payload = LlmPayload::new([TranscriptItem::user("Hello")]);
//! assert!(anthropic.request_body(&payload)?.starts_with(br#"{"model":"claude-sonnet-4-6""#));
//! # Ok::<(), omniassist_server::Error>(())
//! ```

mod block;
mod decode;
mod encode;
mod file;
mod messages;
mod metadata;
mod ran;
mod schema;
mod thinking;
mod usage;
mod wire;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use omniassist_core::{EventBuf, Limits, LlmEvent, LlmPayload, Text};

use super::settings::{Api, Endpoint, KeyHeader, Settings, common_setters};
use super::wire::SseWire;
use crate::Result;
use crate::provider::{LlmProvider, LlmStream, WireDecoder};

/// The model that [`AnthropicProvider`] asks unless told otherwise.
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-sonnet-4-6";

/// The tokens that one answer may have unless told otherwise; with thinking by budget, the budget comes on top. The API
/// wants a number in each request. All models since Claude 4 can write this much.
pub const DEFAULT_ANTHROPIC_MAX_TOKENS: u32 = 16_000;

/// The version of the API that this provider speaks.
const VERSION: &str = "2023-06-01";

/// Anthropic's own API, and how it is set up from the environment.
static ANTHROPIC: Api = Api {
    base_url: "https://api.anthropic.com",
    base_url_variable: "ANTHROPIC_BASE_URL",
    key_variable: "ANTHROPIC_API_KEY",
    key_header: KeyHeader::Named("x-api-key"),
};

/// Anthropic's models over the [Messages API](https://platform.claude.com/docs/en/api/messages).
///
/// Nothing is kept at the provider: the whole conversation goes out with each request. Thinking goes back under its
/// signature, byte for byte; thinking of other providers has none and is left out. What the API runs itself (web search,
/// code, MCP) goes back within a run, as it came, and a turn that it pauses (`pause_turn`) is asked for again. The
/// downside of keeping nothing: code that needs the container of an earlier request does not find it.
///
/// How [`ModelOptions`](omniassist_core::ModelOptions) are sent:
///
/// - `max_output_tokens` as `max_tokens`, by default [`DEFAULT_ANTHROPIC_MAX_TOKENS`].
/// - `reasoning_effort` to models since Claude 4.6 as adaptive thinking with that effort (`minimal` as `low`; other
///   words, such as `max`, as they are), to older models as a budget of thinking tokens: 1,024 for `minimal`, 2,048 for
///   `low`, 8,000 for `medium`, 16,000 for `high` and for other words, but never more than three quarters of
///   `max_output_tokens`. The word `none` turns thinking off. Without an effort nothing about thinking is sent.
/// - Thinking is left out where the API would refuse it: when a tool is forced, and, by budget, when a turn that began
///   without thinking goes on.
/// - `temperature` and `top_p` not with thinking, not to models that refuse them (Claude 4.7 and later), and never
///   both: `temperature` goes first.
/// - `response_schema` as `output_config.format`, which models know since Claude 4.5. What the API does not accept in
///   such a schema (bounds of numbers and lengths, some formats) is left out, and objects are closed.
#[derive(Clone)]
pub struct AnthropicProvider {
    endpoint: Endpoint,
    options: encode::Options,
    limits: Arc<Limits>,
}

impl AnthropicProvider {
    /// Anthropic's API with this key and the [default model](DEFAULT_ANTHROPIC_MODEL).
    ///
    /// # Errors
    ///
    /// When the key is empty or cannot stand in a header.
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// A provider set up by `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL` (the host only: `/v1/messages` is appended) and
    /// `OMNIASSIST_MODEL`. Those that are unset or empty keep their defaults; a loopback base URL needs no key.
    ///
    /// # Errors
    ///
    /// When the key is missing, or a value is not usable.
    pub fn from_env() -> Result<Self> {
        let settings = Settings::from_vars(&ANTHROPIC, |name| std::env::var(name).ok());
        AnthropicProviderBuilder { settings, ..Self::builder() }.build()
    }

    /// Sets up a provider step by step.
    pub fn builder() -> AnthropicProviderBuilder {
        AnthropicProviderBuilder {
            settings: Settings::new(&ANTHROPIC),
            betas: Vec::new(),
            max_tokens: DEFAULT_ANTHROPIC_MAX_TOKENS,
            prompt_caching: true,
            adaptive_thinking: None,
        }
    }

    /// The body of the request that [`stream`](LlmProvider::stream) would send: for tests and for finding faults. The
    /// same payload gives the same bytes.
    ///
    /// # Errors
    ///
    /// When the payload has no JSON form.
    pub fn request_body(&self, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(payload, &self.options)
    }
}

impl LlmProvider for AnthropicProvider {
    fn name(&self) -> &str {
        "anthropic"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.options.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        match self.request_body(&payload) {
            Ok(body) => {
                let limits = Arc::clone(&self.limits);
                self.endpoint.send(body, move || Box::new(AnthropicDecoder::new(&limits)))
            }
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl fmt::Debug for AnthropicProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnthropicProvider")
            .field("endpoint", &self.endpoint)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Sets up an [`AnthropicProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct AnthropicProviderBuilder {
    settings: Settings,
    betas: Vec<String>,
    max_tokens: u32,
    prompt_caching: bool,
    adaptive_thinking: Option<bool>,
}

impl AnthropicProviderBuilder {
    common_setters! {
        key: "`x-api-key`",
        base_url: "The host only: `/v1/messages` is appended, as in Anthropic's own SDKs; a `/v1` at its end is not \
                   doubled. Default: `https://api.anthropic.com`.",
    }

    /// Asks for a beta feature (`anthropic-beta`), which may be called more than once. Default: none.
    pub fn beta(mut self, feature: impl Into<String>) -> Self {
        self.betas.push(feature.into());
        self
    }

    /// The tokens that one answer may have where a run sets no `max_output_tokens`. Default:
    /// [`DEFAULT_ANTHROPIC_MAX_TOKENS`]; Claude 3 and other vendors' models may allow less.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Whether to mark the parts of a request that later ones begin with, so that the provider caches them for five
    /// minutes: the tools, the system prompt, the conversation before the last user message and, while tools are
    /// called, the conversation so far. Default: yes. Text read from the cache costs a tenth, text written to it a
    /// quarter more.
    pub fn prompt_caching(mut self, mark: bool) -> Self {
        self.prompt_caching = mark;
        self
    }

    /// Whether the model decides itself how much to think, as Claude does since 4.6, or is given a budget. Default: by
    /// the model's name.
    pub fn adaptive_thinking(mut self, adaptive: bool) -> Self {
        self.adaptive_thinking = Some(adaptive);
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When the base URL, the key, a header or a root certificate is not usable, or there is no key for a server that is
    /// not on loopback.
    pub fn build(mut self) -> Result<AnthropicProvider> {
        let host = self.settings.base_url.trim().trim_end_matches('/');
        self.settings.base_url = host.strip_suffix("/v1").unwrap_or(host).to_owned();
        self.settings.own_headers.push(("anthropic-version", VERSION.to_owned()));
        if !self.betas.is_empty() {
            self.settings.own_headers.push(("anthropic-beta", self.betas.join(",")));
        }
        Ok(AnthropicProvider {
            endpoint: self.settings.bind("/v1/messages")?,
            options: encode::Options {
                model: self.settings.model.unwrap_or(Text::from_static(DEFAULT_ANTHROPIC_MODEL)),
                max_tokens: self.max_tokens,
                prompt_caching: self.prompt_caching,
                adaptive_thinking: self.adaptive_thinking,
            },
            limits: Arc::new(self.settings.limits),
        })
    }
}

/// Reads the event stream of the Messages API. For those who bring the bytes themselves: a gateway, a test, a
/// benchmark.
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::anthropic::AnthropicDecoder;
///
/// let mut decoder = AnthropicDecoder::new(&Limits::default());
/// let mut events = EventBuf::new();
/// for data in [
///     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
///     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
/// ] {
///     decoder.feed(Bytes::from(format!("data: {data}\n\n")), &mut events)?;
/// }
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug)]
pub struct AnthropicDecoder {
    wire: SseWire<decode::Reader>,
}

impl AnthropicDecoder {
    /// A decoder for one answer.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self { wire: SseWire::new(decode::Reader::new(limits), limits) }
    }
}

impl WireDecoder for AnthropicDecoder {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.feed(chunk, events)
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.finish(events)
    }
}
