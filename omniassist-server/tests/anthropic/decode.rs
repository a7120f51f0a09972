//! Tests of the Anthropic decoder with handwritten streams.

use omniassist_server::ProviderErrorKind::{
    self, ContextOverflow, Interrupted, Protocol, RateLimited, Response, Timeout, TooLarge, Unavailable,
};
use omniassist_server::core::event::Source;
use omniassist_server::core::{FinishReason, LlmEvent};
use serde_json::{Value, json};

use super::streams::{
    REDACTED, SIGNATURE, call, cut_second_call, delta, ended, input, interleaved_calls, opened, spliced,
    start, stopped, text, thinking_and_calls, tool, wire,
};
use super::{decoder, whole};
use crate::recordings::{Said, check_chunkings, check_cuts, fold};

/// Returns the content of a healthy stream, in every chunking.
fn said(bytes: &[u8]) -> Said {
    check_chunkings("a handwritten stream", decoder, bytes);
    let decoded = whole(bytes);
    decoded.end.unwrap();
    fold(&decoded.events)
}

/// Returns a message with these events between its start and its end.
fn message(events: impl IntoIterator<Item = Value>, reason: &str) -> Vec<u8> {
    let mut all = vec![start("msg_1", json!([]))];
    all.extend(events);
    all.extend(ended(reason));
    wire(&all)
}

fn failure(bytes: &[u8]) -> (ProviderErrorKind, Option<String>) {
    let decoded = whole(bytes);
    assert!(!decoded.events.iter().any(|event| matches!(event, LlmEvent::Finish { .. })));
    let error = decoded.end.unwrap_err();
    (error.provider_kind().unwrap(), error.code().map(str::to_owned))
}

#[test]
fn thinking_text_and_calls() {
    let bytes = thinking_and_calls();
    let said = said(&bytes);
    assert_eq!(said.reasoning, "First \"thought\"\nwith é and 🦀.");
    assert_eq!(said.text, "Let me look.");
    let calls: Vec<_> = said
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.name.as_str(), call.ended.as_deref().unwrap()))
        .collect();
    assert_eq!(calls, [("toolu_a", "weather", "{\"city\":\"Zürich\"}"), ("toolu_b", "time", "{}")]);
    assert_eq!(said.runnable(), [true, true]);
    assert_eq!(said.finish, Some((FinishReason::ToolCalls, Some("tool_use".to_owned()), false)));
    let usage = said.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(114), Some(100), Some(25), Some(139))
    );
    assert_eq!((usage.cache_write_input_tokens, usage.reasoning_tokens), (Some(4), None));

    let events = whole(&bytes).events;
    let states: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::ReasoningEnd { metadata, .. } => metadata.as_ref().map(|state| json!(state)),
            _ => None,
        })
        .collect();
    assert_eq!(
        states,
        [json!({"anthropic": {"signature": SIGNATURE}}), json!({"anthropic": {"redactedData": REDACTED}})]
    );
    assert!(matches!(&events[0], LlmEvent::Start { id: Some(id), model: Some(model) }
        if *id == "msg_1" && *model == "claude-test"));
}

#[test]
fn thinking_that_is_not_shown_keeps_its_signature() {
    let decoded = whole(&message(
        [
            opened(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "signature_delta", "signature": SIGNATURE})),
            stopped(0),
        ],
        "end_turn",
    ));
    let state = decoded.events.iter().find_map(|event| match event {
        LlmEvent::ReasoningEnd { metadata, .. } => metadata.clone(),
        _ => None,
    });
    assert_eq!(state.unwrap()["anthropic"]["signature"], SIGNATURE);
}

#[test]
fn a_cut_drops_the_last_call_and_keeps_the_others() {
    let cut = said(&cut_second_call());
    assert_eq!(cut.runnable(), [true, false]);
    assert_eq!(cut.calls[1].ended, None);
    assert_eq!(cut.finish, Some((FinishReason::Length, Some("max_tokens".to_owned()), true)));
    for reason in ["model_context_window_exceeded", "refusal"] {
        let bytes = message(call(0, "toolu_a", "{}"), reason);
        assert_eq!(said(&bytes).runnable(), [false], "{reason}");
    }
}

