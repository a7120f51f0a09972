//! Tests of streamed answers.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use omniassist_server::core::Limits;
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, call, reasoning, text};
use omniassist_server::{Error, OpenAiEndpoint, ProviderErrorKind};
use serde_json::{Value, json};

use super::{ask, asking, builder, chunks, content, error, service, show};

#[tokio::test]
async fn a_text_answer() {
    let model = ScriptedProvider::new().turn(Turn::text_chunks(["Hel", "lo"]).then(Turn::usage(10, 3)));
    let body = asking(json!({"stream": true, "stream_options": {"include_usage": true}}));
    let response = ask(&service(&model), &body).await;
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    let (chunks, done) = chunks(response).await;
    assert!(done);
    assert_eq!(content(&chunks), "Hello");
    assert!(chunks.iter().all(|chunk| chunk["id"] == id && chunk["object"] == "chat.completion.chunk"));
    assert_eq!(chunks.last().unwrap()["usage"]["prompt_tokens"], 10);
    let created: Vec<&Value> = chunks.iter().map(|chunk| &chunk["created"]).collect();
    assert!(created.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn server_tools_are_hidden_unless_the_host_shows_them() {
    let script = || {
        ScriptedProvider::new()
            .turn([reasoning("Hm"), text("Let me ask."), call("ping", json!({}))])
            .turn(text("It says pong."))
    };
    let model = script();
    let (plain, done) = chunks(ask(&service(&model), &asking(json!({"stream": true}))).await).await;
    assert!(done);
    assert_eq!(content(&plain), "Let me ask.\n\nIt says pong.");
    let seen = serde_json::to_string(&plain).unwrap();
    assert!(!seen.contains("ping") && !seen.contains("Hm") && !seen.contains("omniassist\":{"), "{seen}");

    let model = script();
    let endpoint = OpenAiEndpoint::new().show_server_tools(true).show_reasoning(true);
    let service = AssistantService::new(builder(&model).openai_endpoint(endpoint).build().unwrap());
    let (shown, _) = chunks(ask(&service, &asking(json!({"stream": true}))).await).await;
    assert_eq!(content(&shown), content(&plain));
    let told: Vec<&Value> = shown.iter().filter_map(|chunk| chunk.get("omniassist")).collect();
    assert_eq!((&told[0]["tool"]["name"], &told[1]["tool"]["output"]), (&json!("ping"), &json!("pong")));
    assert!(shown.iter().any(|chunk| chunk["choices"][0]["delta"]["reasoning_content"] == "Hm"));
}

#[tokio::test]
async fn calls_of_tools_of_the_caller_are_streamed() {
    let model = ScriptedProvider::new()
        .turn([call("ping", json!({})), call("show", json!({"page": "a long page name"}))]);
    let body = asking(json!({"stream": true, "tools": [show()]}));
    let (chunks, done) = chunks(ask(&service(&model), &body).await).await;
    assert!(done);
    let deltas: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0])
        .filter(|call| !call.is_null())
        .collect();
    assert!(deltas.len() > 2, "the arguments must be streamed in pieces");
    assert!(deltas.iter().all(|call| call["index"] == 0));
    assert_eq!(deltas[0]["function"]["name"], "show");
    let arguments: String = deltas.iter().filter_map(|call| call["function"]["arguments"].as_str()).collect();
    assert_eq!(arguments, r#"{"page":"a long page name"}"#);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn a_truncated_call_is_never_valid_json() {
    let model = ScriptedProvider::new().turn(Turn::truncated_call("show", r#"{"page":"a"}"#));
    let body = asking(json!({"stream": true, "tools": [show()]}));
    let (chunks, _) = chunks(ask(&service(&model), &body).await).await;
    let arguments: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str())
        .collect();
    assert!(!arguments.is_empty() && serde_json::from_str::<Value>(&arguments).is_err(), "{arguments}");
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn a_failure_before_the_first_text_sets_the_status() {
    let busy = Error::provider(ProviderErrorKind::RateLimited).with_retry_after(Duration::from_millis(6_500));
    let model = ScriptedProvider::new().turn(Turn::error(busy));
    let response = ask(&service(&model), &asking(json!({"stream": true}))).await;
    assert_eq!(response.headers()["retry-after"], "7", "the delay must be rounded up");
    assert!(!response.headers().contains_key("x-should-retry"));
    assert_eq!(error(response, 429).await["code"], "rate_limit_exceeded");
}

#[tokio::test]
async fn a_later_failure_is_an_error_in_the_stream() {
    let model = ScriptedProvider::new().turn(text("Half").then(Turn::interrupted()));
    let (chunks, done) = chunks(ask(&service(&model), &asking(json!({"stream": true}))).await).await;
    assert!(!done, "an incomplete answer must not end with [DONE]");
    assert_eq!(content(&chunks), "Half");
    assert_eq!(chunks.last().unwrap()["error"]["code"], "stream_interrupted");
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_opens_the_response_after_the_keep_alive_time() {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(15);
    for (delay, opened) in [(14, false), (16, true)] {
        let late = Turn::delay(Duration::from_secs(delay)).then(Turn::interrupted());
        let model = ScriptedProvider::new().turn(late);
        let service = AssistantService::new(builder(&model).limits(limits.clone()).build().unwrap());
        let response = ask(&service, &asking(json!({"stream": true}))).await;
        if opened {
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.starts_with(": keep-alive\n\n"), "{text}");
            assert!(text.contains("\"error\"") && !text.contains("[DONE]"), "{text}");
        } else {
            error(response, 502).await;
        }
    }
}

#[tokio::test]
async fn dropping_either_kind_of_answer_stops_the_run() {
    for stream in [true, false] {
        let model = ScriptedProvider::new().turn(Turn::pending());
        let assistant = builder(&model).build().unwrap();
        let service = AssistantService::new(assistant.clone());
        let dropped = model.dropped();
        let body = asking(json!({ "stream": stream }));
        let asked = tokio::time::timeout(Duration::from_millis(50), ask(&service, &body));
        assert!(asked.await.is_err(), "the response must be pending");
        tokio::time::timeout(Duration::from_millis(250), dropped)
            .await
            .expect("the model's stream must be dropped");
        assert_eq!(assistant.live_runs(), 0);
    }
    let model = ScriptedProvider::new().turn(text("Half").then(Turn::pending()));
    let assistant = builder(&model).build().unwrap();
    let response = ask(&AssistantService::new(assistant.clone()), &asking(json!({"stream": true}))).await;
    let dropped = model.dropped();
    let mut body = response.into_body();
    let first: Bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(!first.is_empty());
    drop(body);
    tokio::time::timeout(Duration::from_millis(250), dropped)
        .await
        .expect("the model's stream must be dropped");
    assert_eq!(assistant.live_runs(), 0);
}
