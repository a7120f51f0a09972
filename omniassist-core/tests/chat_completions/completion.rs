//! Tests of complete answers (`chat.completion`).

use bytes::BytesMut;
use omniassist_core::dialect::chat_completions::{AnswerHead, Completion, ErrorObject, error_body};
use omniassist_core::event::{BlockId, ComponentEvent, FinishReason, RunErrorCode};
use omniassist_core::{RunEvent, Text};
use serde_json::{Value, json};

use super::{available, begins, finish, output, piece, text, tokens, unusable};

fn collector() -> Completion {
    Completion::new([Text::from("show")])
}

fn collected(mut completion: Completion, events: &[RunEvent]) -> Value {
    for event in events {
        completion.apply(event);
    }
    let mut out = BytesMut::new();
    completion.write(&AnswerHead::new("chatcmpl-1", 17, "m"), &mut out);
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_text_answer_is_written() {
    let usage = tokens(Some(2), Some(3));
    let events = [
        RunEvent::StepStart,
        text("Let me look."),
        RunEvent::StepStart,
        text("Found"),
        RunEvent::Finish { reason: FinishReason::Stop, usage },
    ];
    assert_eq!(
        collected(collector(), &events),
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 17, "model": "m",
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": "Let me look.\n\nFound", "refusal": null},
                "logprobs": null, "finish_reason": "stop",
            }],
            "usage": {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5},
        })
    );
    let silent = collected(collector(), &[finish(FinishReason::Stop)]);
    assert_eq!(silent["choices"][0]["message"]["content"], "");
    assert!(silent.get("usage").is_none(), "unreported usage must be omitted");
}

#[test]
fn the_text_of_a_component_is_a_paragraph_of_the_answer() {
    let card = ComponentEvent::Text { instance: "card-1".into(), text: "| Lamp | 5 |".into() };
    let events = [
        RunEvent::StepStart,
        text("Here it is."),
        RunEvent::Component(Box::new(card)),
        text("Anything else?"),
        finish(FinishReason::Stop),
    ];
    let content = collected(collector(), &events)["choices"][0]["message"]["content"].clone();
    assert_eq!(content, "Here it is.\n\n| Lamp | 5 |\n\nAnything else?");
}

#[test]
fn only_valid_calls_are_in_the_completion() {
    let events = [
        begins("c1", "show"),
        piece("c1", "{\"a\":0}"),
        unusable("c1", "show"),
        available("c2", "show", &json!({"a": 1})),
        available("c3", "ping", &json!({})),
        output("c3", &json!(1), false),
        available("c4", "show", &json!({})),
        finish(FinishReason::ToolCalls),
    ];
    let choice = collected(collector(), &events)["choices"][0].clone();
    assert_eq!(
        choice["message"],
        json!({
            "role": "assistant", "content": null, "refusal": null,
            "tool_calls": [
                {"id": "c2", "type": "function", "function": {"name": "show", "arguments": "{\"a\":1}"}},
                {"id": "c4", "type": "function", "function": {"name": "show", "arguments": "{}"}},
            ],
        })
    );
    assert_eq!(choice["finish_reason"], "tool_calls");
}

#[test]
fn a_refusal_is_written_to_its_own_field() {
    let choice =
        collected(collector(), &[text("I will not."), finish(FinishReason::Refusal)])["choices"][0].clone();
    assert_eq!(choice["message"], json!({"role": "assistant", "content": null, "refusal": "I will not."}));
    assert_eq!(choice["finish_reason"], "stop");
}

