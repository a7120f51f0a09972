//! The differences between the APIs. Each test of this module goes over the whole list.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use omniassist_server::core::{Limits, LlmPayload};
#[cfg(feature = "anthropic")]
use omniassist_server::provider::anthropic;
#[cfg(feature = "gemini")]
use omniassist_server::provider::gemini;
use omniassist_server::provider::openai::{ChatDecoder, ResponsesDecoder};
use omniassist_server::provider::{LlmProvider, WireDecoder};
use omniassist_server::testing::FakeProvider;
use omniassist_server::{OpenAiChatProvider, OpenAiProvider};
use serde_json::Value;

use super::legal;

/// An API and its recordings, decoder, provider and rules.
pub(crate) struct Api {
    pub(crate) name: &'static str,
    /// The folders of its recordings.
    pub(crate) folders: &'static [&'static str],
    pub(crate) decoder: fn() -> Box<dyn WireDecoder>,
    /// Its provider, set up for a server on loopback.
    pub(crate) provider: fn(&FakeProvider) -> Arc<dyn LlmProvider>,
    /// Returns the request body that its provider sends for a payload.
    pub(crate) request: fn(&LlmPayload) -> Bytes,
    /// Returns the faults of a request body according to the provider's documentation.
    pub(crate) faults: fn(&Value) -> Vec<String>,
    /// Returns `true` if this event completes the answer.
    pub(crate) is_end: fn(&Value) -> bool,
}

pub(crate) const APIS: &[Api] = &[
    Api {
        name: "responses",
        folders: &["responses"],
        decoder: || Box::new(ResponsesDecoder::new(&Limits::default())),
        provider: |server| Arc::new(OpenAiProvider::builder().base_url(server.base_url()).build().unwrap()),
        request: |payload| {
            static PROVIDER: LazyLock<OpenAiProvider> = LazyLock::new(|| OpenAiProvider::new("k").unwrap());
            PROVIDER.request_body(payload).unwrap()
        },
        faults: legal::responses::faults,
        is_end: |event| {
            let kind = event["type"].as_str().unwrap_or_default();
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed")
        },
    },
    Api {
        name: "chat",
        folders: &["chat", "compat"],
        decoder: || Box::new(ChatDecoder::new(&Limits::default(), "test")),
        provider: |server| {
            Arc::new(OpenAiChatProvider::builder().base_url(server.base_url()).build().unwrap())
        },
        request: |payload| {
            static PROVIDER: LazyLock<OpenAiChatProvider> =
                LazyLock::new(|| OpenAiChatProvider::new("k").unwrap());
            PROVIDER.request_body(payload).unwrap()
        },
        faults: legal::chat::faults,
        is_end: |chunk| {
            let choices = chunk["choices"].as_array();
            // Only the first choice is read.
            let ends = |choice: &Value| {
                choice["finish_reason"].is_string() && choice["index"].as_u64().unwrap_or(0) == 0
            };
            choices.is_some_and(|choices| choices.iter().any(ends))
        },
    },
    #[cfg(feature = "anthropic")]
    Api {
        name: "anthropic",
        folders: &["anthropic"],
        decoder: || Box::new(anthropic::AnthropicDecoder::new(&Limits::default())),
        provider: |server| {
            let host = format!("http://{}", server.address());
            Arc::new(anthropic::AnthropicProvider::builder().base_url(host).build().unwrap())
        },
        request: |payload| {
            static PROVIDER: LazyLock<anthropic::AnthropicProvider> =
                LazyLock::new(|| anthropic::AnthropicProvider::new("k").unwrap());
            PROVIDER.request_body(payload).unwrap()
        },
        faults: legal::anthropic::faults,
        // The stop reason follows the end of every block; `message_stop` after it adds nothing.
        is_end: |event| event["type"] == "message_stop" || event["delta"]["stop_reason"].is_string(),
    },
    #[cfg(feature = "gemini")]
    Api {
        name: "gemini",
        folders: &["gemini"],
        decoder: || Box::new(gemini::GeminiDecoder::new(&Limits::default(), "test")),
        provider: |server| {
            let host = format!("http://{}", server.address());
            Arc::new(gemini::GeminiProvider::builder().base_url(host).build().unwrap())
        },
        request: |payload| {
            static PROVIDER: LazyLock<gemini::GeminiProvider> =
                LazyLock::new(|| gemini::GeminiProvider::new("k").unwrap());
            PROVIDER.request_body(payload).unwrap()
        },
        faults: legal::gemini::faults,
        is_end: |chunk| {
            let candidates = chunk["candidates"].as_array();
            candidates.is_some_and(|all| all.iter().any(|candidate| candidate["finishReason"].is_string()))
                || chunk["promptFeedback"]["blockReason"].is_string()
        },
    },
];

impl Api {
    /// Returns `true` if these bytes contain the event that ends an answer.
    pub(crate) fn has_end(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        text.lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .filter_map(|data| serde_json::from_str(data).ok())
            .any(|event| (self.is_end)(&event))
    }
}
