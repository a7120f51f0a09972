//! Tests of the OpenAI providers over a real socket.

use futures_util::StreamExt;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult};
use omniassist_server::core::{FinishReason, JsonText, Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::provider::error_from_response;
use omniassist_server::provider::openai::Vendor;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{LlmProvider, OpenAiChatProvider, OpenAiProvider, ProviderErrorKind, Result};
use serde_json::{Value, json};

use super::streams::{chat_interleaved, reasoning_and_calls};
use crate::recordings::{self, fold};

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

async fn events(stream: omniassist_server::LlmStream) -> Result<Vec<LlmEvent>> {
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

fn impatient() -> Limits {
    let mut limits = Limits::default();
    limits.max_retries = 0;
    limits
}

#[tokio::test]
async fn responses_over_a_socket() {
    let server = FakeProvider::start().await.unwrap();
    server.reply(Reply::sse(reasoning_and_calls()).chunked_by(13));
    let provider = OpenAiProvider::builder()
        .api_key("canary-key")
        .base_url(format!("{}/", server.base_url()))
        .model("gpt-test")
        .organization("org-1")
        .project("proj-1")
        .header("x-tenant", "t1")
        .build()
        .unwrap();
    let payload = hello();
    let said = fold(&events(provider.stream(payload.clone())).await.unwrap());
    assert_eq!(said.calls.len(), 2);
    assert_eq!(said.finish.unwrap().0, FinishReason::ToolCalls);

    let request = server.request(1).await;
    assert_eq!(request.path, "/v1/responses");
    for (name, value) in [
        ("authorization", "Bearer canary-key"),
        ("content-type", "application/json"),
        ("openai-organization", "org-1"),
        ("openai-project", "proj-1"),
        ("x-tenant", "t1"),
    ] {
        assert_eq!(request.header(name), Some(value));
    }
    assert_eq!(
        request.json(),
        serde_json::from_slice::<Value>(&provider.request_body(&payload).unwrap()).unwrap()
    );
    assert!(!format!("{provider:?}").contains("canary"));
}

#[tokio::test]
async fn tool_submit_sends_the_results_as_entries_of_the_conversation() {
    let server = FakeProvider::start().await.unwrap();
    server.reply(Reply::sse(chat_interleaved())).reply(Reply::sse(reasoning_and_calls()));
    let result = || {
        let output = JsonText::from_value(&json!({"ok": true}));
        vec![ToolResult { call_id: "call_a".into(), output, is_error: false }]
    };
    let chat = OpenAiChatProvider::builder().base_url(server.base_url()).build().unwrap();
    events(chat.tool_submit(hello(), result())).await.unwrap();
    let sent = server.request(1).await;
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.header("authorization"), None);
    assert_eq!(
        sent.json()["messages"][1],
        json!({"role": "tool", "tool_call_id": "call_a", "content": "{\"ok\":true}"})
    );

    let responses = OpenAiProvider::builder().base_url(server.base_url()).build().unwrap();
    let shared: std::sync::Arc<dyn LlmProvider> = std::sync::Arc::new(responses);
    events(shared.tool_submit(hello(), result())).await.unwrap();
    assert_eq!(
        server.request(2).await.json()["input"][1],
        json!({
            "type": "function_call_output", "call_id": "call_a", "output": "{\"ok\":true}", "status": "completed",
        })
    );
}

#[tokio::test]
async fn an_error_omits_the_refused_key() {
    let server = FakeProvider::start().await.unwrap();
    let body =
        json!({"error": {"message": "Incorrect API key provided: canary-key", "code": "invalid_api_key"}});
    let event =
        json!({"type": "error", "message": "canary-key is over its limit", "code": "rate_limit_exceeded"});
    server
        .reply(Reply::json(401, &body).header("x-request-id", "req-1"))
        .reply(Reply::sse(format!("data: {event}\n\n")));
    let provider = OpenAiProvider::builder()
        .api_key("canary-key")
        .base_url(server.base_url())
        .limits(impatient())
        .build()
        .unwrap();
    let error = events(provider.stream(hello())).await.unwrap_err();
    assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Auth));
    assert_eq!((error.status(), error.code()), (Some(401), Some("invalid_api_key")));
    assert_eq!(error.provider_request_id(), Some("req-1"));
    assert!(error.detail().is_some_and(|detail| detail.starts_with("Incorrect API key provided: [")));
    assert!(!format!("{error} {error:?} {:?}", error.detail()).contains("canary"));
    let error = events(provider.stream(hello())).await.unwrap_err();
    assert_eq!(error.provider_kind(), Some(ProviderErrorKind::RateLimited));
    assert!(error.detail().is_some_and(|detail| !detail.contains("canary")));
}