#[test]
fn no_cut_completes_a_call() {
    let streams = [thinking_and_calls(), cut_second_call(), interleaved_calls(), spliced()];
    let cuts: usize = streams.iter().map(|bytes| check_cuts("a handwritten stream", decoder, bytes)).sum();
    eprintln!("{cuts} cuts");
    assert!(cuts > 4_000);
}

#[test]
fn each_stop_reason_maps_to_a_finish_reason() {
    for (word, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("refusal", FinishReason::Refusal),
        ("model_context_window_exceeded", FinishReason::Length),
        ("pause_turn", FinishReason::Pause),
        ("compaction", FinishReason::Other("compaction".into())),
    ] {
        let said = said(&message([], word));
        let (found, raw, _) = said.finish.unwrap();
        assert_eq!((found, raw.as_deref()), (reason, Some(word)));
    }
}

#[test]
fn interleaved_calls_are_kept_apart() {
    let said = said(&interleaved_calls());
    let arguments: Vec<_> = said.calls.iter().map(|call| call.ended.as_deref().unwrap()).collect();
    assert_eq!(arguments, ["{\"city\":\"Bern\"}", "{\"zone\":\"CET\"}"]);
    assert!(!said.finish.unwrap().2);
}

/// Fault 34: a second start of the same message is ignored. The start of another message drops the open blocks.
#[test]
fn a_message_that_starts_twice() {
    let said_spliced = said(&spliced());
    assert_eq!(said_spliced.text, "Once more.");
    assert_eq!(said_spliced.runnable(), [false, true]);

    let mut events = vec![
        opened(0, json!({"type": "text", "text": ""})),
        text(0, "One "),
        start("msg_1", json!([])),
        text(0, "text."),
        stopped(0),
    ];
    events.extend(call(1, "toolu_a", "{}"));
    let twice = said(&message(events, "tool_use"));
    assert_eq!((twice.text.as_str(), twice.runnable()), ("One text.", vec![true]));
}

/// Fault 34: a gateway repeats the complete content after it starts a new message, so the first call does not run.
#[test]
fn a_call_of_a_restarted_message_does_not_run() {
    let mut events = vec![start("msg_1", json!([{"type": "text", "text": "Said inside. "}]))];
    events.push(opened(7, json!({"type": "text", "text": "Half "})));
    events.extend(call(8, "toolu_a", "{\"city\":\"Bern\"}"));
    events.push(start("msg_2", json!([])));
    // These late events belong to a block that the new message does not have.
    events.extend([text(7, "late "), stopped(7)]);
    events.extend(call(0, "toolu_b", "{\"city\":\"Bern\"}"));
    events.extend(ended("tool_use"));
    let anew = said(&wire(&events));
    assert_eq!(anew.runnable(), [false, true]);
    assert_eq!(anew.calls[0].ended, None);
    assert_eq!(anew.text, "Said inside. Half ");

    let inside = json!([{"type": "text", "text": "Never said."}]);
    let mut events = vec![start("msg_1", inside), start("msg_2", json!([]))];
    events.extend([opened(0, json!({"type": "text", "text": ""})), text(0, "Said."), stopped(0)]);
    events.extend(ended("end_turn"));
    assert_eq!(said(&wire(&events)).text, "Said.");
}

#[test]
fn a_block_with_the_index_of_an_open_block_ends_it() {
    let mut events = vec![start("msg_1", json!([]))];
    events.extend([tool(0, "toolu_a", "weather"), input(0, "{}")]);
    events.extend([tool(0, "toolu_b", "time"), input(0, "{\"zone\":\"CET\"}"), stopped(0)]);
    // The extra stop must not end the call of the replaced block.
    events.push(stopped(0));
    events.extend(ended("tool_use"));
    let replaced = said(&wire(&events));
    assert_eq!(replaced.runnable(), [false, true]);
    assert_eq!(replaced.calls[1].ended.as_deref(), Some("{\"zone\":\"CET\"}"));
}

