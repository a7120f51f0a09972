//! Tests of streamed answers (`chat.completion.chunk`).

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::chat_completions::{AnswerHead, Completion, Encoder};
use omniassist_core::event::{BlockId, FinishReason, RunErrorCode};
use omniassist_core::{RunEvent, Text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{available, begins, finish, output, piece, text, tokens, unusable};
use crate::strategies;

fn head() -> AnswerHead {
    AnswerHead::new("chatcmpl-1", 1_700_000_000, "omniassist")
}

pub(super) fn encoder() -> Encoder {
    Encoder::new(&head(), ["show".into(), "hide".into()])
}

/// Returns the streamed chunks, and `true` if `[DONE]` ends them.
pub(super) fn stream(mut encoder: Encoder, events: &[RunEvent]) -> (Vec<Value>, bool) {
    let mut out = BytesMut::new();
    for event in events {
        encoder.encode(event, &mut out);
    }
    encoder.finish(&mut out);
    let text = std::str::from_utf8(&out).unwrap();
    assert!(text.is_empty() || text.ends_with("\n\n"));
    let mut data: Vec<&str> = text
        .split("\n\n")
        .filter(|block| !block.is_empty())
        .map(|block| block.strip_prefix("data: ").unwrap())
        .collect();
    let done = data.last() == Some(&"[DONE]");
    if done {
        data.pop();
    }
    (data.into_iter().map(|data| serde_json::from_str(data).unwrap()).collect(), done)
}

fn deltas(chunks: &[Value]) -> Vec<Value> {
    chunks.iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect()
}

/// Returns the message as assembled by the official clients.
fn assembled(chunks: &[Value]) -> (Map<String, Value>, Value) {
    let mut message = Map::new();
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let mut reason = Value::Null;
    for chunk in chunks {
        let Some(choice) = chunk["choices"].get(0) else { continue };
        assert_eq!(choice["index"], 0);
        if !choice["finish_reason"].is_null() {
            assert!(reason.is_null(), "only one chunk may have a finish reason");
            reason = choice["finish_reason"].clone();
        }
        let delta = choice["delta"].as_object().unwrap();
        for (key, value) in delta {
            match (key.as_str(), value) {
                ("tool_calls", Value::Array(pieces)) => {
                    for piece in pieces {
                        let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
                        if index == calls.len() {
                            assert_eq!(piece["type"], "function");
                            let name = piece["function"]["name"].as_str().unwrap().to_owned();
                            calls.push((piece["id"].as_str().unwrap().to_owned(), name, String::new()));
                        }
                        calls[index].2.push_str(piece["function"]["arguments"].as_str().unwrap());
                    }
                }
                (_, Value::String(more)) => match message.get_mut(key) {
                    Some(Value::String(known)) => known.push_str(more),
                    _ => drop(message.insert(key.clone(), more.as_str().into())),
                },
                (_, Value::Null) => drop(message.entry(key.clone()).or_insert(Value::Null)),
                _ => panic!("{delta:?}"),
            }
        }
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), json!(calls));
    }
    (message, reason)
}

#[test]
fn a_text_answer_is_streamed() {
    let events = [RunEvent::StepStart, text("Hel"), text("lo \"you\"\n"), finish(FinishReason::Stop)];
    let (chunks, done) = stream(encoder(), &events);
    assert!(done);
    assert_eq!(
        chunks[0],
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "omniassist",
            "choices": [{
                "index": 0, "delta": {"role": "assistant", "content": "", "refusal": null},
                "logprobs": null, "finish_reason": null,
            }],
        })
    );
    let rest = [json!({"content": "Hel"}), json!({"content": "lo \"you\"\n"}), json!({})];
    assert_eq!(deltas(&chunks[1..]), rest);
    assert_eq!(chunks[3]["choices"][0]["finish_reason"], "stop");
}

#[test]
fn nothing_is_sent_before_the_first_content() {
    let mut encoder = encoder().reasoning(false);
    let mut out = BytesMut::new();
    for event in [
        RunEvent::Start { message_id: "m".into(), metadata: None },
        RunEvent::StepStart,
        RunEvent::ReasoningDelta { id: BlockId(0), delta: "Hm".into() },
        begins("c1", "ping"),
        piece("c1", "{}"),
        available("c1", "ping", &json!({})),
        output("c1", &json!("pong"), false),
    ] {
        encoder.encode(&event, &mut out);
    }
    assert_eq!(out, "");
    encoder.finish(&mut out);
    assert_eq!(out, "", "a run without a terminal event must not end with `[DONE]`");
}

