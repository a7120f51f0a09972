use std::sync::Arc;

use bytes::Bytes;
use omniassist_core::{Limits, LlmPayload, Text, TranscriptItem};
use uuid::Uuid;

use super::compat::{DEFAULT_CHAT_MODEL, Replay, Vendor};
use super::decoder::ChatDecoder;
use super::encode::{self, ChatApi};
use crate::provider::WireDecoder;
use crate::provider::api::{Api, ApiProvider, ApiProviderBuilder};
use crate::provider::files_api::FilesApi;
use crate::provider::openai::{files_api, metadata, openai};
use crate::provider::settings::{Endpoint, Location, Settings};
use crate::{Error, Result};

/// The name in logs for a vendor without one.
const NAME: &str = "openai-chat";

/// A provider for any server with [Chat Completions](https://platform.openai.com/docs/api-reference/chat): Ollama, LM
/// Studio, llama.cpp, vLLM, OpenRouter, Groq, Mistral, DeepSeek, Azure, and OpenAI itself.
///
/// One driver serves all of them and handles their differences. The base URL determines the [`Vendor`]. For OpenAI's
/// own models prefer [`OpenAiProvider`](crate::provider::OpenAiProvider), which keeps their reasoning across tool
/// calls. Text of an answer that begins with `<think>` is reasoning until `</think>`.
///
/// ```
/// use omniassist_server::OpenAiChatProvider;
///
/// let provider =
///     OpenAiChatProvider::builder().base_url("http://127.0.0.1:11434/v1").model("qwen3").build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
///
/// A base URL includes `/v1`, as in OpenAI's own SDKs. The key is sent as `Authorization: Bearer`, unless the vendor
/// requires another header.
pub type OpenAiChatProvider = ApiProvider<ChatApi>;

/// Configures an [`OpenAiChatProvider`].
pub type OpenAiChatProviderBuilder = ApiProviderBuilder<ChatApi>;

impl OpenAiChatProvider {
    /// Creates a provider of this vendor from the vendor's own environment variables (`GROQ_API_KEY`, `GROQ_BASE_URL`)
    /// and `OMNIASSIST_MODEL`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`from_env`](Self::from_env), and an error if `OMNIASSIST_MODEL` is unset: only OpenAI has
    /// a default model.
    pub fn vendor_from_env(vendor: Vendor) -> Result<Self> {
        let mut builder = OpenAiChatProviderBuilder::from_env(vendor.location());
        builder.api.vendor = Some(vendor);
        builder.build()
    }
}

impl OpenAiChatProviderBuilder {
    /// Sets the vendor, which determines the base URL and the form of requests. A base URL that is set after this is
    /// kept. The key is not read from the environment; [`vendor_from_env`](OpenAiChatProvider::vendor_from_env) reads
    /// it. A [`model`](Self::model) must be set, except for OpenAI. Default: the vendor of the base URL, or none.
    pub fn vendor(mut self, vendor: Vendor) -> Self {
        self.api.vendor = Some(vendor);
        self.settings.location = vendor.location();
        self.settings.base_url = vendor.location().base_url.to_owned();
        self
    }

    /// Sets the date of the API, sent as `api-version` in the query. Azure requires it if the base URL names a
    /// deployment (`https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT`). Default: none.
    pub fn api_version(mut self, date: impl Into<String>) -> Self {
        self.api.api_version = Some(date.into());
        self
    }

    /// Sets the name of the field that limits an answer: `max_completion_tokens`, OpenAI's newer name, or `max_tokens`.
    /// Default: the name that the [`Vendor`] accepts; without a vendor the older name, which more servers accept.
    pub fn max_completion_tokens(mut self, newer: bool) -> Self {
        self.api.max_completion_tokens = Some(newer);
        self
    }

    /// Requests token counts (`stream_options`). Default: `true`, unless the [`Vendor`] refuses the field. A few older
    /// servers refuse it too.
    pub fn include_usage(mut self, ask: bool) -> Self {
        self.api.include_usage = Some(ask);
        self
    }

    /// Sends reasoning back to the server, as `reasoning_content` or in the form that the [`Vendor`] requires. Default:
    /// the vendor's; without a vendor `false`, because many servers refuse the field.
    pub fn replay_reasoning(mut self, replay: bool) -> Self {
        self.api.replay_reasoning = Some(replay);
        self
    }

    /// Requests tool calls by a JSON schema (`response_format`) in place of `tools`. Default: `false`.
    ///
    /// Use it for models whose chat template does not support tools. Their servers ignore `tools`, but can constrain an
    /// answer to a schema (llama.cpp, vLLM, LM Studio, Ollama). The system prompt then describes the tools, and their
    /// [examples](omniassist_core::ToolSpec::examples) become turns before the conversation. The model answers with one
    /// call or with text. Give each tool examples: a small model needs them most. A turn has at most one call. A run
    /// without tools does not change.
    pub fn constrained_tools(mut self, constrained: bool) -> Self {
        self.api.constrained_tools = constrained;
        self
    }
}

impl Api for ChatApi {
    const LOCATION: &'static Location = &openai(NAME, DEFAULT_CHAT_MODEL);

    const FILES: &'static FilesApi = &files_api(&["application/pdf"]);

    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint> {
        let vendor = self.vendor.or_else(|| Vendor::of_base_url(&settings.base_url));
        if let Some(vendor) = vendor {
            self.quirks = vendor.quirks();
            settings.key_header = vendor.location().key_header;
            settings.default_model = vendor.default_model(&settings.base_url);
        }
        settings.name = vendor.filter(|vendor| *vendor != Vendor::OPENAI).map_or(NAME, Vendor::name);
        let quirks = &mut self.quirks;
        match self.max_completion_tokens {
            Some(true) => quirks.max_tokens = "max_completion_tokens",
            Some(false) => quirks.max_tokens = "max_tokens",
            None => {}
        }
        quirks.usage = self.include_usage.unwrap_or(quirks.usage);
        match self.replay_reasoning {
            Some(true) if quirks.replay == Replay::Nothing => quirks.replay = Replay::Text,
            Some(false) => quirks.replay = Replay::Nothing,
            _ => {}
        }
        self.max_inlined_schema_bytes = settings.limits.max_inlined_schema_bytes;
        let query = match &self.api_version {
            Some(date) if date.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)) => {
                format!("?api-version={date}")
            }
            Some(_) => return Err(Error::configuration("`api_version` is not a version")),
            None => String::new(),
        };
        settings.bind(&format!("/chat/completions{query}"))
    }

    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(self, model, payload)
    }

    /// Servers refuse a field that they do not know by its name, and routers pass on what the model's own provider says of a
    /// signature.
    fn without_refused(&self, error: &Error, transcript: &[TranscriptItem]) -> Option<Arc<[TranscriptItem]>> {
        let detail = error.detail()?.replace('`', "").to_ascii_lowercase();
        let refusals = [
            "extra_content",
            "reasoning_details",
            "signature in thinking block",
            "data in redacted_thinking block",
            "encrypted content",
            "thought signature",
        ];
        let names = [metadata::EXTRA_CONTENT, metadata::REASONING_DETAILS];
        let is_refusal = refusals.iter().any(|refusal| detail.contains(refusal));
        is_refusal.then(|| metadata::STATE.without(&names, transcript)).flatten()
    }

    fn decoder(&self, payload: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder> {
        let tools = payload.tools.iter().map(|tool| tool.name.clone());
        let decoder = ChatDecoder::new(limits, Uuid::now_v7().simple().to_string()).tools(tools);
        Box::new(if self.constrained_tools { decoder.constrained(payload) } else { decoder })
    }
}