#[tokio::test]
async fn a_cut_stream_and_an_error_with_status_200() {
    let server = FakeProvider::start().await.unwrap();
    let loading = json!({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}});
    server.reply(Reply::sse(chat_interleaved()).cut_after(700)).reply(Reply::json(200, &loading));
    let chat = OpenAiChatProvider::builder().base_url(server.base_url()).limits(impatient()).build().unwrap();
    let cut: Vec<Result<LlmEvent>> = chat.stream(hello()).collect().await;
    assert!(cut.len() > 1);
    let error = cut.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Interrupted));
    assert!(!cut.iter().any(|event| matches!(event, Ok(LlmEvent::ToolCallEnd { .. }))));
    let error = events(chat.stream(hello())).await.unwrap_err();
    assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Unavailable));
}

#[test]
fn a_key_is_required_except_for_loopback() {
    assert!(OpenAiProvider::new("").unwrap_err().is_configuration());
    assert!(OpenAiChatProvider::builder().base_url("https://example.com/v1").build().is_err());
    assert!(OpenAiChatProvider::builder().base_url("http://localhost:8080/v1").model("m").build().is_ok());
    assert!(
        OpenAiProvider::builder().base_url("https://example.com/v1").header("api-key", "k").build().is_ok()
    );
    assert_eq!(OpenAiProvider::new("k").unwrap().model(), Some("gpt-5-mini"));
}

/// Checks that each recorded error body of a provider has a message and that only status 500 is retryable.
#[test]
fn recorded_error_bodies() {
    let Some(root) = recordings::root() else { return };
    let recorded = std::fs::read_to_string(root.join("http_errors.jsonl")).unwrap();
    for line in recorded.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let status = u16::try_from(recorded["status"].as_u64().unwrap()).unwrap();
        let body = recorded["body"].as_str().unwrap();
        let error = error_from_response(status, body.as_bytes());
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.is_retryable(), status == 500, "{line}");
        assert!(
            error.detail().is_some_and(|detail| !detail.is_empty() && !detail.starts_with('{')),
            "{line}"
        );
        let is_key = body.to_ascii_lowercase().contains("api key");
        assert_eq!(error.provider_kind() == Some(ProviderErrorKind::Auth), is_key || status == 401, "{line}");
    }
    eprintln!("{} recorded error bodies", recorded.lines().count());
}

/// Returns a conversation with a call and encrypted reasoning before it.
fn reasoned() -> LlmPayload {
    let state = |fields: Value| serde_json::from_value(json!({"openai": fields})).unwrap();
    let sealed = json!({"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"});
    LlmPayload::new([
        TranscriptItem::user("Weather?"),
        TranscriptItem::Reasoning { text: "Hm.".into(), metadata: state(sealed) },
        TranscriptItem::Text { text: "21 °C.".into(), metadata: state(json!({"itemId": "msg_1"})) },
        TranscriptItem::user("And now?"),
    ])
}

#[tokio::test]
async fn a_conversation_of_another_account_is_asked_again_without_its_encrypted_reasoning() {
    let message = "The encrypted content gAAA...gAAA could not be verified.";
    for error in [
        json!({"message": message, "type": "invalid_request_error", "code": "invalid_encrypted_content"}),
        json!({"message": message, "type": "invalid_request_error", "param": null, "code": null}),
    ] {
        let server = FakeProvider::start().await.unwrap();
        server
            .reply(Reply::json(400, &json!({"error": error})))
            .reply(Reply::sse(reasoning_and_calls()))
            .reply(Reply::json(400, &json!({"error": {"message": "No.", "code": "invalid_value"}})));
        let provider = OpenAiProvider::builder().base_url(server.base_url()).build().unwrap();
        let said = fold(&events(provider.stream(reasoned())).await.unwrap());
        assert_eq!(said.calls.len(), 2);
        let first = server.request(1).await.json();
        assert_eq!(first["input"][1]["encrypted_content"], "gAAA");
        let second = server.request(2).await.json();
        assert_eq!(second["include"], json!(["reasoning.encrypted_content"]));
        let items = second["input"].as_array().unwrap();
        let kinds = items.iter().map(|item| (item["type"].as_str().unwrap(), item.get("id")));
        assert_eq!(kinds.collect::<Vec<_>>(), [("message", None); 3]);

        // Another refusal is an error at once.
        let error = events(provider.stream(reasoned())).await.unwrap_err();
        assert_eq!(error.code(), Some("invalid_value"));
    }
}

