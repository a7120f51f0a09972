//! Tests of the Chat Completions decoder with handwritten streams.

use omniassist_server::ProviderErrorKind;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::{EventBuf, FinishReason, Limits, LlmEvent, Text};
use omniassist_server::provider::WireDecoder;
use omniassist_server::provider::openai::ChatDecoder;
use serde_json::{Value, json};

use super::harness::{Api, decode, whole};
use super::streams::{chat, chat_done, chat_interleaved, delta, finish, tool};
use crate::recordings::{Said, fold};

fn said(bytes: &[u8]) -> Said {
    let decoded = whole(Api::Chat, bytes);
    assert!(decoded.end.is_ok(), "{:?}", decoded.end);
    assert_eq!(decode(Api::Chat, bytes.chunks(1)).events, decoded.events);
    fold(&decoded.events)
}

/// Returns the id, the name and the final arguments of each call.
fn calls(said: &Said) -> Vec<(&str, &str, Option<&str>)> {
    said.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.ended.as_deref())).collect()
}

fn of_chunks(chunks: &[Value]) -> Said {
    said(&chat_done(chunks))
}

#[test]
fn tags_at_the_beginning_of_a_text_mark_reasoning() {
    let read = |pieces: &[&str]| {
        let chunks = pieces.iter().map(|piece| delta(json!({ "content": piece })));
        let said = of_chunks(&chunks.chain([finish("stop")]).collect::<Vec<_>>());
        (said.reasoning, said.text)
    };
    let whole = "\n<think>\nHm, <b>.</b>\n</think>\n\nHello <think>";
    let letters: Vec<&str> = whole.split_inclusive(|_: char| true).collect();
    for pieces in
        [&[whole][..], &letters, &["<thi", "nk>", "Hm, <b>.</b>\n</", "think>", "\n", "Hello <think>"]]
    {
        assert_eq!(read(pieces), ("Hm, <b>.</b>\n".to_owned(), "Hello <think>".to_owned()), "{pieces:?}");
    }
    for (pieces, reasoning, text) in [
        // A model that was told not to think.
        (&["<think>\n\n</think>\n\nHello"][..], "", "Hello"),
        (&["<think>", "Hm.</th"], "Hm.</th", ""),
        (&[" <think", "er>"], "", " <thinker>"),
        (&["a <think>b</think>"], "", "a <think>b</think>"),
        (&["\n ", "\n"], "", "\n \n"),
    ] {
        assert_eq!(read(pieces), (reasoning.to_owned(), text.to_owned()), "{pieces:?}");
    }
    let call = tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}));
    let calling = [delta(json!({"content": "\n"})), call, finish("tool_calls")];
    let events = super::harness::whole(Api::Chat, &chat_done(&calling)).events;
    let said = events.iter().position(|event| matches!(event, LlmEvent::TextDelta { .. }));
    assert!(said < events.iter().position(|event| matches!(event, LlmEvent::ToolCallStart { .. })));
    assert!(said.is_some());
}

#[test]
fn interleaved_calls_are_kept_apart_by_index() {
    let said = said(&chat_interleaved());
    assert_eq!(
        calls(&said),
        [
            ("call_a", "weather", Some("{\"city\":\"Zürich\"}")),
            ("call_b", "time", Some("{\"zone\":\"CET\"}")),
        ]
    );
    assert_eq!(said.finish, Some((FinishReason::ToolCalls, Some("tool_calls".to_owned()), false)));
    assert_eq!(said.usage.unwrap().total_tokens, Some(12));
}

#[test]
fn calls_on_one_index_begin_with_a_new_id_and_name() {
    let said = of_chunks(&[
        tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{\"n\":1}"}})),
        tool(json!({"index": 0, "id": "b", "function": {"name": "weather", "arguments": ""}})),
        // The rest of the arguments has another index.
        tool(json!({"index": 1, "function": {"arguments": "{\"n\":2}"}})),
        finish("stop"),
    ]);
    assert_eq!(calls(&said), [("a", "weather", Some("{\"n\":1}")), ("b", "weather", Some("{\"n\":2}"))]);
}

