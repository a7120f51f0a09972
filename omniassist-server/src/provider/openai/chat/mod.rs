//! Chat Completions, as OpenAI and the servers that imitate it speak it.
//!
//! Protocol: <https://platform.openai.com/docs/api-reference/chat-streaming>.

mod calls;
mod compat;
mod constrained;
mod decode;
mod details;
mod encode;
mod ids;
mod schema;
mod wire;

pub use compat::Vendor;
use std::sync::Arc;

use compat::{PLAIN, Replay};
pub use constrained::ConstrainedDecoder;
use omniassist_core::{Limits, LlmPayload, Text};
use uuid::Uuid;

use super::OPENAI;
use crate::provider::settings::{Endpoint, Settings, common_setters, provider, wire_decoder};
use crate::provider::wire::SseWire;
use crate::provider::{LlmProvider, LlmStream};
use crate::{Error, Result};

/// The model that [`OpenAiChatProvider`] asks OpenAI, or a server of no known [`Vendor`], for unless told otherwise: one
/// that does not reason, since this API has no way to send reasoning back.
pub const DEFAULT_CHAT_MODEL: &str = "gpt-4.1-mini";

/// Any server that speaks [Chat Completions](https://platform.openai.com/docs/api-reference/chat): Ollama, LM Studio,
/// llama.cpp, vLLM, OpenRouter, Groq, Mistral, DeepSeek, Azure, and OpenAI itself.
///
/// One driver serves them all and puts up with what they do differently; a [`Vendor`] is recognised by its base
/// URL. For OpenAI's own models prefer [`OpenAiProvider`](super::OpenAiProvider), which keeps their reasoning across tool
/// calls.
///
/// ```
/// use omniassist_server::OpenAiChatProvider;
///
/// let provider =
///     OpenAiChatProvider::builder().base_url("http://127.0.0.1:11434/v1").model("qwen3").build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenAiChatProvider {
    name: &'static str,
    endpoint: Endpoint,
    options: encode::Options,
    limits: Arc<Limits>,
}

provider!(OpenAiChatProvider, OpenAiChatProviderBuilder, &OPENAI, "DEFAULT_CHAT_MODEL");

impl OpenAiChatProvider {
    /// A provider of this vendor, set up by the vendor's own variables (`GROQ_API_KEY`, `GROQ_BASE_URL`) and
    /// `OMNIASSIST_MODEL`.
    ///
    /// # Errors
    ///
    /// As [`from_env`](Self::from_env), and when `OMNIASSIST_MODEL` is unset: no vendor but OpenAI has a default model.
    pub fn vendor_from_env(vendor: Vendor) -> Result<Self> {
        let settings = Settings::from_vars(vendor.api(), |name| std::env::var(name).ok());
        OpenAiChatProviderBuilder { settings, vendor: Some(vendor), ..Self::builder() }.build()
    }

    /// Sets up a provider step by step.
    pub fn builder() -> OpenAiChatProviderBuilder {
        OpenAiChatProviderBuilder {
            settings: Settings::new(&OPENAI),
            vendor: None,
            api_version: None,
            max_completion_tokens: None,
            include_usage: None,
            replay_reasoning: None,
            constrained_tools: false,
        }
    }
}

impl LlmProvider for OpenAiChatProvider {
    /// `openai-chat`, or the name of the [`Vendor`] where it is another one.
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> Option<&str> {
        Some(&self.options.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let limits = Arc::clone(&self.limits);
        let constrained = self.options.constrained_tools;
        self.endpoint.ask(self.request_body(&payload), move || {
            let mint = Uuid::now_v7().simple().to_string();
            if constrained && constrained::applies(&payload) {
                Box::new(ConstrainedDecoder::new(&limits, mint, &payload))
            } else {
                let tools = payload.tools.iter().map(|tool| tool.name.clone());
                Box::new(ChatDecoder::new(&limits, mint).tools(tools))
            }
        })
    }
}

/// Sets up an [`OpenAiChatProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiChatProviderBuilder {
    settings: Settings,
    vendor: Option<Vendor>,
    api_version: Option<String>,
    max_completion_tokens: Option<bool>,
    include_usage: Option<bool>,
    replay_reasoning: Option<bool>,
    constrained_tools: bool,
}

impl OpenAiChatProviderBuilder {
    openai_setters!();

    /// Speaks to this vendor: sets its base URL and the form of its requests. A base URL set after this is kept; the
    /// key is not read from the environment, for which see
    /// [`vendor_from_env`](OpenAiChatProvider::vendor_from_env). But for OpenAI a [`model`](Self::model) must be named.
    /// Default: the vendor that the base URL belongs to, or none in particular.
    pub fn vendor(mut self, vendor: Vendor) -> Self {
        self.vendor = Some(vendor);
        self.settings.api = vendor.api();
        self.settings.base_url = vendor.api().base_url.to_owned();
        self
    }

