//! Handwritten streams for cases that no recording covers and for tests without recordings.

use serde_json::{Value, json};

/// Encodes events as server-sent events with their names.
pub(crate) fn wire(events: &[Value]) -> Vec<u8> {
    let mut wire = String::new();
    for event in events {
        wire.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    }
    wire.into_bytes()
}

pub(crate) fn start(id: &str, content: Value) -> Value {
    json!({"type": "message_start", "message": {
        "id": id, "type": "message", "role": "assistant", "model": "claude-test", "content": content,
        "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 100, "output_tokens": 1},
    }})
}

pub(crate) fn opened(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

pub(crate) fn delta(index: u32, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

pub(crate) fn text(index: u32, text: &str) -> Value {
    delta(index, json!({"type": "text_delta", "text": text}))
}

pub(crate) fn input(index: u32, json: &str) -> Value {
    delta(index, json!({"type": "input_json_delta", "partial_json": json}))
}

pub(crate) fn stopped(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

pub(crate) fn tool(index: u32, id: &str, name: &str) -> Value {
    opened(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

/// Returns the events of a complete call.
pub(crate) fn call(index: u32, id: &str, arguments: &str) -> [Value; 3] {
    [tool(index, id, "weather"), input(index, arguments), stopped(index)]
}

pub(crate) fn ended(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
               "usage": {"output_tokens": 25}}),
        json!({"type": "message_stop"}),
    ]
}

/// A signature with characters that a JSON encoder may escape.
pub(crate) const SIGNATURE: &str = "EqQBCgIYAhIM+/ab=\u{2028}\"\\é🦀==";
/// The data of redacted thinking.
pub(crate) const REDACTED: &str = "EmwKAhgBEgy3va3pzix/LafPsn4a+sealed==";

/// Returns signed and redacted thinking, text and two calls.
pub(crate) fn thinking_and_calls() -> Vec<u8> {
    let mut events = vec![
        start("msg_1", json!([])),
        opened(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "First "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "\"thought\"\nwith é and 🦀."})),
        delta(0, json!({"type": "signature_delta", "signature": SIGNATURE})),
        stopped(0),
        opened(1, json!({"type": "redacted_thinking", "data": REDACTED})),
        stopped(1),
        opened(2, json!({"type": "text", "text": ""})),
        text(2, "Let me "),
        text(2, "look."),
        stopped(2),
        tool(3, "toolu_a", "weather"),
        input(3, ""),
        input(3, "{\"city\":"),
        input(3, "\"Zürich\"}"),
        stopped(3),
        tool(4, "toolu_b", "time"),
        stopped(4),
    ];
    events.extend(ended("tool_use"));
    wire(&events)
}

/// Returns two calls. The token limit cuts the second call, but its received arguments are valid JSON.
pub(crate) fn cut_second_call() -> Vec<u8> {
    let mut events = vec![start("msg_1", json!([]))];
    events.extend(call(0, "toolu_a", "{\"city\":\"Bern\"}"));
    events.extend(call(1, "toolu_b", "{\"city\":\"Ba\"}"));
    events.extend(ended("max_tokens"));
    wire(&events)
}

/// Returns calls with interleaved deltas, in an event order that the API does not use.
pub(crate) fn interleaved_calls() -> Vec<u8> {
    let mut events = vec![
        start("msg_1", json!([])),
        tool(0, "toolu_a", "weather"),
        tool(1, "toolu_b", "time"),
        input(0, "{\"city\":"),
        input(1, "{\"zone\":"),
        input(0, "\"Bern\"}"),
        input(1, "\"CET\"}"),
        stopped(1),
        stopped(0),
    ];
    events.extend(ended("tool_use"));
    wire(&events)
}

/// Returns a message that a second message replaces in the middle of a call.
pub(crate) fn spliced() -> Vec<u8> {
    let mut events = vec![
        start("msg_1", json!([])),
        tool(0, "toolu_a", "weather"),
        input(0, "{\"city\":\"Be"),
        start("msg_2", json!([])),
        opened(0, json!({"type": "text", "text": ""})),
        text(0, "Once more."),
        stopped(0),
    ];
    events.extend(call(1, "toolu_b", "{\"city\":\"Bern\"}"));
    events.extend(ended("tool_use"));
    wire(&events)
}