#[test]
fn missing_ids_are_generated_and_late_ids_are_used() {
    let said = of_chunks(&[
        tool(json!({"index": 0, "id": null, "function": {"name": "weather", "arguments": "{"}})),
        tool(json!({"index": 0, "id": "", "function": {"name": null, "arguments": "}"}})),
        tool(json!({"index": 1, "function": {"name": "time"}})),
        tool(json!({"index": 1, "id": "late", "function": {"arguments": ""}})),
        tool(json!({"index": 1, "function": {"arguments": "{}"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(calls(&said), [("call_test_0", "weather", Some("{}")), ("late", "time", Some("{}"))]);
}

#[test]
fn repeated_ids_and_names_start_no_second_call() {
    let piece = |arguments: &str| {
        tool(
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "weather", "arguments": arguments}}),
        )
    };
    let with_ids = of_chunks(&[piece("{\"n\""), piece(":1}"), piece(""), finish("tool_calls")]);
    assert_eq!(calls(&with_ids), [("a", "weather", Some("{\"n\":1}"))]);

    let piece =
        |arguments: &str| tool(json!({"index": 0, "function": {"name": "weather", "arguments": arguments}}));
    let without = of_chunks(&[piece(""), piece("{\"n\""), piece(":1}"), piece(""), finish("tool_calls")]);
    assert_eq!(calls(&without), [("call_test_0", "weather", Some("{\"n\":1}"))]);
    // A second complete call without an id is another call.
    let twice = of_chunks(&[piece("{\"n\":1}"), piece("{\"n\":2}"), finish("tool_calls")]);
    assert_eq!(twice.calls.len(), 2);
}

#[test]
fn an_id_that_changes_within_an_index_starts_no_second_call() {
    let said = of_chunks(&[
        tool(json!({"index": 0, "id": "a1", "function": {"name": "weather", "arguments": "{\"n\""}})),
        tool(json!({"index": 0, "id": "a2", "function": {"arguments": ":1}"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(calls(&said), [("a1", "weather", Some("{\"n\":1}"))]);
}

#[test]
fn a_repeated_id_of_another_call_is_replaced() {
    let said = of_chunks(&[
        tool(json!({"index": 0, "id": "x", "function": {"name": "weather", "arguments": "{}"}})),
        tool(json!({"index": 1, "id": "x", "function": {"name": "weather", "arguments": "{}"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(calls(&said), [("x", "weather", Some("{}")), ("call_test_1", "weather", Some("{}"))]);
}

#[test]
fn calls_without_an_index() {
    let said = of_chunks(&[
        delta(json!({"tool_calls": [
            {"id": "a", "function": {"name": "weather", "arguments": {"city": "Bern"}}},
            {"id": "b", "function": {"name": "time", "arguments": "{}"}},
        ]})),
        tool(json!({"function": {"name": "third"}})),
        tool(json!({"function": {"arguments": "{\"n\":3}"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(
        calls(&said),
        [
            ("a", "weather", Some("{\"city\":\"Bern\"}")),
            ("b", "time", Some("{}")),
            ("call_test_2", "third", Some("{\"n\":3}")),
        ]
    );
}

#[test]
fn legacy_function_calls_and_custom_calls() {
    let said = of_chunks(&[
        delta(json!({"function_call": {"name": "weather", "arguments": "{"}})),
        delta(json!({"function_call": {"arguments": "}"}})),
        finish("function_call"),
    ]);
    assert_eq!(calls(&said), [("call_test_0", "weather", Some("{}"))]);
    assert_eq!(said.finish.unwrap().0, FinishReason::ToolCalls);
    let custom = of_chunks(&[
        tool(json!({"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": "select"}})),
        tool(json!({"index": 0, "custom": {"input": " 1"}})),
        finish("tool_calls"),
    ]);
    assert_eq!(calls(&custom), [("c", "sql", Some("select 1"))]);
    assert_eq!(custom.calls[0].kind, CallKind::Custom);
}

#[test]
fn a_cut_drops_the_last_call_for_each_finish_reason() {
    let first = tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}));
    let second =
        tool(json!({"index": 1, "id": "b", "function": {"name": "report", "arguments": "{\"t\":1}"}}));
    for (reason, native, truncated) in [
        ("length", Value::Null, true),
        ("content_filter", Value::Null, true),
        ("error", Value::Null, true),
        ("tool_calls", json!("max_output_tokens"), true),
        ("tool_calls", json!("MAX_TOKENS"), true),
        ("insufficient_system_resource", Value::Null, true),
        ("brand_new", Value::Null, false),
    ] {
        let mut end = finish(reason);
        end["choices"][0]["native_finish_reason"] = native;
        let said = of_chunks(&[first.clone(), second.clone(), end]);
        assert_eq!(calls(&said), [("a", "weather", Some("{}")), ("b", "report", None)], "{reason}");
        assert_eq!(said.finish.unwrap().2, truncated, "{reason}");
    }
    // The reason for the cut can arrive in a second finish, after a finish without it.
    let mut late = finish("tool_calls");
    late["choices"][0]["native_finish_reason"] = json!("length");
    let said = of_chunks(&[first, second, finish("tool_calls"), late]);
    assert_eq!(said.calls[1].ended, None);
}

#[test]
fn the_finish_reason_and_the_calls_can_disagree() {
    let call = tool(json!({"index": 0, "id": "a", "function": {"name": "weather"}}));
    let stop = of_chunks(&[call, finish("stop"), finish(""), finish("stop")]);
    assert_eq!(calls(&stop), [("a", "weather", Some(""))]);
    assert_eq!(stop.finish.unwrap().0, FinishReason::Stop);
    let none = of_chunks(&[delta(json!({"content": "x"})), finish("tool_calls")]);
    assert_eq!(none.finish.unwrap(), (FinishReason::Stop, Some("tool_calls".to_owned()), false));
}

/// Some gateways pass on the finish reason of another API.
#[test]
fn a_finish_reason_in_another_spelling_keeps_the_call() {
    let call = tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"}}));
    for (word, reason) in [
        ("STOP", FinishReason::Stop),
        ("tool-calls", FinishReason::ToolCalls),
        ("TOOL_CALLS", FinishReason::ToolCalls),
        ("End_Turn", FinishReason::Stop),
    ] {
        let said = of_chunks(&[call.clone(), finish(word)]);
        assert_eq!(calls(&said), [("a", "weather", Some("{}"))], "{word}");
        assert_eq!(said.finish.unwrap(), (reason, Some(word.to_owned()), false));
    }
    let said = of_chunks(&[delta(json!({"content": "x"})), finish("MAX-TOKENS")]);
    assert_eq!(said.finish.unwrap(), (FinishReason::Length, Some("MAX-TOKENS".to_owned()), true));
}

#[test]
fn a_refusal_is_the_reason_of_its_finish() {
    let refused = delta(json!({"refusal": "No."}));
    assert_eq!(of_chunks(&[refused.clone(), finish("stop")]).finish.unwrap().0, FinishReason::Refusal);
    assert_eq!(of_chunks(&[refused, finish("length")]).finish.unwrap().0, FinishReason::Length);
    let empty = delta(json!({"content": "Yes.", "refusal": ""}));
    assert_eq!(of_chunks(&[empty, finish("stop")]).finish.unwrap().0, FinishReason::Stop);
}

/// xAI reports 26 tokens of output and 196 of reasoning, with a total that includes both.
#[test]
fn reasoning_beside_the_output_is_a_part_of_it() {
    let usage = |reasoning: u64, total: u64| {
        let counts = json!({"prompt_tokens": 291, "completion_tokens": 26, "total_tokens": total,
                            "completion_tokens_details": {"reasoning_tokens": reasoning}});
        of_chunks(&[finish("stop"), json!({"choices": [], "usage": counts})]).usage.unwrap()
    };
    assert_eq!(usage(196, 513).output_tokens, Some(222));
    assert_eq!(usage(20, 317).output_tokens, Some(26));
    assert_eq!(usage(0, 317).output_tokens, Some(26));
}

/// xAI, Perplexity and vLLM can report the counts so far in each chunk.
#[test]
fn counts_that_a_server_repeats_are_sent_before_the_end_if_they_have_grown() {
    let chunk = |tokens: u64| {
        let mut chunk = delta(json!({"content": "a"}));
        chunk["usage"] = json!({"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens});
        chunk
    };
    let wire = chat(&(0..200).map(chunk).collect::<Vec<_>>());
    let events = whole(Api::Chat, &wire).events;
    let sent = |event: &LlmEvent| match event {
        LlmEvent::Usage(usage) => usage.output_tokens,
        _ => None,
    };
    // The answer breaks off, so the last counts are those before the error.
    assert_eq!(events.iter().filter_map(sent).collect::<Vec<_>>(), [0, 65, 130, 195, 199]);
    let nothing = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
    let mut zero = delta(json!({"content": "a"}));
    zero["usage"] = nothing;
    let events = whole(Api::Chat, &chat_done(&[zero, finish("stop")])).events;
    let at = |is: fn(&LlmEvent) -> bool| events.iter().position(is).unwrap();
    let text = at(|event| matches!(event, LlmEvent::TextDelta { .. }));
    assert!(at(|event| matches!(event, LlmEvent::Usage(_))) > text, "zeros replace no estimate");
}

#[test]
fn a_flat_payload_of_an_error_event_is_an_error() {
    let text = delta(json!({"content": "Hal"}));
    let mut bytes = chat(std::slice::from_ref(&text));
    bytes.extend_from_slice(b"event: error\ndata: {\"message\":\"m\",\"code\":429}\n\n");
    bytes.extend_from_slice(&chat_done(&[finish("stop")]));
    let decoded = whole(Api::Chat, &bytes);
    assert_eq!(decoded.end.unwrap_err().provider_kind(), Some(ProviderErrorKind::RateLimited));
    assert_eq!(fold(&decoded.events).text, "Hal");
    // The name alone does not make an error of a chunk with content.
    let named = format!("event: error\ndata: {text}\n\n").into_bytes();
    assert_eq!(said(&[named, chat_done(&[finish("stop")])].concat()).text, "Hal");
}

#[test]
fn reasoning_of_each_field_is_emitted_once() {
    for part in [
        json!({"reasoning_content": "think"}),
        json!({"reasoning": "think", "reasoning_details": [{"type": "reasoning.text", "text": "think"}]}),
        json!({"reasoning_content": "think", "reasoning": "think"}),
        json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "think"}]}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "think"}]}]}),
    ] {
        let said = of_chunks(&[
            delta(json!({"role": "assistant", "content": ""})),
            delta(part.clone()),
            delta(json!({"content": "say", "reasoning_content": null, "reasoning": ""})),
            finish("stop"),
        ]);
        assert_eq!((said.reasoning.as_str(), said.text.as_str()), ("think", "say"), "{part}");
    }
}

#[test]
fn refusals_usage_of_other_fields_and_other_choices() {
    let said = of_chunks(&[
        json!({"id": "", "choices": [], "prompt_filter_results": []}),
        json!({"choices": [{"index": 1, "delta": {"content": "other"}}, {"index": 0, "delta": {"refusal": "No."}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 1}}], "usage": null}),
        json!({"choices": [], "x_groq": {"usage": {"prompt_tokens": 2, "completion_tokens": 0}}}),
    ]);
    assert_eq!((said.refusal.as_str(), said.text.as_str()), ("No.", ""));
    let usage = said.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (Some(2), Some(0), None));
}

#[test]
fn the_model_is_read_from_the_first_chunk_of_the_answer() {
    let filters = json!({"id": "", "model": "", "choices": [], "prompt_filter_results": []});
    let mut first = delta(json!({"role": "assistant", "content": "Hi"}));
    (first["id"], first["model"]) = (json!("c1"), json!("gpt-4.1-mini-2025-04-14"));
    let events = whole(Api::Chat, &chat_done(&[filters, first, finish("stop")])).events;
    let starts = events.into_iter().filter(|event| matches!(event, LlmEvent::Start { .. }));
    assert_eq!(
        starts.collect::<Vec<_>>(),
        [LlmEvent::Start { id: Some("c1".into()), model: Some("gpt-4.1-mini-2025-04-14".into()) }]
    );
}

#[test]
fn provider_state_stays_with_its_call() {
    let bytes = chat_done(&[
        tool(json!({"index": 0, "id": "a", "function": {"name": "weather", "arguments": "{}"},
                    "extra_content": {"google": {"thought_signature": "sig+/=="}}})),
        finish("tool_calls"),
    ]);
    let state = whole(Api::Chat, &bytes).events.into_iter().find_map(|event| match event {
        LlmEvent::ToolCallEnd { metadata, .. } => metadata,
        _ => None,
    });
    assert_eq!(
        json!(state),
        json!({"openai": {"extraContent": {"google": {"thought_signature": "sig+/=="}}}})
    );
}

#[test]
fn cache_tokens_are_read_from_the_fields_of_each_server() {
    for (counts, cached, written) in [
        (json!({"prompt_tokens": 9}), None, None),
        (json!({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}), Some(4), None),
        (
            json!({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}}),
            Some(4),
            Some(3),
        ),
        (
            json!({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 5}),
            Some(4),
            None,
        ),
        (json!({"prompt_tokens": 9, "cached_tokens": 4}), Some(4), None),
    ] {
        let said = of_chunks(&[finish("stop"), json!({"choices": [], "usage": counts})]);
        let usage = said.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.cached_input_tokens), (Some(9), cached), "{counts}");
        assert_eq!(usage.cache_write_input_tokens, written, "{counts}");
    }
}

#[test]
fn errors_in_the_stream_in_every_shape() {
    use ProviderErrorKind::{RateLimited, Response, Unavailable};
    for (chunk, kind) in [
        (json!({"error": {"message": "m", "code": 429}}), RateLimited),
        (
            json!({"error": {"message": "m", "code": "502"}, "choices": [{"delta": {}, "finish_reason": "error"}]}),
            Unavailable,
        ),
        (json!({"error": {"message": "m", "type": "server_error", "code": null}}), Unavailable),
        (json!({"error": "boom"}), Response),
        (json!({"object": "error", "message": "m", "code": 503}), Unavailable),
        (
            json!({"choices": [{"index": 0, "delta": {}, "error": {"code": 429, "message": "m"}}]}),
            RateLimited,
        ),
    ] {
        let decoded = whole(Api::Chat, &chat_done(&[delta(json!({"content": "Hal"})), chunk.clone()]));
        assert_eq!(decoded.end.unwrap_err().provider_kind(), Some(kind), "{chunk}");
        let said = fold(&decoded.events);
        assert_eq!((said.text.as_str(), said.finish), ("Hal", None));
    }
}

#[test]
fn a_body_without_an_event_stream_is_an_error() {
    let cases: [(&[u8], ProviderErrorKind); 5] = [
        (
            br#" {"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#,
            ProviderErrorKind::Unavailable,
        ),
        (br#"{"choices":[{"message":{"content":"whole"}}]}"#, ProviderErrorKind::Protocol),
        (br#"{"error":{"mess"#, ProviderErrorKind::Interrupted),
        (b"<html>sign in</html>", ProviderErrorKind::Protocol),
        (b"", ProviderErrorKind::Interrupted),
    ];
    for (body, kind) in cases {
        for chunks in [vec![body], body.chunks(1).collect()] {
            let decoded = decode(Api::Chat, chunks);
            assert_eq!(
                decoded.end.unwrap_err().provider_kind(),
                Some(kind),
                "{}",
                String::from_utf8_lossy(body)
            );
        }
    }
}

#[test]
fn a_stream_needs_a_finish_reason_but_no_done() {
    let text = [delta(json!({"content": "Hal"}))];
    assert_eq!(
        whole(Api::Chat, &chat_done(&text)).end.unwrap_err().provider_kind(),
        Some(ProviderErrorKind::Interrupted)
    );
    let ended = [text[0].clone(), finish("stop")];
    assert!(said(&chat(&ended)).finish.is_some());
    // The last event is accepted without its blank line if it is complete.
    let bytes = chat(&ended);
    let bytes = bytes.trim_ascii_end();
    assert!(whole(Api::Chat, bytes).end.is_ok());
    let cut = whole(Api::Chat, &bytes[..bytes.len() - 1]);
    assert_eq!(cut.end.unwrap_err().provider_kind(), Some(ProviderErrorKind::Interrupted));
}

/// Covers the arguments that Llama models of Groq send for tools without parameters. The run reads them as `{}`.
#[test]
fn calls_without_arguments_are_passed_on() {
    for (sent, carried) in [(json!(null), ""), (json!("null"), "null"), (json!(""), ""), (json!({}), "{}")] {
        let call = tool(
            json!({"index": 0, "id": "a", "type": "function", "function": {"name": "now", "arguments": sent}}),
        );
        assert_eq!(calls(&of_chunks(&[call, finish("tool_calls")])), [("a", "now", Some(carried))], "{sent}");
    }
    let call = tool(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "now"}}));
    assert_eq!(calls(&of_chunks(&[call, finish("tool_calls")])), [("a", "now", Some(""))]);
}

#[test]
fn free_text_calls_are_passed_on() {
    let call =
        tool(json!({"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls {"}}));
    assert_eq!(calls(&of_chunks(&[call, finish("tool_calls")])), [("a", "sh", Some("ls {"))]);
}

#[test]
fn arguments_are_bounded() {
    use omniassist_server::core::{EventBuf, Limits};
    use omniassist_server::provider::WireDecoder;
    use omniassist_server::provider::openai::ChatDecoder;
    let mut limits = Limits::default();
    limits.max_tool_args_bytes = 8;
    for (length, fits) in [(8, true), (9, false)] {
        let arguments = "1".repeat(length);
        let bytes =
            chat(&[tool(json!({"index": 0, "id": "a", "function": {"name": "n", "arguments": arguments}}))]);
        let mut decoder = ChatDecoder::new(&limits, "x");
        let fed = decoder.feed(bytes.into(), &mut EventBuf::new());
        assert_eq!(fed.is_ok(), fits, "{length}");
        if let Err(error) = fed {
            assert_eq!(error.provider_kind(), Some(ProviderErrorKind::TooLarge));
        }
    }
}

#[test]
fn a_failed_decoder_stays_failed() {
    let limited = json!({"error": {"type": "rate_limit_error", "message": "slow down"}});
    let bytes = chat_done(&[delta(json!({"content": "a"})), limited, delta(json!({"content": "b"}))]);
    let mut decoder = Api::Chat.decoder();
    let mut events = EventBuf::new();
    let kind = Some(ProviderErrorKind::RateLimited);
    assert_eq!(decoder.feed(bytes.into(), &mut events).unwrap_err().provider_kind(), kind);
    assert_eq!(events.drain().filter(|event| matches!(event, LlmEvent::TextDelta { .. })).count(), 1);
    assert_eq!(decoder.feed(chat_interleaved().into(), &mut events).unwrap_err().provider_kind(), kind);
    assert_eq!(decoder.finish(&mut events).unwrap_err().provider_kind(), kind);
    assert!(events.is_empty());
}

/// Includes a form feed, which is not white space in JSON.
#[test]
fn white_space_before_a_json_body_is_dropped_in_any_chunking() {
    let limited = br#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#;
    for (rest, kind) in [
        (&br#"{"t:"#[..], ProviderErrorKind::Interrupted),
        (br#"{"t":x}"#, ProviderErrorKind::Protocol),
        (limited, ProviderErrorKind::RateLimited),
    ] {
        for blank in ["", " \r\n", "\x0c", "\n \x0c\t        "] {
            let body = [blank.as_bytes(), rest].concat();
            for chunk in [1, 2, blank.len() + 1, body.len()] {
                let error = decode(Api::Chat, body.chunks(chunk)).end.unwrap_err();
                assert_eq!(error.provider_kind(), Some(kind), "{blank:?} by {chunk}");
            }
        }
    }
}

#[test]
fn values_of_an_unexpected_type_count_as_absent() {
    for wrong in [json!(null), json!({}), json!([[1], {}]), json!(true), json!(-1.5)] {
        let said = of_chunks(&[
            json!({"id": wrong, "model": wrong, "citations": wrong, "usage": null,
                   "choices": [null, {"index": wrong, "delta": {"content": "Hi", "refusal": wrong}}]}),
            tool(json!({"index": wrong, "id": "a", "function": {"name": "weather", "arguments": {"a": 1}}})),
            finish("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": wrong, "completion_tokens": 3.0, "total_tokens": "4"}}),
        ]);
        assert_eq!(
            (said.text.as_str(), calls(&said)),
            ("Hi", vec![("a", "weather", Some("{\"a\":1}"))]),
            "{wrong}"
        );
        let usage = said.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (None, Some(3), Some(4)));
    }
    let numbers = of_chunks(&[
        delta(json!({"content": 7})),
        delta(json!({"content": [null, {"text": "x"}]})),
        finish("stop"),
    ]);
    assert_eq!(numbers.text, "7x");
}

#[test]
fn text_without_escapes_shares_the_memory_of_the_chunk() {
    let chunk =
        bytes::Bytes::from(chat(&[delta(json!({"content": "plain"})), delta(json!({"content": "a\nb"}))]));
    let mut decoder = ChatDecoder::new(&Limits::default(), "m1");
    let mut events = EventBuf::new();
    decoder.feed(chunk.clone(), &mut events).unwrap();
    let texts: Vec<Text> = events
        .drain()
        .filter_map(|event| match event {
            LlmEvent::TextDelta { delta, .. } => Some(delta),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["plain", "a\nb"]);
    let lies_within = |text: &Text| chunk.as_ptr_range().contains(&text.as_bytes().as_ptr());
    assert_eq!(texts.iter().map(lies_within).collect::<Vec<_>>(), [true, false]);
}
