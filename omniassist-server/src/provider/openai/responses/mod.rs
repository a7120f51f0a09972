//! OpenAI's Responses API.
//!
//! Protocol: <https://platform.openai.com/docs/api-reference/responses-streaming>.

mod background;
mod decode;
mod encode;
mod end;
mod item;
mod wire;

use std::sync::Arc;

use bytes::Bytes;
pub(super) use encode::ResponsesApi;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{Limits, LlmPayload, Text, TranscriptItem};

use super::{files_api, metadata, openai};
use crate::provider::api::{Api, ApiProvider, ApiProviderBuilder, Asked};
use crate::provider::files_api::{FilesApi, IMAGES_AND_PDF};
use crate::provider::settings::{Endpoint, Location, Settings};
use crate::provider::{ApiDecoder, LlmStream, WireDecoder, compaction};
use crate::{Error, Result};

/// The default model of [`OpenAiProvider`].
pub const DEFAULT_RESPONSES_MODEL: &str = "gpt-5-mini";

/// The least number of tokens at which the API compacts.
const LEAST_COMPACTED: u64 = 1_000;

/// OpenAI's models over the [Responses API](https://platform.openai.com/docs/api-reference/responses).
///
/// OpenAI stores nothing (`store: false`), except with [`background`](ApiProviderBuilder::background). Each request contains
/// the whole conversation, with the model's encrypted reasoning, so any instance of the host can continue it. If the API
/// refuses that reasoning, because another account made it, the request is sent once more without it. For servers without
/// this API, use [`OpenAiChatProvider`](super::OpenAiChatProvider).
///
/// ```
/// use omniassist_server::OpenAiProvider;
///
/// let provider = OpenAiProvider::builder().api_key("sk-…").model("gpt-5").build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
///
/// A base URL includes `/v1`, as in OpenAI's own SDKs. The key is sent as `Authorization: Bearer`.
pub type OpenAiProvider = ApiProvider<ResponsesApi>;

/// Configures an [`OpenAiProvider`].
pub type OpenAiProviderBuilder = ApiProviderBuilder<ResponsesApi>;

impl OpenAiProviderBuilder {
    /// Requests the model's encrypted reasoning, with which it continues after a tool call. Default: `true`, except for
    /// OpenAI's models without reasoning, which refuse the request.
    pub fn encrypted_reasoning(mut self, ask: bool) -> Self {
        self.api.encrypted_reasoning = Some(ask);
        self
    }

    /// Requests a summary of the reasoning for display (`auto`, `concise`, `detailed`). Default: none. OpenAI sends
    /// summaries of some models to verified organizations only and refuses the requests of others.
    pub fn reasoning_summary(mut self, detail: impl Into<Text>) -> Self {
        self.api.reasoning_summary = Some(detail.into());
        self
    }

    /// Lets the API compact a conversation at this number of tokens, at least 1,000. Default: never.
    ///
    /// The API then sends a compaction, an encrypted item that replaces everything before it in this answer and in
    /// later requests. The client carries it in the metadata of the answer, under a [seal](crate::seal). If it
    /// does not send it back, the whole conversation is sent and compacted again. Without this setting, compactions of
    /// earlier answers are not sent. A [`History`](crate::History) with a larger number of tokens bounds conversations
    /// whose compaction the client lost.
    ///
    /// ```
    /// use omniassist_server::{Assistant, History, OpenAiProvider};
    ///
    /// let openai = OpenAiProvider::builder().api_key("sk-…").compaction(100_000).build()?;
    /// let assistant = Assistant::builder(openai).history(History::fit(200_000)).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn compaction(mut self, tokens: u64) -> Self {
        self.api.compaction = Some(tokens);
        self
    }

    /// Asks for [background responses](https://platform.openai.com/docs/guides/background), which OpenAI goes on with when
    /// the connection to it is lost. Default: `false`.
    ///
    /// - A lost connection is replaced, and the answer goes on after its last event. Nothing is withdrawn or paid twice. There
    ///   are [`max_retries`](Limits::max_retries) tries since the last event.
    /// - A [stored](crate::AssistantBuilder::store) run that goes on at another server, or after a restart, fetches the
    ///   answer in place of a new one. If OpenAI does not have it any more, the model is asked again.
    /// - Dropping the stream of an answer cancels it in a separate task, for at most 10 seconds. A run that another server
    ///   continues is not cancelled.
    ///
    /// OpenAI stores such answers (`store: true`) and streams them for a few minutes, so they do not fit zero data
    /// retention. The first text comes later than without this setting. A connection that is lost before the id of the
    /// answer has arrived leads to a second request.
    ///
    /// ```
    /// use omniassist_server::store::MemoryStore;
    /// use omniassist_server::{Assistant, OpenAiProvider};
    ///
    /// let openai = OpenAiProvider::builder().api_key("sk-…").background(true).build()?;
    /// let assistant = Assistant::builder(openai).store(MemoryStore::new()).build()?;
    /// # Ok::<(), omniassist_server::Error>(())
    /// ```
    pub fn background(mut self, background: bool) -> Self {
        self.api.background = background;
        self
    }

    /// Sends items back with their original ids. Default: `true`, except for hosts of Azure, which refuse ids of items
    /// that were not stored. Without ids the encrypted reasoning is still sent back.
    pub fn replay_item_ids(mut self, replay: bool) -> Self {
        self.api.replay_item_ids = Some(replay);
        self
    }
}

impl Api for ResponsesApi {
    const LOCATION: &'static Location = &openai("openai", DEFAULT_RESPONSES_MODEL);

    const FILES: &'static FilesApi = &files_api(IMAGES_AND_PDF);

    fn bind(&mut self, settings: &mut Settings) -> Result<Endpoint> {
        compaction::check(self.compaction, LEAST_COMPACTED)?;
        let azure = settings.host().is_some_and(|host| host.ends_with(".azure.com"));
        if azure {
            settings.name = "azure";
        }
        self.replay_item_ids.get_or_insert(!azure);
        settings.bind("/responses")
    }

    fn encode(&self, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
        encode::encode(self, model, payload)
    }

    fn has_compacted(&self, state: &ProviderMetadata) -> bool {
        self.compaction.is_some() && compaction::of(metadata::STATE, Some(state)).is_some()
    }

    fn without_refused(&self, error: &Error, transcript: &[TranscriptItem]) -> Option<Arc<[TranscriptItem]>> {
        // Some versions of Azure's API send no code.
        let is_refusal = error.code() == Some("invalid_encrypted_content")
            || error.detail().is_some_and(|detail| detail.contains("The encrypted content "));
        let names = [metadata::ENCRYPTED_CONTENT, ProviderMetadata::COMPACTION];
        is_refusal.then(|| metadata::STATE.without(&names, transcript)).flatten()
    }

    fn decoder(&self, _: &LlmPayload, limits: &Limits) -> Box<dyn WireDecoder> {
        Box::new(ResponsesDecoder::new(limits))
    }

    fn send(self: Arc<Self>, endpoint: &Endpoint, asked: Asked) -> LlmStream {
        if self.background {
            let include = self.include(asked.payload.model.as_deref().unwrap_or_default());
            return background::send(endpoint, asked, include);
        }
        let Asked { url, body, limits, .. } = asked;
        endpoint.send(url, body, move || Box::new(ResponsesDecoder::new(&limits)))
    }
}

/// Decodes the event stream of the Responses API; see [`ApiDecoder`] for an example.
pub type ResponsesDecoder = ApiDecoder<decode::Reader>;

impl ResponsesDecoder {
    /// Creates a decoder for one answer.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self::of(decode::Reader::new(limits), limits)
    }
}
