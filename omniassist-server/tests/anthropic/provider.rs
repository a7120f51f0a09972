//! Tests of the Anthropic provider over a real socket.

use futures_util::StreamExt;
use omniassist_server::core::{FinishReason, Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::provider::anthropic::DEFAULT_ANTHROPIC_MODEL;
use omniassist_server::provider::error_from_response;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{AnthropicProvider, LlmProvider, ProviderErrorKind, Result};
use serde_json::json;

use super::streams::thinking_and_calls;
use crate::recordings::fold;

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

async fn events(stream: omniassist_server::LlmStream) -> Result<Vec<LlmEvent>> {
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

#[tokio::test]
async fn a_request_over_a_socket() {
    let server = FakeProvider::start().await.unwrap();
    for _ in 0..3 {
        server.reply(Reply::sse(thinking_and_calls()).chunked_by(13));
    }
    let host = server.base_url().trim_end_matches("/v1").to_owned();
    // The base URL names the host. A `/v1` at its end is not repeated.
    for (number, base_url) in (1..).zip([host.clone(), format!("{host}/"), format!("{host}/v1/")]) {
        let provider = AnthropicProvider::builder()
            .api_key("canary-key")
            .base_url(base_url)
            .model("claude-test")
            .beta("one-2025-01-01")
            .beta("two-2025-01-01")
            .header("x-tenant", "t1")
            .build()
            .unwrap();
        let said = fold(&events(provider.stream(hello())).await.unwrap());
        assert_eq!(said.calls.len(), 2);
        assert_eq!(said.finish.unwrap().0, FinishReason::ToolCalls);
        assert!(!format!("{provider:?}").contains("canary"));
        let request = server.request(number).await;
        assert_eq!(request.path, "/v1/messages");
        for (name, value) in [
            ("x-api-key", Some("canary-key")),
            ("authorization", None),
            ("content-type", Some("application/json")),
            ("anthropic-version", Some("2023-06-01")),
            ("anthropic-beta", Some("one-2025-01-01,two-2025-01-01")),
            ("x-tenant", Some("t1")),
        ] {
            assert_eq!(request.header(name), value, "{name}");
        }
        assert_eq!(request.json()["model"], "claude-test");
    }
}

#[tokio::test]
async fn an_error_omits_the_refused_key_and_an_overload_is_retried() {
    let server = FakeProvider::start().await.unwrap();
    let refused =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid canary-key"}});
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    server
        .reply(Reply::json(401, &refused).header("request-id", "req-1"))
        .reply(Reply::json(529, &overloaded))
        .reply(Reply::sse(thinking_and_calls()));
    let mut limits = Limits::default();
    limits.retry_base_delay = std::time::Duration::from_millis(1);
    let provider = AnthropicProvider::builder()
        .api_key("canary-key")
        .base_url(server.base_url())
        .limits(limits)
        .build()
        .unwrap();
    let error = events(provider.stream(hello())).await.unwrap_err();
    assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Auth));
    assert_eq!((error.status(), error.provider_request_id()), (Some(401), Some("req-1")));
    assert!(!format!("{error} {error:?} {:?}", error.detail()).contains("canary"));
    let said = fold(&events(provider.stream(hello())).await.unwrap());
    assert_eq!(said.text, "Let me look.");
}

#[test]
fn the_status_and_the_error_type_determine_the_kind() {
    use ProviderErrorKind::{Auth, ContextOverflow, RateLimited, Response, Unavailable};
    for (status, kind, message, expected, retryable) in [
        (529, "overloaded_error", "Overloaded", Unavailable, true),
        (500, "api_error", "Internal server error", Unavailable, true),
        (429, "rate_limit_error", "Number of requests", RateLimited, true),
        (401, "authentication_error", "invalid x-api-key", Auth, false),
        (403, "permission_error", "no access", Auth, false),
        (413, "request_too_large", "Request exceeds the maximum size", Response, false),
        (404, "not_found_error", "model: claude-none", Response, false),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
            ContextOverflow,
            false,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            ContextOverflow,
            false,
        ),
    ] {
        let body =
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
        let error = error_from_response(status, body.to_string().as_bytes());
        assert_eq!(error.provider_kind(), Some(expected), "{kind} {message}");
        assert_eq!((error.status(), error.code()), (Some(status), Some(kind)));
        assert_eq!(error.is_retryable(), retryable, "{kind}");
    }
}

#[test]
fn a_key_is_required_except_for_loopback() {
    assert!(AnthropicProvider::new("").unwrap_err().is_configuration());
    assert!(AnthropicProvider::builder().base_url("https://example.com").build().is_err());
    assert!(AnthropicProvider::builder().base_url("https://example.com").beta("b").build().is_err());
    assert!(AnthropicProvider::builder().api_key("k").beta("b\n").build().is_err());
    assert!(AnthropicProvider::builder().base_url("http://localhost:8080").build().is_ok());
    assert_eq!(AnthropicProvider::new("k").unwrap().model(), Some(DEFAULT_ANTHROPIC_MODEL));
}

/// Thinking is signed for one model, and by one server.
#[tokio::test]
async fn a_conversation_of_another_model_is_asked_again_without_its_thinking() {
    let server = FakeProvider::start().await.unwrap();
    let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    server.reply(Reply::json(400, &body)).reply(Reply::sse(thinking_and_calls()));
    let provider =
        AnthropicProvider::builder().base_url(server.base_url()).model("claude-opus-4-8").build().unwrap();
    let state = |fields| serde_json::from_value(json!({"anthropic": fields})).unwrap();
    let payload = LlmPayload::new([
        TranscriptItem::user("Weather?"),
        TranscriptItem::Reasoning { text: "Hm.".into(), metadata: state(json!({"signature": "foreign"})) },
        TranscriptItem::Reasoning { text: "".into(), metadata: state(json!({"redactedData": "foreign"})) },
        TranscriptItem::Text { text: "21 °C.".into(), metadata: None },
        TranscriptItem::user("And now?"),
    ]);
    assert!(!events(provider.stream(payload)).await.unwrap().is_empty());
    assert_eq!(server.request(1).await.json()["messages"][1]["content"].as_array().unwrap().len(), 3);
    let content = &server.request(2).await.json()["messages"][1]["content"];
    assert_eq!(content[0]["text"], "21 °C.");
    assert_eq!(content.as_array().unwrap().len(), 1);
}
