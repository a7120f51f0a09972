//! Anthropic, and every server with its Messages API.
//!
//! [`AnthropicProvider`] consists of a request encoder, a pooled transport and a decoder without I/O. The decoder is
//! public ([`AnthropicDecoder`]). Protocol: <https://platform.claude.com/docs/en/build-with-claude/streaming>.
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
mod compacted;
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

use std::sync::Arc;

use bytes::Bytes;
pub use encode::DEFAULT_ANTHROPIC_MAX_TOKENS;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{Limits, LlmPayload, Text, TranscriptItem};

use super::api::{Api, ApiProvider, ApiProviderBuilder};
use super::files_api::{FilesApi, Form, IMAGES_AND_PDF};
use super::settings::{Endpoint, KeyHeader, Location, Settings};
use super::{ApiDecoder, WireDecoder, compaction};
use crate::{Error, Result};

/// The default model of [`AnthropicProvider`].
pub const DEFAULT_ANTHROPIC_MODEL: &str = "claude-sonnet-4-6";

/// The version of the API that this provider uses.
const VERSION: &str = "2023-06-01";

/// The beta feature of requests to and with the files API.
const FILES_BETA: &str = "files-api-2025-04-14";

/// The beta feature of conversations that the API compacts.
const COMPACTION_BETA: &str = "compact-2026-01-12";

/// The least number of tokens at which the API compacts.
const LEAST_COMPACTED: u64 = 50_000;

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
/// The provider stores nothing: each request contains the whole conversation. Thinking is sent back with its signature,
/// byte for byte; thinking of other providers has none and is omitted. If the API refuses a signature, because another
/// model made it, the request is sent once more without thinking. Provider-run tools (web search, code execution, MCP) are
/// sent back unchanged within a run, and a paused turn (`pause_turn`) is requested again. Code cannot use the container of
/// an earlier request, since no request names one.
///
/// [`ModelOptions`](omniassist_core::ModelOptions) are sent as follows:
///
/// - `max_output_tokens` as `max_tokens`, by default [`DEFAULT_ANTHROPIC_MAX_TOKENS`].
/// - `reasoning_effort` is adaptive thinking with that effort for models since Claude 4.6. `minimal` is sent as `low`,
///   and other values, such as `max`, unchanged. Older models get a budget of thinking tokens: 1,024 for `minimal`,
///   2,048 for `low`, 8,000 for `medium`, 16,000 for `high` and for other values, at most three quarters of
///   `max_output_tokens`. `none` turns thinking off. Without an effort the request has no settings for thinking.
/// - Thinking is omitted where the API would refuse it: if a tool is forced, and, with a budget, if the continued turn
///   began without thinking.
/// - `temperature` and `top_p` are omitted with thinking and for models that refuse them (Claude 4.7 and later). If
///   both are set, only `temperature` is sent.
/// - `response_schema` is `output_config.format`, which models support since Claude 4.5. Keywords that the API does not
///   accept in such a schema (limits of numbers and lengths, some formats) are omitted, and objects are closed.
///
/// A base URL contains the host only. `/v1/messages` is appended, as in Anthropic's own SDKs; a `/v1` at the end of the
/// base URL is not repeated. The key is sent in `x-api-key`.
pub type AnthropicProvider = ApiProvider<encode::MessagesApi>;

/// Configures an [`AnthropicProvider`].
pub type AnthropicProviderBuilder = ApiProviderBuilder<encode::MessagesApi>;

impl AnthropicProviderBuilder {
    /// Requests a beta feature (`anthropic-beta`). May be called more than once. Default: none.
    pub fn beta(mut self, feature: impl Into<String>) -> Self {
        self.api.betas.push(feature.into());
        self
    }

