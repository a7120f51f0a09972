//! Handwritten streams for cases that no recording covers and for tests without recordings.

use serde_json::{Value, json};

use super::harness::Api;

/// A named stream of one API.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    pub(crate) bytes: Vec<u8>,
}

/// Encodes events of the Responses API with their names.
pub(crate) fn responses(events: &[Value]) -> Vec<u8> {
    let mut wire = String::new();
    for event in events {
        wire.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    }
    wire.into_bytes()
}

/// Encodes chunks of Chat Completions without `[DONE]`.
pub(crate) fn chat(chunks: &[Value]) -> Vec<u8> {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>().into_bytes()
}

/// Encodes chunks of Chat Completions with `[DONE]`.
pub(crate) fn chat_done(chunks: &[Value]) -> Vec<u8> {
    let mut wire = chat(chunks);
    wire.extend_from_slice(b"data: [DONE]\n\n");
    wire
}

/// Returns a chunk with one delta.
pub(crate) fn delta(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// Returns a chunk with one tool call delta.
pub(crate) fn tool(call: Value) -> Value {
    delta(json!({"tool_calls": [call]}))
}

/// Returns a chunk with a finish reason.
pub(crate) fn finish(reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

pub(crate) fn created() -> Value {
    json!({"type": "response.created", "response": {
        "id": "resp_1", "model": "gpt-test", "status": "in_progress", "instructions": "secret instructions", "output": [],
    }})
}

pub(crate) fn added(index: u32, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub(crate) fn done(index: u32, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

pub(crate) fn arguments(index: u32, id: &str, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta})
}

pub(crate) fn function_call(id: &str, call_id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments, "status": status})
}

pub(crate) fn completed() -> Value {
    json!({"type": "response.completed", "response": {
        "id": "resp_1", "model": "gpt-test", "status": "completed", "output": [],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                  "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2}},
    }})
}

pub(crate) fn incomplete(reason: &str) -> Value {
    json!({"type": "response.incomplete", "response": {
        "id": "resp_1", "status": "incomplete", "incomplete_details": {"reason": reason}, "output": [],
    }})
}

/// Returns text, sealed reasoning in two summary parts, and two parallel calls.
pub(crate) fn reasoning_and_calls() -> Vec<u8> {
    let summary = |part: u32, delta: &str| {
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "item_id": "rs_1",
               "summary_index": part, "delta": delta})
    };
    responses(&[
        created(),
        added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
        summary(0, "First "),
        summary(0, "thought."),
        summary(1, "Second \"thought\"\nwith é and 🦀."),
        done(
            0,
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA+/sealed==",
            "summary": [{"type": "summary_text", "text": "First thought."},
                        {"type": "summary_text", "text": "Second \"thought\"\nwith é and 🦀."}]}),
        ),
        added(1, json!({"type": "message", "id": "msg_1", "phase": "commentary", "content": []})),
        json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "content_index": 0,
               "delta": "Let me look.", "logprobs": []}),
        done(
            1,
            json!({"type": "message", "id": "msg_1", "phase": "commentary", "status": "completed",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]}),
        ),
        added(2, function_call("fc_1", "call_a", "weather", "", "in_progress")),
        added(3, function_call("fc_2", "call_b", "time", "", "in_progress")),
        arguments(2, "fc_1", "{\"city\":"),
        arguments(3, "fc_2", "{\"zone\":\"CET\"}"),
        arguments(2, "fc_1", "\"Zürich\"}"),
        done(2, function_call("fc_1", "call_a", "weather", "{\"city\":\"Zürich\"}", "completed")),
        done(3, function_call("fc_2", "call_b", "time", "{\"zone\":\"CET\"}", "completed")),
        completed(),
    ])
}