/// Fault 34: content inside `message_start` is emitted once, before the content that follows.
#[test]
fn content_inside_the_start() {
    let inside = json!([
        {"type": "text", "text": "Hello. "},
        {"type": "tool_use", "id": "toolu_a", "name": "weather", "input": {"city": "Bern"}},
    ]);
    let only = {
        let mut events = vec![start("msg_1", inside.clone())];
        events.extend(ended("tool_use"));
        said(&wire(&events))
    };
    assert_eq!(only.text, "Hello. ");
    assert_eq!(only.calls[0].ended.as_deref(), Some("{\"city\":\"Bern\"}"));
    assert_eq!(only.calls[0].streamed, "{\"city\":\"Bern\"}");

    let mut streamed = vec![
        start("msg_1", inside),
        opened(0, json!({"type": "text", "text": ""})),
        text(0, "Hello. "),
        stopped(0),
    ];
    streamed.extend(call(1, "toolu_a", "{\"city\":\"Bern\"}"));
    streamed.extend([opened(2, json!({"type": "text", "text": "Bye."})), stopped(2)]);
    streamed.extend(ended("tool_use"));
    let streamed = said(&wire(&streamed));
    assert_eq!((streamed.text.as_str(), streamed.calls.len()), ("Hello. Bye.", 1));
    assert_eq!(streamed.runnable(), [true]);
}

/// Covers fault 35.
#[test]
fn events_of_blocks_that_are_not_open_are_ignored() {
    let said = said(&message(
        [
            text(7, "lost"),
            stopped(7),
            opened(0, json!({"type": "text", "text": ""})),
            input(0, "{}"),
            text(0, "kept"),
            stopped(0),
            text(0, "late"),
            stopped(0),
        ],
        "end_turn",
    ));
    assert_eq!(said.text, "kept");
    assert!(said.calls.is_empty());
}