    /// Sets the token limit of an answer for runs without `max_output_tokens`. Default:
    /// [`DEFAULT_ANTHROPIC_MAX_TOKENS`]. Claude 3 and other vendors' models may allow less.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.api.max_tokens = tokens;
        self
    }

    /// Sets the marks for the provider's cache of five minutes: after the tools, the system prompt, the conversation
    /// before the last user message and, during tool calls, the conversation so far. Default: `true`. Text from the
    /// cache costs a tenth; text that is written to it costs a quarter more.
    pub fn prompt_caching(mut self, mark: bool) -> Self {
        self.api.prompt_caching = mark;
        self
    }

    /// Lets the API compact a conversation at this number of input tokens, at least 50,000. Default: never.
    ///
    /// The model then writes a summary, which replaces everything before it in this answer and in later requests. The
    /// client carries the summary in the metadata of the answer, under a [seal](crate::seal). If it does
    /// not send it back, the whole conversation is sent and compacted again. Without this setting, summaries of earlier
    /// answers are not sent. Their tokens count in the usage and cost of a run.
    ///
    /// The API has a [list of models](https://platform.claude.com/docs/en/build-with-claude/compaction) that can do
    /// this, since Claude 4.6, and refuses requests to others. A [`History`](crate::History) with a larger number of
    /// tokens bounds conversations whose summary the client lost.
    ///
    /// ```
    /// use omniassist_server::{AnthropicProvider, Assistant, History};
    ///
    /// let claude = AnthropicProvider::builder().api_key("sk-ant-…").compaction(100_000).build()?;
    /// let assistant = Assistant::builder(claude).history(History::fit(180_000)).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn compaction(mut self, tokens: u64) -> Self {
        self.api.compaction = Some(tokens);
        self
    }

    /// Sets the kind of thinking: `true` if the model decides how much it thinks, as Claude does since 4.6, `false` for
    /// a budget of tokens. Default: the model's name decides.
    pub fn adaptive_thinking(mut self, adaptive: bool) -> Self {
        self.api.adaptive_thinking = Some(adaptive);
        self
    }
}

impl Api for encode::MessagesApi {
    const LOCATION: &'static Location = &ANTHROPIC;

    const FILES: &'static FilesApi = &FilesApi {
        path: "/v1/files",
        form: Form::Data(&[]),
        lifetime: None,
        id: "/id",
        media_types: IMAGES_AND_PDF,
    };

    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint> {
        let host = settings.base_url.trim().trim_end_matches('/');
        settings.base_url = host.strip_suffix("/v1").unwrap_or(host).to_owned();
        settings.own_headers.push(("anthropic-version", VERSION.to_owned()));
        compaction::check(self.compaction, LEAST_COMPACTED)?;
        if settings.upload_files_over.is_some() {
            self.betas.push(FILES_BETA.to_owned());
        }
        if self.compaction.is_some() && !self.betas.iter().any(|beta| beta == COMPACTION_BETA) {
            self.betas.push(COMPACTION_BETA.to_owned());
        }
        if !self.betas.is_empty() {
            settings.own_headers.push(("anthropic-beta", self.betas.join(",")));
        }
        settings.bind("/v1/messages")
    }

    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(self, model, payload)
    }

    fn has_compacted(&self, state: &ProviderMetadata) -> bool {
        self.compaction.is_some() && compaction::of(metadata::STATE, Some(state)).is_some()
    }

    fn without_refused(&self, error: &Error, transcript: &[TranscriptItem]) -> Option<Arc<[TranscriptItem]>> {
        let detail = error.detail()?.replace('`', "");
        let refusals = ["Invalid signature in thinking block", "Invalid data in redacted_thinking block"];
        let names = [metadata::SIGNATURE, metadata::REDACTED_DATA];
        let is_refusal = refusals.iter().any(|refusal| detail.contains(refusal));
        is_refusal.then(|| metadata::STATE.without(&names, transcript)).flatten()
    }

    fn decoder(&self, _: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder> {
        Box::new(AnthropicDecoder::new(limits))
    }
}

/// Decodes the event stream of the Messages API; see [`ApiDecoder`] for an example.
pub type AnthropicDecoder = ApiDecoder<decode::Reader>;

impl AnthropicDecoder {
    /// Creates a decoder for one answer.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self::of(decode::Reader::new(limits), limits)
    }
}