#[tokio::test]
async fn a_refusal_without_encrypted_reasoning_is_an_error() {
    let server = FakeProvider::start().await.unwrap();
    let body = json!({"error": {"message": "No.", "code": "invalid_encrypted_content"}});
    server.reply(Reply::json(400, &body)).reply(Reply::json(400, &body)).reply(Reply::json(400, &body));
    let provider = OpenAiProvider::builder().base_url(server.base_url()).build().unwrap();
    assert_eq!(events(provider.stream(hello())).await.unwrap_err().code(), Some("invalid_encrypted_content"));
    // The second refusal of a conversation is final.
    assert_eq!(events(provider.stream(reasoned())).await.unwrap_err().status(), Some(400));
    assert_eq!(server.request(3).await.json()["input"].as_array().unwrap().len(), 3);
}

/// Returns a conversation with a call that has the state of a server of Chat Completions.
fn called() -> LlmPayload {
    let state = json!({"openai": {
        "extraContent": {"google": {"thought_signature": "sig"}},
        "reasoningDetails": [{"type": "reasoning.text", "signature": "sig"}],
    }});
    let call = ToolCall {
        id: "a".into(),
        name: "weather".into(),
        arguments: JsonText::EMPTY_OBJECT,
        kind: CallKind::Function,
        metadata: serde_json::from_value(state).unwrap(),
    };
    let result = ToolResult { call_id: "a".into(), output: JsonText::NULL, is_error: false };
    LlmPayload::new([
        TranscriptItem::user("Weather?"),
        TranscriptItem::Call(call),
        TranscriptItem::Result(result),
    ])
}

#[tokio::test]
async fn state_of_calls_that_a_server_refuses_is_not_sent_again() {
    let unknown = json!([{"type": "extra_forbidden", "loc": ["tool_calls", 0, "extra_content"], "msg": "Extra inputs"}]);
    let raw = r#"{"message":"messages.1.content.0: Invalid `signature` in `thinking` block"}"#;
    let routed = json!({"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}});
    for (vendor, field, refusal) in [
        (Vendor::VLLM, "extra_content", json!({ "detail": unknown })),
        (Vendor::OPENROUTER, "reasoning_details", json!({ "error": routed })),
    ] {
        let server = FakeProvider::start().await.unwrap();
        server.reply(Reply::json(400, &refusal)).reply(Reply::sse(chat_interleaved()));
        let builder = OpenAiChatProvider::builder().vendor(vendor).base_url(server.base_url());
        let provider = builder.model("m").limits(impatient()).build().unwrap();
        assert!(events(provider.stream(called())).await.is_ok(), "{vendor:?}");
        let has_field = |request: Value| request["messages"].to_string().contains(field);
        assert!(has_field(server.request(1).await.json()), "{vendor:?}");
        assert!(!has_field(server.request(2).await.json()), "{vendor:?}");
    }
}

#[test]
fn metadata_of_calls_is_sent_to_servers_that_may_require_it_only() {
    let is_sent = |url: &str| {
        let provider = OpenAiChatProvider::builder().base_url(url).api_key("k").model("m").build().unwrap();
        provider.request_body(&called()).unwrap().windows(13).any(|piece| piece == b"extra_content")
    };
    for gateway in ["https://generativelanguage.googleapis.com/v1beta/openai", "http://127.0.0.1:8000/v1"] {
        assert!(is_sent(gateway), "{gateway}");
    }
    for strict in ["https://api.openai.com/v1", "https://api.mistral.ai/v1", "https://api.groq.com/openai/v1"]
    {
        assert!(!is_sent(strict), "{strict}");
    }
}