/// Returns items whose ids change with each event, as GitHub Copilot sends them.
pub(crate) fn rotating_ids() -> Vec<u8> {
    responses(&[
        created(),
        added(0, json!({"type": "message", "id": "a1", "content": []})),
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "a2", "content_index": 0, "delta": "On "}),
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "a3", "content_index": 0, "delta": "it."}),
        done(
            0,
            json!({"type": "message", "id": "a4", "content": [{"type": "output_text", "text": "On it."}]}),
        ),
        added(1, function_call("b1", "call_a", "weather", "", "in_progress")),
        arguments(1, "b2", "{\"city\":"),
        arguments(1, "b3", "\"Bern\"}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "item_id": "b4", "arguments": "{\"city\":\"Bern\"}"}),
        done(1, function_call("b5", "call_a", "weather", "{\"city\":\"Bern\"}", "completed")),
        completed(),
    ])
}

/// Returns a stream of llama.cpp, without output indexes, sequence numbers and the end events of arguments.
pub(crate) fn without_indexes() -> Vec<u8> {
    responses(&[
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        json!({"type": "response.output_item.added", "item": function_call("fc_1", "call_a", "weather", "", "in_progress")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{\"city\":", "item_id": "fc_1"}),
        json!({"type": "response.output_item.added", "item": function_call("fc_2", "call_b", "time", "", "in_progress")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{}", "item_id": "fc_2"}),
        json!({"type": "response.function_call_arguments.delta", "delta": "\"Bern\"}", "item_id": "fc_1"}),
        json!({"type": "response.output_item.done", "item": function_call("fc_1", "call_a", "weather", "{\"city\": \"Bern\"}", "completed")}),
        json!({"type": "response.output_item.done", "item": function_call("fc_2", "call_b", "time", "{}", "completed")}),
        completed(),
    ])
}

/// Returns two calls. The token limit cuts the second call.
pub(crate) fn cut_second_call() -> Vec<u8> {
    responses(&[
        created(),
        added(0, function_call("fc_1", "call_a", "weather", "", "in_progress")),
        arguments(0, "fc_1", "{\"city\":\"Bern\"}"),
        done(0, function_call("fc_1", "call_a", "weather", "{\"city\":\"Bern\"}", "completed")),
        added(1, function_call("fc_2", "call_b", "report", "", "in_progress")),
        arguments(1, "fc_2", "{\"text\":\"all is"),
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "item_id": "fc_2", "arguments": "{\"text\":\"all is"}),
        done(1, function_call("fc_2", "call_b", "report", "{\"text\":\"all is", "incomplete")),
        incomplete("max_output_tokens"),
    ])
}

/// Returns two calls with interleaved deltas.
pub(crate) fn chat_interleaved() -> Vec<u8> {
    chat_done(&[
        delta(json!({"role": "assistant", "content": null})),
        tool(
            json!({"index": 0, "id": "call_a", "type": "function", "function": {"name": "weather", "arguments": ""}}),
        ),
        tool(
            json!({"index": 1, "id": "call_b", "type": "function", "function": {"name": "time", "arguments": ""}}),
        ),
        tool(json!({"index": 0, "function": {"arguments": "{\"city\":"}})),
        tool(json!({"index": 1, "function": {"arguments": "{\"zone\":"}})),
        tool(json!({"index": 0, "function": {"arguments": "\"Zürich\"}"}})),
        tool(json!({"index": 1, "function": {"arguments": "\"CET\"}"}})),
        finish("tool_calls"),
        json!({"id": "chatcmpl-1", "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}}),
    ])
}

/// Returns all handwritten streams with tool calls.
pub(crate) fn with_calls() -> Vec<Stream> {
    let responses = |name, bytes| Stream { name, api: Api::Responses, bytes };
    let chat = |name, bytes| Stream { name, api: Api::Chat, bytes };
    vec![
        responses("reasoning and parallel calls", reasoning_and_calls()),
        responses("rotating ids", rotating_ids()),
        responses("without indexes", without_indexes()),
        responses("cut second call", cut_second_call()),
        chat("interleaved", chat_interleaved()),
        chat(
            "no [DONE]",
            self::chat(&[
                delta(json!({"content": "Hm. "})),
                tool(json!({"index": 0, "id": "call_a", "function": {"name": "weather", "arguments": "{}"}})),
                finish("tool_calls"),
            ]),
        ),
    ]
}
