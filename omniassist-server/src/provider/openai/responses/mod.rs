//! OpenAI's Responses API.
//!
//! Protocol: <https://platform.openai.com/docs/api-reference/responses-streaming>.

mod decode;
mod encode;
mod end;
mod item;
mod wire;

use std::sync::Arc;

use omniassist_core::{Limits, LlmPayload, Text};

use super::OPENAI;
use crate::Result;
use crate::provider::settings::{Endpoint, Settings, common_setters, provider, wire_decoder};
use crate::provider::wire::SseWire;
use crate::provider::{LlmProvider, LlmStream};

/// The model that [`OpenAiProvider`] asks unless told otherwise.
pub const DEFAULT_RESPONSES_MODEL: &str = "gpt-5-mini";

/// OpenAI's models over the [Responses API](https://platform.openai.com/docs/api-reference/responses).
///
/// Nothing is stored at OpenAI (`store: false`): the whole conversation goes out with each request, the model's
/// encrypted reasoning included, so any instance of the host can continue it. For servers that do not know this API,
/// use [`OpenAiChatProvider`](super::OpenAiChatProvider).
///
/// ```
/// use omniassist_server::OpenAiProvider;
///
/// let provider = OpenAiProvider::builder().api_key("sk-…").model("gpt-5").build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Clone)]
pub struct OpenAiProvider {
    name: &'static str,
    endpoint: Endpoint,
    options: encode::Options,
    limits: Arc<Limits>,
}

provider!(OpenAiProvider, OpenAiProviderBuilder, &OPENAI, "DEFAULT_RESPONSES_MODEL");

impl OpenAiProvider {
    /// Sets up a provider step by step.
    pub fn builder() -> OpenAiProviderBuilder {
        OpenAiProviderBuilder {
            settings: Settings::new(&OPENAI),
            encrypted_reasoning: None,
            reasoning_summary: None,
            replay_item_ids: None,
        }
    }
}

impl LlmProvider for OpenAiProvider {
    /// `openai`, or `azure` for a host of Azure's.
    fn name(&self) -> &str {
        self.name
    }

    fn model(&self) -> Option<&str> {
        Some(&self.options.model)
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let limits = Arc::clone(&self.limits);
        self.endpoint.ask(self.request_body(&payload), move || Box::new(ResponsesDecoder::new(&limits)))
    }
}

/// Sets up an [`OpenAiProvider`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiProviderBuilder {
    settings: Settings,
    encrypted_reasoning: Option<bool>,
    reasoning_summary: Option<Text>,
    replay_item_ids: Option<bool>,
}

impl OpenAiProviderBuilder {
    openai_setters!();

    /// Whether to ask for the model's encrypted reasoning, which lets it go on from there after a tool call. Default:
    /// yes, but for OpenAI's models that do not reason, which refuse the request.
    pub fn encrypted_reasoning(mut self, ask: bool) -> Self {
        self.encrypted_reasoning = Some(ask);
        self
    }

    /// Asks for a summary of the reasoning to show (`auto`, `concise`, `detailed`). Default: none. OpenAI gives
    /// summaries of some models to verified organizations only and refuses the request of others.
    pub fn reasoning_summary(mut self, detail: impl Into<Text>) -> Self {
        self.reasoning_summary = Some(detail.into());
        self
    }

    /// Whether items go back under the ids that they came with. Default: yes, but for hosts of Azure, where ids of
    /// items that were not stored are refused. Without ids the encrypted reasoning still goes back.
    pub fn replay_item_ids(mut self, replay: bool) -> Self {
        self.replay_item_ids = Some(replay);
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When the base URL, the key, a header or a root certificate is not usable, or there is no key for a server that is
    /// not on loopback.
    pub fn build(self) -> Result<OpenAiProvider> {
        let azure = self.settings.host().is_some_and(|host| host.ends_with(".azure.com"));
        Ok(OpenAiProvider {
            name: if azure { "azure" } else { "openai" },
            endpoint: self.settings.bind("/responses")?,
            options: encode::Options {
                model: self.settings.model.unwrap_or(Text::from_static(DEFAULT_RESPONSES_MODEL)),
                encrypted_reasoning: self.encrypted_reasoning,
                reasoning_summary: self.reasoning_summary,
                replay_item_ids: self.replay_item_ids.unwrap_or(!azure),
            },
            limits: Arc::new(self.settings.limits),
        })
    }
}

/// Reads the event stream of the Responses API. For those who bring the bytes themselves: a gateway, a test, a
/// benchmark.
///
/// ```
/// use bytes::Bytes;
/// use omniassist_server::core::{EventBuf, Limits, LlmEvent};
/// use omniassist_server::provider::WireDecoder;
/// use omniassist_server::provider::openai::ResponsesDecoder;
///
/// let mut decoder = ResponsesDecoder::new(&Limits::default());
/// let mut events = EventBuf::new();
/// let delta = br#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}"#;
/// decoder.feed(Bytes::from_static(delta), &mut events)?;
/// decoder.feed(Bytes::from_static(b"\n\n"), &mut events)?;
/// assert_eq!(events.pop(), Some(LlmEvent::TextDelta { block: 0, delta: "Hi".into() }));
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[derive(Debug)]
pub struct ResponsesDecoder {
    wire: SseWire<decode::Reader>,
}

impl ResponsesDecoder {
    /// A decoder for one answer.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self { wire: SseWire::new(decode::Reader::new(limits), limits) }
    }
}

wire_decoder!(ResponsesDecoder);
