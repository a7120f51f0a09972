//! Tests of the Gemini provider over a real socket and of its errors.

use futures_util::StreamExt;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult};
use omniassist_server::core::{FinishReason, JsonText, Limits, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_server::provider::error_from_response;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{GeminiProvider, LlmProvider, LlmStream, ProviderErrorKind, Result};
use serde_json::{Value, json};

use super::streams::thoughts_and_calls;
use crate::recordings::{self, fold};

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

async fn events(stream: LlmStream) -> Result<Vec<LlmEvent>> {
    stream.collect::<Vec<_>>().await.into_iter().collect()
}

/// Returns the base URL without a path, because this API expects only the host.
fn host(server: &FakeProvider) -> String {
    server.base_url().strip_suffix("/v1").unwrap().to_owned()
}

pub(super) fn provider(server: &FakeProvider) -> GeminiProvider {
    let mut limits = Limits::default();
    limits.max_retries = 0;
    let builder = GeminiProvider::builder().api_key("canary-key").base_url(host(server)).limits(limits);
    builder.build().unwrap()
}

#[tokio::test]
async fn a_request_over_a_socket() {
    let server = FakeProvider::start().await.unwrap();
    server.reply(Reply::sse(thoughts_and_calls()).chunked_by(13)).reply(Reply::sse(thoughts_and_calls()));
    let provider = provider(&server);
    let said = fold(&events(provider.stream(hello())).await.unwrap());
    assert_eq!((said.calls.len(), said.finish.unwrap().0), (2, FinishReason::ToolCalls));
    // Each answer has new ids.
    let again = fold(&events(provider.stream(hello())).await.unwrap());
    assert_ne!(said.calls[0].id, again.calls[0].id);

    let request = server.request(1).await;
    assert_eq!(request.path, "/v1beta/models/gemini-flash-latest:streamGenerateContent?alt=sse");
    assert_eq!(request.header("x-goog-api-key"), Some("canary-key"));
    assert_eq!((request.header("authorization"), provider.model()), (None, Some("gemini-flash-latest")));
    let body: Value = serde_json::from_slice(&provider.request_body(&hello()).unwrap()).unwrap();
    assert_eq!(request.json(), body);
    assert!(!format!("{provider:?}").contains("canary"));
}

#[tokio::test]
async fn the_model_of_the_run_fills_one_path_segment_only() {
    let server = FakeProvider::start().await.unwrap();
    server.reply(Reply::sse(thoughts_and_calls()));
    let provider = provider(&server);
    let ask = |model: &'static str| {
        let mut payload = hello();
        payload.model = Some(model.into());
        provider.stream(payload)
    };
    events(ask("models/gemini-2.5-pro")).await.unwrap();
    assert_eq!(server.request(1).await.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse");
    for bad in ["../../other", "a?key=b", "a/b", "a#", ""] {
        assert!(events(ask(bad)).await.unwrap_err().is_configuration(), "{bad}");
    }
    assert_eq!(server.requests().len(), 1);
    assert!(GeminiProvider::builder().api_key("k").model("a/b").build().unwrap_err().is_configuration());
}

#[tokio::test]
async fn errors_under_every_status() {
    let server = FakeProvider::start().await.unwrap();
    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "canary-key is over quota",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}});
    server
        .reply(Reply::json(429, &body))
        .reply(Reply::json(200, &json!([body])))
        .reply(Reply::sse(format!("data: {body}\r\n\r\n")))
        .reply(Reply::json(200, &json!([{"candidates": []}])))
        .reply(Reply::sse(thoughts_and_calls()).cut_after(400));
    let provider = provider(&server);
    for how in ["a status", "a list under 200", "an event"] {
        let error = events(provider.stream(hello())).await.unwrap_err();
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::RateLimited), "{how}");
        assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(34)), "{how}");
        assert_eq!(error.status(), Some(429), "{how}");
        assert!(!format!("{error} {error:?} {:?}", error.detail()).contains("canary-key"), "{how}");
    }
    let unstreamed = events(provider.stream(hello())).await.unwrap_err();
    assert_eq!(unstreamed.provider_kind(), Some(ProviderErrorKind::Protocol));
    let cut = events(provider.stream(hello())).await.unwrap_err();
    assert_eq!(cut.provider_kind(), Some(ProviderErrorKind::Interrupted));
}

#[test]
fn recorded_error_bodies() {
    let Some(root) = recordings::root() else { return };
    let recorded = std::fs::read_to_string(root.join("http_errors.jsonl")).unwrap();
    let mut count = 0;
    for line in recorded.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        if recorded["provider"] != "gemini" {
            continue;
        }
        let status = u16::try_from(recorded["status"].as_u64().unwrap()).unwrap();
        let body = recorded["body"].as_str().unwrap();
        let error = error_from_response(status, body.as_bytes());
        let word = serde_json::from_str::<Value>(body).unwrap()["error"]["status"].clone();
        assert_eq!(error.provider_kind(), Some(ProviderErrorKind::Response), "{line}");
        assert_eq!((error.code(), error.status()), (word.as_str(), Some(status)));
        assert!(!error.is_retryable() && !error.detail().unwrap().starts_with('{'));
        count += 1;
    }
    eprintln!("gemini: {count} recorded error bodies");
    assert!(count > 0);
}

#[test]
fn the_first_byte_timeout_is_five_minutes_by_default() {
    let first_byte = |limits: Limits| {
        let printed = format!("{:?}", GeminiProvider::builder().api_key("k").limits(limits).build().unwrap());
        let (_, rest) = printed.split_once("first_byte_timeout: ").unwrap();
        rest.split(", ").next().unwrap().to_owned()
    };
    let mut limits = Limits::default();
    assert_eq!(first_byte(limits.clone()), "Some(300s)");
    limits.first_byte_timeout = Some(std::time::Duration::from_secs(7));
    assert_eq!(first_byte(limits), "Some(7s)");
}

#[tokio::test]
async fn a_conversation_with_refused_signatures_is_asked_again_without_them() {
    for message in
        ["Corrupted thought signature.", "Unable to submit request because Thought signature is not valid."]
    {
        let server = FakeProvider::start().await.unwrap();
        let body = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
        server.reply(Reply::json(400, &body)).reply(Reply::sse(thoughts_and_calls()));
        let state = || serde_json::from_value(json!({"google": {"thoughtSignature": "foreign"}})).unwrap();
        let call = ToolCall {
            id: "a".into(),
            name: "weather".into(),
            arguments: JsonText::EMPTY_OBJECT,
            kind: CallKind::Function,
            metadata: state(),
        };
        let result = ToolResult { call_id: "a".into(), output: JsonText::NULL, is_error: false };
        let payload = LlmPayload::new([
            TranscriptItem::user("Weather?"),
            TranscriptItem::Text { text: "Let me look.".into(), metadata: state() },
            TranscriptItem::Call(call),
            TranscriptItem::Result(result),
        ]);
        let said = fold(&events(provider(&server).stream(payload)).await.unwrap());
        assert_eq!(said.calls.len(), 2);
        let signatures = |request: Value| {
            let parts = request["contents"][1]["parts"].as_array().unwrap().clone();
            parts.iter().map(|part| part["thoughtSignature"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(signatures(server.request(1).await.json()), ["foreign", "foreign"]);
        let second = signatures(server.request(2).await.json());
        assert_eq!(second, [Value::Null, json!("skip_thought_signature_validator")]);
    }
}
