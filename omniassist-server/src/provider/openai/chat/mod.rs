//! Chat Completions, as OpenAI and the servers that imitate it speak it.
//!
//! Protocol: <https://platform.openai.com/docs/api-reference/chat-streaming>.

mod calls;
mod decode;
mod encode;
mod wire;

use std::fmt;

use bytes::Bytes;
use futures_util::stream;
use omniassist_core::{EventBuf, Limits, LlmEvent, LlmPayload, Text};
use uuid::Uuid;

use super::OPENAI;
use crate::Result;
use crate::provider::settings::{Endpoint, Settings, common_setters};
use crate::provider::wire::SseWire;
use crate::provider::{LlmProvider, LlmStream, WireDecoder};

/// The model that [`OpenAiChatProvider`] asks unless told otherwise: one that does not reason, since this API has no
/// way to send reasoning back.
pub const DEFAULT_CHAT_MODEL: &str = "gpt-4.1-mini";

/// Any server that speaks [Chat Completions](https://platform.openai.com/docs/api-reference/chat): Ollama, LM Studio,
/// llama.cpp, vLLM, OpenRouter, and OpenAI itself.
///
/// One driver serves them all and puts up with what they do differently. For OpenAI's own models prefer
/// [`OpenAiProvider`](super::OpenAiProvider), which keeps their reasoning across tool calls.
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
    endpoint: Endpoint,
    options: encode::Options,
    limits: Limits,
}

impl OpenAiChatProvider {
    /// OpenAI's API with this key and the [default model](DEFAULT_CHAT_MODEL).
    ///
    /// # Errors
    ///
    /// When the key is empty or cannot stand in a header.
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// A provider set up by `OPENAI_API_KEY`, `OPENAI_BASE_URL` (ends in `/v1`) and `OMNIASSIST_MODEL`. Those that are
    /// unset or empty keep their defaults; a loopback base URL needs no key.
    ///
    /// # Errors
    ///
    /// When the key is missing, or a value is not usable.
    pub fn from_env() -> Result<Self> {
        let settings = Settings::from_vars(&OPENAI, |name| std::env::var(name).ok());
        OpenAiChatProviderBuilder { settings, ..Self::builder() }.build()
    }

    /// Sets up a provider step by step.
    pub fn builder() -> OpenAiChatProviderBuilder {
        OpenAiChatProviderBuilder {
            settings: Settings::new(&OPENAI),
            max_completion_tokens: None,
            include_usage: true,
            replay_reasoning: false,
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

impl LlmProvider for OpenAiChatProvider {
    fn name(&self) -> &str {
        "openai-chat"
    }

    fn model(&self) -> Option<&str> {
        Some(&self.options.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        match self.request_body(&payload) {
            Ok(body) => {
                let limits = self.limits.clone();
                self.endpoint.send(body, move || {
                    let mint = Uuid::now_v7().simple().to_string();
                    Box::new(ChatDecoder::new(&limits, mint))
                })
            }
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl fmt::Debug for OpenAiChatProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiChatProvider")
            .field("endpoint", &self.endpoint)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Sets up an [`OpenAiChatProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiChatProviderBuilder {
    settings: Settings,
    max_completion_tokens: Option<bool>,
    include_usage: bool,
    replay_reasoning: bool,
}

impl OpenAiChatProviderBuilder {
    openai_setters!();

    /// Whether the cap of an answer is sent as `max_completion_tokens`, OpenAI's newer name, or as `max_tokens`.
    /// Default: the newer one for `api.openai.com`, the older one, which more servers know, for all others.
    pub fn max_completion_tokens(mut self, newer: bool) -> Self {
        self.max_completion_tokens = Some(newer);
        self
    }

    /// Whether to ask for token counts (`stream_options`). Default: yes. A few old servers refuse the field.
    pub fn include_usage(mut self, ask: bool) -> Self {
        self.include_usage = ask;
        self
    }

    /// Whether reasoning goes back to the server as `reasoning_content`. Default: no. Some models want it within a
    /// chain of tool calls (DeepSeek, Kimi); other servers refuse the field.
    pub fn replay_reasoning(mut self, replay: bool) -> Self {
        self.replay_reasoning = replay;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When the base URL, the key or a header is not usable, or there is no key for a server that is not on loopback.
    pub fn build(self) -> Result<OpenAiChatProvider> {
        let newer = self
            .max_completion_tokens
            .unwrap_or_else(|| self.settings.host().is_some_and(|host| host == "api.openai.com"));
        Ok(OpenAiChatProvider {
            endpoint: self.settings.bind("/chat/completions")?,
            options: encode::Options {
                model: self.settings.model.unwrap_or(Text::from_static(DEFAULT_CHAT_MODEL)),
                max_tokens_field: if newer { "max_completion_tokens" } else { "max_tokens" },
                include_usage: self.include_usage,
                replay_reasoning: self.replay_reasoning,
            },
            limits: self.settings.limits,
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
}

impl WireDecoder for ChatDecoder {
    fn feed(&mut self, chunk: Bytes, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.feed(chunk, events)
    }

    fn finish(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<()> {
        self.wire.finish(events)
    }
}
