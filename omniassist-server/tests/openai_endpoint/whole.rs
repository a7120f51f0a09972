//! Tests of answers without streaming.

use omniassist_server::core::FinishReason;
use omniassist_server::testing::{ScriptedProvider, Turn, call, reasoning, text};
use omniassist_server::{Error, OpenAiEndpoint, ProviderErrorKind};
use serde_json::json;

use super::{answer, ask, asking, builder, error, service, show};
use omniassist_server::http::AssistantService;

#[tokio::test]
async fn a_text_answer() {
    let model = ScriptedProvider::new().turn(text("Hello").then(Turn::usage(10, 3)));
    let response = ask(&service(&model), &asking(json!({}))).await;
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let answer = answer(response).await;
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "omniassist");
    assert!(id.starts_with("chatcmpl-"));
    assert_eq!(answer["id"], id);
    assert!(answer["created"].as_u64().unwrap() > 1_700_000_000);
    assert_eq!(answer["choices"][0]["message"]["content"], "Hello");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["total_tokens"], 13);
}

#[tokio::test]
async fn server_tools_run_and_are_hidden() {
    let script = || {
        ScriptedProvider::new()
            .turn([reasoning("Hm"), text("Let me ask."), call("ping", json!({})), Turn::usage(10, 1)])
            .turn(text("It says pong.").then(Turn::usage(20, 2)))
    };
    let model = script();
    let whole = answer(ask(&service(&model), &asking(json!({}))).await).await;
    assert_eq!(model.payloads().len(), 2);
    assert_eq!(whole["choices"][0]["message"]["content"], "Let me ask.\n\nIt says pong.");
    assert!(!whole.to_string().contains("\"ping\"") && !whole.to_string().contains("Hm"));
    assert_eq!(whole["usage"]["prompt_tokens"], 30, "the usage must include all steps");

    let model = script();
    let endpoint = OpenAiEndpoint::new().show_server_tools(true).show_reasoning(true);
    let service = AssistantService::new(builder(&model).openai_endpoint(endpoint).build().unwrap());
    let whole = answer(ask(&service, &asking(json!({}))).await).await;
    assert_eq!(whole["omniassist"]["tools"][0]["output"], "pong");
    assert_eq!(whole["choices"][0]["message"]["reasoning_content"], "Hm");
}

#[tokio::test]
async fn only_valid_calls_of_tools_of_the_caller_are_returned() {
    let model = ScriptedProvider::new().turn(call("show", json!({"pages": 1}))).turn(Turn::from([
        call("show", json!({"page": "a"})),
        call("ping", json!({})),
        call("show", json!({"page": "b"})),
    ]));
    let whole = answer(ask(&service(&model), &asking(json!({"tools": [show()]}))).await).await;
    let choice = &whole["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    let arguments: Vec<&str> =
        calls.iter().map(|call| call["function"]["arguments"].as_str().unwrap()).collect();
    assert_eq!(arguments, [r#"{"page":"a"}"#, r#"{"page":"b"}"#]);
    assert!(choice["message"]["content"].is_null());
    assert_eq!(model.payloads().len(), 2, "the model must correct its arguments");
}

#[tokio::test]
async fn the_finish_reason_reaches_the_client() {
    for (reason, word) in [(FinishReason::Length, "length"), (FinishReason::ContentFilter, "content_filter")]
    {
        let model = ScriptedProvider::new().turn(text("Half").then(Turn::finish(reason)));
        let whole = answer(ask(&service(&model), &asking(json!({}))).await).await;
        assert_eq!(whole["choices"][0]["finish_reason"], word);
    }
    let model = ScriptedProvider::new().turn(text("No.").then(Turn::finish(FinishReason::Refusal)));
    let whole = answer(ask(&service(&model), &asking(json!({}))).await).await;
    assert_eq!(whole["choices"][0]["message"]["refusal"], "No.");
}

#[tokio::test]
async fn an_incomplete_answer_is_an_error() {
    let broken = Error::provider(ProviderErrorKind::Interrupted).with_detail("secret");
    let model = ScriptedProvider::new().turn(text("Half").then(Turn::error(broken)));
    let error = error(ask(&service(&model), &asking(json!({}))).await, 502).await;
    assert_eq!(error["code"], "stream_interrupted");
    assert!(!error.to_string().contains("secret") && !error.to_string().contains("Half"));
}