#[test]
fn tools_of_the_provider_and_citations_are_shown() {
    let cite = |citation: Value| delta(2, json!({"type": "citations_delta", "citation": citation}));
    let bytes = message(
        [
            opened(0, json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}})),
            input(0, "{\"query\":"),
            input(0, "\"rust\"}"),
            stopped(0),
            opened(
                1,
                json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]}),
            ),
            stopped(1),
            opened(2, json!({"type": "text", "text": "", "citations": []})),
            text(2, "Rust."),
            cite(
                json!({"type": "web_search_result_location", "url": "https://rust-lang.org", "title": "Rust"}),
            ),
            cite(json!({"type": "page_location", "document_index": 1, "document_title": null})),
            cite(json!({"type": "char_location", "document_index": 0, "document_title": "Notes"})),
            stopped(2),
        ],
        "end_turn",
    );
    let said = said(&bytes);
    assert_eq!((said.builtin, said.citations, said.calls.len()), (2, 3, 0));
    let events = whole(&bytes).events;
    let items: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::ProviderTool { id, kind, name, item, replay_to } => {
                assert_eq!((id.as_str(), replay_to.as_deref()), ("srv_1", Some("anthropic")));
                Some((kind.to_string(), name.as_ref().map(ToString::to_string), item.to_value()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(items[0].0, "server_tool_use");
    assert_eq!(items[0].1.as_deref(), Some("web_search"));
    assert_eq!(items[0].2["input"], json!({"query": "rust"}));
    assert_eq!(
        (items[1].0.as_str(), &items[1].2["content"][0]["url"]),
        ("web_search_tool_result", &json!("u"))
    );
    let sources: Vec<_> = events
        .into_iter()
        .filter_map(|event| if let LlmEvent::Source(source) = event { Some(source) } else { None })
        .collect();
    assert!(matches!(&sources[0], Source::Url { url, title: Some(title), .. }
        if *url == "https://rust-lang.org" && *title == "Rust"));
    assert!(matches!(&sources[1], Source::Document { media_type, title, .. }
        if *media_type == "application/pdf" && *title == "Document 2"));
    assert!(matches!(&sources[2], Source::Document { media_type, title, .. }
        if *media_type == "text/plain" && *title == "Notes"));
}

#[test]
fn unknown_events_are_passed_on() {
    let bytes = message(
        [
            opened(0, json!({"type": "hologram", "data": 7})),
            delta(0, json!({"type": "hologram_delta", "data": 8})),
            stopped(0),
            json!({"type": "message_note", "note": 9}),
        ],
        "end_turn",
    );
    let unknown: Vec<_> = whole(&bytes)
        .events
        .into_iter()
        .filter_map(|event| match event {
            LlmEvent::Unknown { kind, data } => Some((kind.to_string(), data.contains(['7', '8', '9']))),
            _ => None,
        })
        .collect();
    let names = ["hologram", "hologram_delta", "message_note"];
    assert_eq!(unknown, names.map(|name| (name.to_owned(), true)));
}

#[test]
fn errors_in_the_stream_have_the_right_kind() {
    for (kind, message, expected) in [
        ("overloaded_error", "Overloaded", Unavailable),
        ("api_error", "Internal server error", Unavailable),
        ("rate_limit_error", "This would exceed your rate limit", RateLimited),
        ("timeout_error", "Request timed out", Timeout),
        ("authentication_error", "invalid x-api-key", ProviderErrorKind::Auth),
        ("permission_error", "Your key may not use this", ProviderErrorKind::Auth),
        ("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum", ContextOverflow),
        ("invalid_request_error", "messages: field required", Response),
        ("request_too_large", "Request exceeds the maximum size", Response),
    ] {
        let error =
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"});
        let bytes =
            wire(&[start("msg_1", json!([])), tool(0, "toolu_a", "weather"), input(0, "{}"), error.clone()]);
        assert_eq!(failure(&bytes), (expected, Some(kind.to_owned())), "{kind} in a stream");
        assert_eq!(
            failure(&wire(std::slice::from_ref(&error))),
            (expected, Some(kind.to_owned())),
            "{kind} first"
        );
        assert_eq!(
            failure(error.to_string().as_bytes()),
            (expected, Some(kind.to_owned())),
            "{kind} as body"
        );
    }
}

#[test]
fn limits_interruptions_and_invalid_bytes() {
    let long = "x".repeat(600_000);
    let endless = [start("msg_1", json!([])), tool(0, "a", "weather"), input(0, &long), input(0, &long)];
    assert_eq!(failure(&wire(&endless)).0, TooLarge);
    assert_eq!(failure(&wire(&[start("msg_1", json!([]))])).0, Interrupted);
    assert_eq!(failure(b"").0, Interrupted);
    assert_eq!(failure(b"data: {\"type\": \"ping\"\n\n").0, Protocol);
    assert_eq!(failure(b"<html>Bad gateway</html>").0, Protocol);

    let mut noisy = b"data:\n\n: keep-alive\n\ndata: [DONE]\n\ndata: ping\n\n".to_vec();
    noisy.extend(thinking_and_calls());
    noisy.extend(b"data: [DONE]\n\n");
    noisy.extend(wire(&[start("msg_2", json!([]))]));
    assert_eq!(fold(&whole(&noisy).events), fold(&whole(&thinking_and_calls()).events));

    // This stream has no event names and no last event. The stop reason shows that the answer is complete.
    let mut plain = String::from_utf8(thinking_and_calls()).unwrap();
    plain =
        plain.lines().filter(|line| !line.starts_with("event:")).map(|line| format!("{line}\n")).collect();
    let last = plain.rfind("data: {\"type\":\"message_stop\"}").unwrap();
    assert_eq!(whole(&plain.as_bytes()[..last]).events, whole(&thinking_and_calls()).events);
}