#[test]
fn reasoning_and_server_tools_are_reported_if_enabled() {
    let events = [
        RunEvent::ReasoningDelta { id: BlockId(0), delta: "Hm".into() },
        available("c1", "ping", &json!({"a": 1})),
        unusable("c2", "pong"),
        available("c3", "slow", &json!({})),
        output("c1", &json!(0), true),
        output("c1", &json!({"b": 2}), false),
        RunEvent::ToolError { call_id: "c3".into(), error_text: "no".into(), provider_executed: false },
        available("c5", "refund", &json!({})),
        RunEvent::ToolRefused { call_id: "c5".into(), reason: "not you".into() },
        text("Done"),
        finish(FinishReason::Stop),
    ];
    let whole = collected(collector().reasoning(true).server_tools(true), &events);
    assert_eq!(whole["choices"][0]["message"]["reasoning_content"], "Hm");
    assert_eq!(
        whole["omniassist"]["tools"],
        json!([
            {"id": "c1", "name": "ping", "input": {"a": 1}, "output": {"b": 2}},
            {"id": "c2", "name": "pong", "error": "It does not fit."},
            {"id": "c3", "name": "slow", "input": {}, "error": "no"},
            {"id": "c5", "name": "refund", "input": {}, "error": "not you"},
        ])
    );
    let plain = collected(collector(), &events);
    assert!(plain.get("omniassist").is_none());
    assert!(plain["choices"][0]["message"].get("reasoning_content").is_none());
    let nothing =
        collected(collector().reasoning(true).server_tools(true), &[text("Hi"), finish(FinishReason::Stop)]);
    assert!(nothing.get("omniassist").is_none(), "there is no server tool to report");
}

#[test]
fn a_completion_reports_that_a_server_tool_has_run() {
    let mut completion = collector();
    completion.apply(&available("c1", "ping", &json!({})));
    completion.apply(&output("c1", &json!(0), true));
    assert!(!completion.has_run_tools());
    completion.apply(&output("c1", &json!(0), false));
    assert!(completion.has_run_tools());
}

#[test]
fn failed_runs_have_a_status_and_a_code() {
    let failure = |event: Option<RunEvent>| {
        let mut completion = collector();
        event.iter().for_each(|event| completion.apply(event));
        let mut out = BytesMut::new();
        completion.write(&AnswerHead::new("i", 1, "m"), &mut out);
        assert_eq!(out.is_empty(), completion.failure().is_some());
        completion.failure().map(|error| (error.status, error.code))
    };
    assert_eq!(failure(Some(finish(FinishReason::Stop))), None);
    assert_eq!(failure(None), Some((500, "internal")), "a run without a terminal event has failed");
    assert_eq!(failure(Some(RunEvent::Abort { reason: "x".into() })), Some((503, "aborted")));
    assert_eq!(failure(Some(finish(FinishReason::Error))), Some((502, "provider_error")));
    let error = |code| Some(RunEvent::Error { code, message: "x".into() });
    for (code, status, word, retryable) in [
        (RunErrorCode::RateLimited, 429, "rate_limit_exceeded", true),
        (RunErrorCode::ProviderUnavailable, 503, "provider_unavailable", true),
        (RunErrorCode::Timeout, 504, "timeout", true),
        (RunErrorCode::StreamInterrupted, 502, "stream_interrupted", true),
        (RunErrorCode::ProviderError, 502, "provider_error", false),
        (RunErrorCode::ProviderAuth, 500, "provider_auth", false),
        (RunErrorCode::ContextOverflow, 400, "context_length_exceeded", false),
        (RunErrorCode::InvalidRequest, 400, "invalid_request", false),
        (RunErrorCode::MaxSteps, 500, "max_steps", false),
        (RunErrorCode::InvalidToolCalls, 502, "invalid_tool_calls", false),
        (RunErrorCode::InvalidAnswer, 502, "invalid_answer", false),
        (RunErrorCode::LimitExceeded, 500, "limit_exceeded", false),
        (RunErrorCode::Internal, 500, "internal", false),
        (RunErrorCode::ServerShutdown, 503, "server_shutdown", true),
        (RunErrorCode::TokenBudgetExceeded, 429, "token_budget_exceeded", false),
        (RunErrorCode::LimitsUnavailable, 503, "limits_unavailable", true),
    ] {
        assert_eq!(failure(error(code)), Some((status, word)));
        assert_eq!(ErrorObject::of(code).is_retryable, retryable, "{code}");
    }
}

#[test]
fn an_error_body_has_all_four_fields() {
    let mut out = BytesMut::new();
    error_body("No \"x\"", "invalid_request_error", Some("messages[0]"), None, &mut out);
    let body: Value = serde_json::from_slice(&out).unwrap();
    let expected =
        json!({"message": "No \"x\"", "type": "invalid_request_error", "param": "messages[0]", "code": null});
    assert_eq!(body, json!({ "error": expected }));
}