#[test]
fn the_texts_of_two_steps_become_one_content() {
    let events = [
        RunEvent::StepStart,
        text("Let me look."),
        begins("c1", "ping"),
        available("c1", "ping", &json!({})),
        output("c1", &json!("pong"), false),
        RunEvent::StepStart,
        text("It is"),
        text(" there."),
        finish(FinishReason::Stop),
    ];
    let (message, reason) = assembled(&stream(encoder(), &events).0);
    assert_eq!(message["content"], "Let me look.\n\nIt is there.");
    assert!(!message.contains_key("tool_calls") && reason == "stop");
}

#[test]
fn the_callers_calls_are_streamed() {
    let events = [
        RunEvent::StepStart,
        begins("c1", "show"),
        piece("c1", "{\"a\""),
        begins("c2", "ping"),
        piece("c2", "{}"),
        begins("c3", "hide"),
        piece("c3", "{\"b\":2}"),
        piece("c1", ":1}"),
        begins("c4", "hide"),
        unusable("c4", "hide"),
        available("c1", "show", &json!({"a": 1})),
        available("c2", "ping", &json!({})),
        available("c3", "hide", &json!({"b": 2})),
        output("c2", &json!("pong"), false),
        finish(FinishReason::ToolCalls),
    ];
    let (chunks, done) = stream(encoder(), &events);
    assert!(done);
    let call = |index: u32, fields: Value| json!({"tool_calls": [{"index": index, "function": fields}]});
    let begun = |index: u32, id: &str, name: &str| {
        let mut first = call(index, json!({"name": name, "arguments": ""}));
        first["tool_calls"][0]["id"] = id.into();
        first["tool_calls"][0]["type"] = "function".into();
        first
    };
    let expected = [
        json!({"role": "assistant", "content": null, "refusal": null}),
        begun(0, "c1", "show"),
        call(0, json!({"arguments": "{\"a\""})),
        call(0, json!({"arguments": ":1"})),
        call(0, json!({"arguments": "}"})),
        begun(1, "c3", "hide"),
        call(1, json!({"arguments": "{\"b\":2}"})),
        json!({}),
    ];
    assert_eq!(deltas(&chunks), expected, "each call must be complete before the next one begins");
    let (message, reason) = assembled(&chunks);
    assert_eq!(message["tool_calls"], json!([["c1", "show", "{\"a\":1}"], ["c3", "hide", "{\"b\":2}"]]));
    assert_eq!((&message["content"], reason), (&Value::Null, json!("tool_calls")));
}

#[test]
fn the_arguments_of_a_cancelled_call_do_not_parse() {
    let cut = [
        RunEvent::StepStart,
        begins("c1", "show"),
        piece("c1", "{\"a\":1}"),
        unusable("c1", "show"),
        finish(FinishReason::Length),
    ];
    let (message, reason) = assembled(&stream(encoder(), &cut).0);
    assert_eq!(message["tool_calls"], json!([["c1", "show", "{\"a\":1"]]));
    assert_eq!(reason, "length");

    let corrected = [
        RunEvent::StepStart,
        begins("c1", "show"),
        piece("c1", "{}"),
        unusable("c1", "show"),
        RunEvent::StepStart,
        begins("c2", "show"),
        piece("c2", "{\"a\":1}"),
        available("c2", "show", &json!({"a": 1})),
        finish(FinishReason::ToolCalls),
    ];
    let (message, reason) = assembled(&stream(encoder(), &corrected).0);
    assert_eq!(message["tool_calls"], json!([["c1", "show", "{"], ["c2", "show", "{\"a\":1}"]]));
    assert_eq!(reason, "tool_calls");
    let answered = [
        RunEvent::StepStart,
        begins("c1", "show"),
        unusable("c1", "show"),
        text("No."),
        finish(FinishReason::Stop),
    ];
    assert_eq!(assembled(&stream(encoder(), &answered).0).1, "stop");
}

#[test]
fn a_call_without_a_start_is_written_in_one_chunk() {
    let events =
        [RunEvent::StepStart, available("c1", "show", &json!({"a": "}"})), finish(FinishReason::ToolCalls)];
    let (message, _) = assembled(&stream(encoder(), &events).0);
    assert_eq!(message["tool_calls"], json!([["c1", "show", "{\"a\":\"}\"}"]]));
}

