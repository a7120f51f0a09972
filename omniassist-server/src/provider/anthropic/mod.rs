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
mod content;
mod decode;
mod encode;
mod file;
mod messages;
mod metadata;
mod schema;
mod server_tools;
mod thinking;
mod usage;
mod wire;

use bytes::Bytes;
pub use encode::DEFAULT_ANTHROPIC_MAX_TOKENS;
use omniassist_core::{Limits, LlmPayload, Text};

use super::api::{Api, ApiProvider, ApiProviderBuilder};
use super::settings::{Endpoint, KeyHeader, Location, Settings};
use super::{ApiDecoder, WireDecoder};
use crate::Result;

/// The model that [`AnthropicProvider`] asks by default.
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-sonnet-4-6";

/// The version of the API that this provider speaks.
const VERSION: &str = "2023-06-01";

static ANTHROPIC: Location = Location {
    name: "anthropic",
    model: Some(DEFAULT_ANTHROPIC_MODEL),
    base_url: "https://api.anthropic.com",
    base_url_variable: "ANTHROPIC_BASE_URL",
    key_variables: &["ANTHROPIC_API_KEY"],
    key_header: KeyHeader::Named("x-api-key"),
};

/// Anthropic's models over the [Messages API](https://platform.claude.com/docs/en/api/messages).
///
/// Nothing is kept at the provider: the whole conversation goes out with each request. Thinking goes back under its
/// signature, byte for byte; thinking of other providers has none and is left out. What the API runs itself (web
/// search, code, MCP) goes back within a run, as it came, and a turn that it pauses (`pause_turn`) is asked for again.
/// The downside of keeping nothing: code that needs the container of an earlier request does not find it.
///
/// [`ModelOptions`](omniassist_core::ModelOptions) are sent as follows:
///
/// - `max_output_tokens` as `max_tokens`, by default [`DEFAULT_ANTHROPIC_MAX_TOKENS`].
/// - `reasoning_effort` to models since Claude 4.6 as adaptive thinking with that effort (`minimal` as `low`; other
///   words, such as `max`, as they are). Older models get a budget of thinking tokens: 1,024 for `minimal`, 2,048 for
///   `low`, 8,000 for `medium`, 16,000 for `high` and for other words. It is never more than three quarters of
///   `max_output_tokens`. The word `none` turns thinking off. Without an effort nothing about thinking is sent.
/// - Thinking is left out where the API would refuse it: when a tool is forced, and, by budget, when a turn that began
///   without thinking goes on.
/// - `temperature` and `top_p` not with thinking, not to models that refuse them (Claude 4.7 and later), and never
///   both: `temperature` goes first.
/// - `response_schema` as `output_config.format`, which models know since Claude 4.5. What the API does not accept in
///   such a schema (bounds of numbers and lengths, some formats) is left out, and objects are closed.
///
/// A base URL names the host only: `/v1/messages` is appended, as in Anthropic's own SDKs, and a `/v1` at its end is
/// not doubled. The key is sent in `x-api-key`.
pub type AnthropicProvider = ApiProvider<encode::MessagesApi>;

/// Sets up an [`AnthropicProvider`].
pub type AnthropicProviderBuilder = ApiProviderBuilder<encode::MessagesApi>;

impl AnthropicProviderBuilder {
    /// Asks for a beta feature (`anthropic-beta`). May be called more than once. Default: none.
    pub fn beta(mut self, feature: impl Into<String>) -> Self {
        self.api.betas.push(feature.into());
        self
    }

    /// Sets the tokens that one answer may have when a run sets no `max_output_tokens`. Default:
    /// [`DEFAULT_ANTHROPIC_MAX_TOKENS`]; Claude 3 and other vendors' models may allow less.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.api.max_tokens = tokens;
        self
    }

    /// Sets the marks for the provider's cache of five minutes: behind the tools, the system prompt, the conversation
    /// before the last user message and, while tools are called, the conversation so far. Default: `true`. Text read
    /// from the cache costs a tenth; text written to it costs a quarter more.
    pub fn prompt_caching(mut self, mark: bool) -> Self {
        self.api.prompt_caching = mark;
        self
    }

    /// Sets the kind of thinking: `true` when the model decides itself how much to think, as Claude does since 4.6,
    /// `false` for a budget of tokens. Default: by the model's name.
    pub fn adaptive_thinking(mut self, adaptive: bool) -> Self {
        self.api.adaptive_thinking = Some(adaptive);
        self
    }
}

impl Api for encode::MessagesApi {
    const LOCATION: &'static Location = &ANTHROPIC;

    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint> {
        let host = settings.base_url.trim().trim_end_matches('/');
        settings.base_url = host.strip_suffix("/v1").unwrap_or(host).to_owned();
        settings.own_headers.push(("anthropic-version", VERSION.to_owned()));
        if !self.betas.is_empty() {
            settings.own_headers.push(("anthropic-beta", self.betas.join(",")));
        }
        settings.bind("/v1/messages")
    }

    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(self, model, payload)
    }

    fn decoder(&self, _: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder> {
        Box::new(AnthropicDecoder::new(limits))
    }
}

/// Reads the event stream of the Messages API; see [`ApiDecoder`] for an example.
pub type AnthropicDecoder = ApiDecoder<decode::Reader>;

impl AnthropicDecoder {
    /// Creates a decoder for one answer.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self::of(decode::Reader::new(limits), limits)
    }
}