    /// The date of the API, sent as `api-version` in the query: what Azure wants where the base URL names a deployment
    /// (`https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT`). Default: none.
    pub fn api_version(mut self, date: impl Into<String>) -> Self {
        self.api_version = Some(date.into());
        self
    }

    /// Whether the cap of an answer is sent as `max_completion_tokens`, OpenAI's newer name, or as `max_tokens`.
    /// Default: by the [`Vendor`]; the older one, which more servers know, where there is none.
    pub fn max_completion_tokens(mut self, newer: bool) -> Self {
        self.max_completion_tokens = Some(newer);
        self
    }

    /// Whether to ask for token counts (`stream_options`). Default: yes, unless the [`Vendor`] refuses the field, as a
    /// few old servers do, too.
    pub fn include_usage(mut self, ask: bool) -> Self {
        self.include_usage = Some(ask);
        self
    }

    /// Whether reasoning goes back to the server, as `reasoning_content` where the [`Vendor`] wants no other form.
    /// Default: by the vendor; otherwise no, because many servers refuse the field.
    pub fn replay_reasoning(mut self, replay: bool) -> Self {
        self.replay_reasoning = Some(replay);
        self
    }

    /// Asks for tool calls by a JSON schema (`response_format`) in place of `tools`. Default: no.
    ///
    /// For models whose chat template has no place for tools: their server drops `tools` without a word, but holds an
    /// answer to a schema (llama.cpp, vLLM, LM Studio, Ollama). The tools are described in the system prompt, their
    /// [examples](omniassist_core::ToolSpec::examples) become turns before the conversation, and the model answers
    /// with one call or with words. Give each tool examples: a small model needs them more than anything else. At most
    /// one call comes in a turn. Where a run offers no tools, nothing changes.
    pub fn constrained_tools(mut self, constrained: bool) -> Self {
        self.constrained_tools = constrained;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When the base URL, the key, a header or a root certificate is not usable, or there is no key for a server that is
    /// not on loopback; when no model is named for a vendor without a default one.
    pub fn build(mut self) -> Result<OpenAiChatProvider> {
        let vendor = self.vendor.or_else(|| Vendor::of_base_url(&self.settings.base_url));
        let model = self.settings.model.take().or_else(|| match vendor {
            Some(vendor) => vendor.default_model(&self.settings.base_url),
            None => Some(Text::from_static(DEFAULT_CHAT_MODEL)),
        });
        let mut quirks = vendor.map_or(PLAIN, Vendor::quirks);
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
        if let Some(vendor) = vendor {
            self.settings.key_header = vendor.api().key_header;
        }
        let query = match &self.api_version {
            Some(date) if date.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)) => {
                format!("?api-version={date}")
            }
            Some(_) => return Err(Error::configuration("`api_version` is not a version")),
            None => String::new(),
        };
        let endpoint = self.settings.bind(&format!("/chat/completions{query}"))?;
        let Some(model) = model else {
            let vendor = vendor.map_or("the server", Vendor::name);
            let what =
                format!("no model: {vendor} has no default one; call `model`, or set OMNIASSIST_MODEL");
            return Err(Error::configuration(what));
        };
        Ok(OpenAiChatProvider {
            name: vendor.filter(|vendor| *vendor != Vendor::OPENAI).map_or("openai-chat", Vendor::name),
            endpoint,
            options: encode::Options {
                model,
                quirks,
                constrained_tools: self.constrained_tools,
                max_inlined_schema_bytes: self.settings.limits.max_inlined_schema_bytes,
            },
            limits: Arc::new(self.settings.limits),
        })
    }
}

/// Reads the event stream of Chat Completions. For those who bring the bytes themselves: a gateway, a test, a
/// benchmark.
///
/// Of several choices (`n` above 1) only the first is read.
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::openai::ChatDecoder;
///
/// let mut decoder = ChatDecoder::new(&Limits::default(), "a1");
/// let mut events = EventBuf::new();
/// decoder.feed(Bytes::from_static(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"), &mut events)?;
/// assert!(matches!(events.pop(), Some(LlmEvent::Start { .. })));
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug)]
pub struct ChatDecoder {
    wire: SseWire<decode::Reader>,
}

impl ChatDecoder {
    /// A decoder for one answer. `mint` goes into the ids of tool calls that the server gives none: it must differ
    /// from answer to answer, because call ids are unique within a conversation.
    #[must_use]
    pub fn new(limits: &Limits, mint: impl Into<String>) -> Self {
        Self { wire: SseWire::new(decode::Reader::new(limits, mint.into()), limits) }
    }

    /// The tools that the request offered. With them, a name that comes in pieces is put together before the call is
    /// announced; without, the first piece is taken for the name.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        self.wire.reader_mut().offer(names.into_iter().collect());
        self
    }
}

wire_decoder!(ChatDecoder);