#[test]
fn provider_executed_calls_are_not_streamed_to_the_caller() {
    let provider = RunEvent::ToolInputAvailable {
        call_id: "c1".into(),
        name: "show".into(),
        input: omniassist_core::JsonText::EMPTY_OBJECT,
        provider_executed: true,
        metadata: None,
    };
    let (message, reason) = assembled(&stream(encoder(), &[provider, finish(FinishReason::Stop)]).0);
    assert!(!message.contains_key("tool_calls"));
    assert_eq!(reason, "stop");
}

#[test]
fn every_finish_reason_is_mapped() {
    for (reason, word) in [
        (FinishReason::Stop, "stop"),
        (FinishReason::ToolCalls, "stop"),
        (FinishReason::Length, "length"),
        (FinishReason::ContentFilter, "content_filter"),
        (FinishReason::Refusal, "content_filter"),
        (FinishReason::Other("pause".into()), "stop"),
    ] {
        let (chunks, done) = stream(encoder(), &[finish(reason.clone())]);
        assert!(done);
        assert_eq!(assembled(&chunks).1, word, "{reason:?}");
        assert_eq!(chunks.len(), 2, "the chunks must be a role and an end");
    }
}

#[test]
fn usage_is_reported_if_requested() {
    let mut usage = tokens(Some(10), Some(4));
    (usage.cached_input_tokens, usage.reasoning_tokens, usage.total_tokens) = (Some(3), Some(1), Some(15));
    let end = RunEvent::Finish { reason: FinishReason::Stop, usage };
    let (chunks, done) = stream(encoder().usage(true), &[text("Hi"), end.clone()]);
    assert!(done);
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(
        last["usage"],
        json!({
            "prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 1},
        })
    );
    for chunk in &chunks[..chunks.len() - 1] {
        assert_eq!(chunk.get("usage"), Some(&Value::Null), "other chunks must have a null usage");
    }
    let (chunks, _) = stream(encoder(), &[text("Hi"), end]);
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));

    let partly = RunEvent::Finish { reason: FinishReason::Stop, usage: tokens(Some(10), None) };
    let (chunks, _) = stream(encoder().usage(true), &[partly]);
    let expected = json!({"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 10});
    assert_eq!(chunks.last().unwrap()["usage"], expected);
    let (chunks, done) = stream(encoder().usage(true), &[finish(FinishReason::Stop)]);
    assert!(done && chunks.len() == 2, "unreported usage must be omitted: {chunks:?}");
}

#[test]
fn reasoning_is_reported_if_enabled() {
    let events = [
        RunEvent::ReasoningDelta { id: BlockId(0), delta: "Let me ".into() },
        RunEvent::ReasoningDelta { id: BlockId(0), delta: "think".into() },
        text("Hi"),
        finish(FinishReason::Stop),
    ];
    let (message, _) = assembled(&stream(encoder().reasoning(true), &events).0);
    assert_eq!((&message["reasoning_content"], &message["content"]), (&json!("Let me think"), &json!("Hi")));
    assert!(!assembled(&stream(encoder(), &events).0).0.contains_key("reasoning_content"));
}

#[test]
fn server_tools_are_reported_if_enabled() {
    let events = [
        RunEvent::StepStart,
        begins("c1", "ping"),
        piece("c1", "{\"a\":1}"),
        available("c1", "ping", &json!({"a": 1})),
        unusable("c2", "pong"),
        available("c3", "slow", &json!({})),
        output("c1", &json!({"half": 1}), true),
        output("c1", &json!({"whole": 2}), false),
        RunEvent::ToolError { call_id: "c3".into(), error_text: "no".into(), provider_executed: false },
        available("c5", "refund", &json!({})),
        RunEvent::ToolRefused { call_id: "c5".into(), reason: "not you".into() },
        text("Done"),
        finish(FinishReason::Stop),
    ];
    let (chunks, _) = stream(encoder().server_tools(true), &events);
    let told: Vec<&Value> = chunks.iter().filter_map(|chunk| chunk.get("omniassist")).collect();
    let expected = [
        json!({"tool": {"id": "c1", "name": "ping", "input": {"a": 1}}}),
        json!({"tool": {"id": "c2", "name": "pong", "error": "It does not fit."}}),
        json!({"tool": {"id": "c3", "name": "slow", "input": {}}}),
        json!({"tool": {"id": "c1", "output": {"half": 1}, "preliminary": true}}),
        json!({"tool": {"id": "c1", "output": {"whole": 2}}}),
        json!({"tool": {"id": "c3", "error": "no"}}),
        json!({"tool": {"id": "c5", "name": "refund", "input": {}}}),
        json!({"tool": {"id": "c5", "error": "not you"}}),
    ];
    assert_eq!(told, expected.iter().collect::<Vec<_>>());
    for chunk in chunks.iter().filter(|chunk| chunk.get("omniassist").is_some()) {
        assert_eq!(chunk["choices"][0]["delta"], json!({}), "every chunk must have a choice");
    }
    assert_eq!(assembled(&chunks).0["content"], "Done");
    let (chunks, _) = stream(encoder(), &events);
    assert!(!format!("{chunks:?}").contains("omniassist\":"));
    assert!(chunks.iter().all(|chunk| chunk.get("omniassist").is_none()));
}

#[test]
fn a_failed_run_ends_with_an_error_and_without_done() {
    for (event, code) in [
        (RunEvent::Error { code: RunErrorCode::RateLimited, message: "x".into() }, "rate_limit_exceeded"),
        (
            RunEvent::Error { code: RunErrorCode::ContextOverflow, message: "x".into() },
            "context_length_exceeded",
        ),
        (RunEvent::Abort { reason: "secret".into() }, "aborted"),
        (finish(FinishReason::Error), "provider_error"),
    ] {
        let (chunks, done) = stream(encoder(), &[text("Half"), event]);
        assert!(!done);
        let error = &chunks.last().unwrap()["error"];
        assert_eq!(error["code"], code);
        assert!(error["message"].as_str().unwrap().len() > 10 && error["type"].is_string());
        assert_eq!(error.get("param"), Some(&Value::Null));
        assert!(!chunks.last().unwrap().to_string().contains("secret"));
    }
}

#[test]
fn ids_and_models_are_written_as_json() {
    let head = AnswerHead::new("id\"\n", 1, "mod\"el");
    let (chunks, _) = stream(Encoder::new(&head, []), &[text("Hi")]);
    assert_eq!((&chunks[0]["id"], &chunks[0]["model"]), (&json!("id\"\n"), &json!("mod\"el")));
}

proptest! {
    #[test]
    fn a_stream_and_a_complete_answer_are_equal(events in strategies::run(), reasoning: bool, server_tools: bool) {
        let names: Vec<Text> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::ToolInputStart { name, .. } => Some(name.clone()),
                _ => None,
            })
            .step_by(2)
            .collect();
        let encoder = Encoder::new(&head(), names.clone()).reasoning(reasoning).server_tools(server_tools).usage(true);
        let (chunks, done) = stream(encoder, &events);
        let mut completion = Completion::new(names).reasoning(reasoning).server_tools(server_tools);
        for event in &events {
            completion.apply(event);
        }
        let mut out = BytesMut::new();
        completion.write(&head(), &mut out);
        prop_assert_eq!(done, completion.failure().is_none());
        if !done {
            prop_assert!(out.is_empty());
            let error = &chunks.last().unwrap()["error"];
            prop_assert_eq!(&error["code"], completion.failure().unwrap().code);
            return Ok(());
        }
        let whole: Value = serde_json::from_slice(&out).unwrap();
        let (message, reason) = assembled(&chunks);
        let choice = &whole["choices"][0];
        let refused = matches!(events.last(), Some(RunEvent::Finish { reason: FinishReason::Refusal, .. }));
        if refused {
            prop_assert_eq!(&choice["message"]["refusal"], message["content"].as_str().unwrap_or(""));
            prop_assert_eq!(&choice["finish_reason"], "stop");
        } else {
            let content = choice["message"]["content"].as_str().unwrap_or("");
            prop_assert_eq!(content, message["content"].as_str().unwrap_or(""));
            prop_assert_eq!(&choice["finish_reason"], &reason);
        }
        let thought = choice["message"]["reasoning_content"].as_str().unwrap_or("");
        prop_assert_eq!(thought, message.get("reasoning_content").and_then(Value::as_str).unwrap_or(""));
        let usage = chunks.last().unwrap().get("usage").filter(|usage| !usage.is_null());
        prop_assert_eq!(whole.get("usage"), usage);
        let streamed: Vec<&str> = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().filter_map(|call| call[0].as_str()).collect();
        for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
            prop_assert!(streamed.contains(&call["id"].as_str().unwrap()));
        }
    }
}
