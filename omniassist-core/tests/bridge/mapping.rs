//! Tests of the mapping of each event: items 5 to 18.

use omniassist_core::bridge::BridgeOptions;
use serde_json::{Value, json};

use super::{
    agent, agent_of, chunks, chunks_with, complete, everything, legal, text, thinking, tool, types, written,
};

fn start() -> Value {
    json!({"type": "start", "messageId": "m"})
}

fn finish(reason: &str) -> Value {
    json!({"type": "finish", "finishReason": reason})
}

#[test]
fn item_05_text_delta_opens_a_text_part() {
    assert_eq!(
        chunks(&[text("Hel"), text("lo")]),
        [
            start(),
            json!({"type": "text-start", "id": "t0"}),
            json!({"type": "text-delta", "id": "t0", "delta": "Hel"}),
            json!({"type": "text-delta", "id": "t0", "delta": "lo"}),
        ]
    );
    assert_eq!(chunks(&[text("")]), [] as [Value; 0], "an empty delta must open no part");
}

#[test]
fn item_06_text_ends_the_part() {
    let whole = agent("agent:text", json!({"content": "Hello"}));
    assert_eq!(
        chunks(&[text("Hello"), whole.clone(), text("Again")]),
        [
            start(),
            json!({"type": "text-start", "id": "t0"}),
            json!({"type": "text-delta", "id": "t0", "delta": "Hello"}),
            json!({"type": "text-end", "id": "t0"}),
            json!({"type": "text-start", "id": "t1"}),
            json!({"type": "text-delta", "id": "t1", "delta": "Again"}),
        ]
    );
    assert_eq!(chunks(&[text("Hello"), agent("agent:text", json!({}))]).len(), 4, "the content is optional");
    // A runtime without streaming sends the complete text only.
    let twice = chunks(&[whole.clone(), whole]);
    let expected = ["start", "text-start", "text-delta", "text-end", "text-start", "text-delta", "text-end"];
    assert_eq!(types(&twice), expected);
}

#[test]
fn text_sent_as_deltas_is_not_repeated() {
    // Some runtimes report complete reasoning and text together, after all deltas.
    let events = [
        thinking("Hm."),
        text("Hello"),
        agent("agent:thinking", json!({"content": "Hm."})),
        agent("agent:text", json!({"content": "Hello"})),
        complete(),
    ];
    let chunks = chunks(&events);
    let said: Vec<&str> = chunks.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
    assert_eq!(said, ["Hm.", "Hello"]);
    legal::check(&chunks, false);
}

#[test]
fn item_07_thinking_delta_opens_a_reasoning_part() {
    assert_eq!(
        chunks(&[thinking("Let "), thinking("me see")]),
        [
            start(),
            json!({"type": "reasoning-start", "id": "r0"}),
            json!({"type": "reasoning-delta", "id": "r0", "delta": "Let "}),
            json!({"type": "reasoning-delta", "id": "r0", "delta": "me see"}),
        ]
    );
}

#[test]
fn item_08_thinking_ends_the_part() {
    let whole = agent("agent:thinking", json!({"content": "Hm", "tokenCount": 1}));
    assert_eq!(
        chunks(&[thinking("Hm"), whole.clone()]),
        [
            start(),
            json!({"type": "reasoning-start", "id": "r0"}),
            json!({"type": "reasoning-delta", "id": "r0", "delta": "Hm"}),
            json!({"type": "reasoning-end", "id": "r0"}),
        ]
    );
    assert_eq!(types(&chunks(&[whole])), ["start", "reasoning-start", "reasoning-delta", "reasoning-end"]);
}

#[test]
fn item_09_a_tool_returns_its_output() {
    let input =
        json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "find", "input": {"q": 1}});
    let output = json!({"type": "tool-output-available", "toolCallId": "c", "output": {"n": 2}});
    let called = tool(json!({"toolCallId": "c", "toolInput": {"q": 1}}));
    let answered = tool(json!({"toolCallId": "c", "toolOutput": {"n": 2}}));
    assert_eq!(chunks(&[called, answered]), [start(), input.clone(), output.clone()]);

    let both = tool(json!({"toolCallId": "c", "toolInput": {"q": 1}, "toolOutput": {"n": 2}}));
    assert_eq!(chunks(std::slice::from_ref(&both)), [start(), input.clone(), output.clone()]);

    // The end of a call may repeat the input.
    let called = tool(json!({"toolCallId": "c", "toolInput": {"q": 1}}));
    assert_eq!(chunks(&[called, both]), [start(), input, output]);

    let nothing = tool(json!({"toolCallId": "c", "toolInput": null, "toolOutput": null}));
    assert_eq!(
        chunks(&[nothing]),
        [
            start(),
            json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "find", "input": {}}),
            json!({"type": "tool-output-available", "toolCallId": "c", "output": null}),
        ]
    );
}

#[test]
fn item_09_a_tool_returns_an_error() {
    let failed =
        tool(json!({"toolCallId": "c", "toolInput": {}, "toolOutput": 7, "error": "No such order."}));
    assert_eq!(
        chunks(&[failed]),
        [
            start(),
            json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "find", "input": {}}),
            json!({"type": "tool-output-error", "toolCallId": "c", "errorText": "No such order."}),
        ]
    );
    let odd = tool(json!({"toolCallId": "c", "error": {"code": 7}}));
    assert_eq!(chunks(&[odd])[2]["errorText"], r#"{"code":7}"#);
    let fine = tool(json!({"toolCallId": "c", "toolOutput": 7, "error": null}));
    assert_eq!(chunks(&[fine])[2]["output"], 7);
}

#[test]
fn item_10_an_error_is_shown() {
    let error = agent("agent:error", json!({"message": "Quota is used up.", "errorType": "quota"}));
    let expected = [
        start(),
        json!({"type": "text-start", "id": "t0"}),
        json!({"type": "text-delta", "id": "t0", "delta": "Hel"}),
        json!({"type": "text-end", "id": "t0"}),
        json!({"type": "message-metadata", "messageMetadata": {"error": {"type": "quota"}}}),
        json!({"type": "message-metadata", "messageMetadata": {"error": {"code": "internal"}}}),
        json!({"type": "error", "errorText": "Quota is used up."}),
    ];
    let mut shown = written(BridgeOptions::new(), &[text("Hel"), error.clone()]);
    assert_eq!(shown.chunks(), expected);
    assert!(!shown.accumulator.is_closed(), "an error alone must not close the stream");
    shown.apply(&text("lo"));
    shown.apply(&complete());
    let chunks = shown.chunks();
    assert_eq!(types(&chunks[7..]), ["text-start", "text-delta", "text-end", "finish"]);
    assert_eq!(chunks.last().unwrap()["finishReason"], "error");
    legal::check(&chunks, true);

    let ended = written(BridgeOptions::new().end_at_error(true), &[text("Hel"), error, complete()]);
    assert!(ended.accumulator.is_closed());
    assert_eq!(ended.chunks(), expected);

    let unsaid = chunks_of_last(&[agent("agent:error", json!({"message": ""}))]);
    assert_eq!(unsaid["errorText"], "An internal error occurred.");
}

fn chunks_of_last(events: &[Value]) -> Value {
    chunks(events).pop().unwrap()
}

#[test]
fn item_11_complete_closes_the_stream() {
    let done =
        agent("agent:complete", json!({"result": "Hello", "usage": {"inputTokens": 7, "outputTokens": 3}}));
    let written = written(BridgeOptions::new(), &[text("Hello"), done, text("more")]);
    assert!(written.accumulator.is_closed());
    assert_eq!(written.skipped.len(), 1, "events after the end must be skipped");
    assert_eq!(
        written.chunks()[3..],
        [
            json!({"type": "text-end", "id": "t0"}),
            json!({
                "type": "finish", "finishReason": "stop",
                "messageMetadata": {"usage": {"inputTokens": 7, "outputTokens": 3}}
            }),
        ]
    );
    assert_eq!(chunks(&[complete()]), [start(), finish("stop")], "missing usage must be omitted");
    assert_eq!(
        chunks(&[agent("agent:complete", json!({"usage": "much"}))]).len(),
        2,
        "invalid usage must be omitted"
    );
}

#[test]
fn item_12_paused_closes_the_stream() {
    let paused = agent("agent:paused", json!({"sessionId": "s"}));
    let written = written(BridgeOptions::new(), &[text("Wait"), paused]);
    assert!(written.accumulator.is_closed());
    let session = json!({"type": "message-metadata", "messageMetadata": {"paused": {"sessionId": "s"}}});
    assert_eq!(written.chunks()[3..], [json!({"type": "text-end", "id": "t0"}), session, finish("other")]);
}

#[test]
fn a_pause_without_a_session_has_no_metadata() {
    let paused = agent("agent:paused", json!({}));
    assert_eq!(types(&chunks(&[text("Wait"), paused]))[3..], ["text-end", "finish"]);
}

#[test]
fn item_13_aborted_is_an_error_and_closes_the_stream() {
    let aborted = agent("agent:aborted", json!({"reason": "Stopped by the operator."}));
    let written = written(BridgeOptions::new(), &[node("n1"), text("Hel"), aborted.clone()]);
    assert!(written.accumulator.is_closed());
    assert_eq!(
        written.chunks()[4..],
        [
            json!({"type": "text-end", "id": "t0"}),
            json!({"type": "finish-step"}),
            json!({"type": "message-metadata", "messageMetadata": {"error": {"code": "stream_interrupted"}}}),
            json!({"type": "error", "errorText": "Stopped by the operator."}),
        ]
    );
    let unsaid = agent("agent:aborted", json!({}));
    assert_eq!(chunks_of_last(&[unsaid])["errorText"], "The answer was interrupted before it was complete.");
    let in_flow = super::written(everything(), &[aborted]);
    assert!(in_flow.accumulator.is_closed(), "an aborted agent must close the message of a flow");
}

fn node(node_id: &str) -> Value {
    json!({"type": "node:start", "nodeId": node_id, "runId": "r1"})
}

fn node_complete(node_id: &str, output: Value) -> Value {
    json!({"type": "node:complete", "nodeId": node_id, "runId": "r1", "output": output})
}

#[test]
fn item_14_a_node_starts_a_step() {
    let flow = [
        node("n1"),
        text("One"),
        node_complete("n1", Value::Null),
        node("n2"),
        agent_of("r1", "n2", "agent:text:delta", json!({"content": "Two"})),
        complete(),
    ];
    let step = ["text-start", "text-delta", "text-end", "finish-step"];
    let expected = [&["start", "start-step"], &step[..], &["start-step"], &step[..], &["finish"]].concat();
    assert_eq!(types(&chunks(&flow)), expected);
    let unmarked = BridgeOptions::new().send_step_markers(false);
    let unmarked = chunks_with(unmarked, &flow);
    assert!(types(&unmarked).iter().all(|kind| !kind.contains("step")));

    // One node begins before the other is complete.
    let chunks = chunks(&[
        node("n1"),
        text("One"),
        node("n2"),
        text("Two"),
        node_complete("n1", Value::Null),
        complete(),
    ]);
    legal::check(&chunks, false);
    assert_eq!(types(&chunks).iter().filter(|kind| **kind == "start-step").count(), 2);
}

#[test]
fn item_14_the_literal_name_is_an_option() {
    let literal = chunks_with(BridgeOptions::new().literal_step_start(true), &[node("n1"), complete()]);
    assert_eq!(literal[1], json!({"type": "step-start"}));
    assert_eq!(types(&literal), ["start", "step-start", "finish-step", "finish"]);
    assert_eq!(chunks(&[node("n1")])[1], json!({"type": "start-step"}));
}

#[test]
fn item_15_a_node_output_is_written_if_enabled() {
    let events = [node("n1"), text("Hm"), node_complete("n1", json!({"n": [1, "a"]}))];
    let asked = chunks_with(BridgeOptions::new().send_node_outputs(true), &events);
    let data = json!({"type": "data-node-output", "data": {"nodeId": "n1", "runId": "r1", "output": {"n": [1, "a"]}}});
    let expected =
        ["start", "start-step", "text-start", "text-delta", "text-end", "data-node-output", "finish-step"];
    assert_eq!(types(&asked), expected);
    assert_eq!(asked[5], data);
    assert!(!types(&chunks(&events)).contains(&"data-node-output"));
}

#[test]
fn item_16_a_paused_flow_is_reported_if_enabled() {
    let begun = json!({"type": "flow:start", "flowName": "review"});
    let paused = json!({"type": "flow:paused"});
    let metadata = BridgeOptions::new().send_flow_metadata(true);
    let told = written(metadata.clone(), &[begun.clone(), paused.clone()]);
    assert_eq!(
        told.chunks()[1..],
        [
            json!({"type": "data-flow-status", "data": {"status": "running", "flowName": "review"}}),
            json!({"type": "data-flow-status", "data": {"status": "paused", "flowName": "review"}}),
        ]
    );
    assert!(!told.accumulator.is_closed(), "a paused flow must not close the stream");
    let named = chunks_with(metadata, &[json!({"type": "flow:paused", "flowName": "audit"})]);
    assert_eq!(named[1]["data"]["flowName"], "audit");
    assert_eq!(chunks(&[begun, paused.clone()]), [] as [Value; 0]);
    let until = BridgeOptions::new().until_flow_ends(true);
    assert_eq!(
        chunks_with(until, &[paused]),
        [start(), finish("other")],
        "a paused flow must close the message of a flow"
    );
}

#[test]
fn item_17_a_complete_flow_is_reported_if_enabled_and_closes_the_stream() {
    let done = json!({"type": "flow:complete", "status": "complete", "flowName": "review"});
    let told = written(BridgeOptions::new().send_flow_metadata(true), &[text("Hm"), done.clone()]);
    assert!(told.accumulator.is_closed());
    assert_eq!(
        told.chunks()[3..],
        [
            json!({"type": "text-end", "id": "t0"}),
            json!({"type": "data-flow-status", "data": {"status": "complete", "flowName": "review"}}),
            finish("stop"),
        ]
    );
    assert_eq!(chunks(&[done]), [start(), finish("stop")]);
    let failed = json!({"type": "flow:complete", "status": "failed"});
    assert_eq!(chunks(&[failed]), [start(), finish("error")]);
}

#[test]
fn until_flow_ends_writes_a_flow_as_one_message() {
    let of = |node: &str, event_type: &str, fields| agent_of("r1", node, event_type, fields);
    let usage = json!({"usage": {"inputTokens": 5, "outputTokens": 1}});
    let flow = [
        json!({"type": "flow:start", "flowName": "review"}),
        node("n1"),
        of("n1", "agent:text:delta", json!({"content": "Draft"})),
        of("n1", "agent:complete", usage.clone()),
        node_complete("n1", json!("Draft")),
        node("n2"),
        of("n2", "agent:text:delta", json!({"content": "Final"})),
        of("n2", "agent:complete", usage),
        node_complete("n2", json!("Final")),
        json!({"type": "flow:complete", "flowName": "review", "status": "complete"}),
    ];
    let whole = chunks_with(everything(), &flow);
    legal::check(&whole, false);
    let step = ["start-step", "text-start", "text-delta", "text-end", "data-node-output", "finish-step"];
    let expected =
        [&["start", "data-flow-status"], &step[..], &step[..], &["data-flow-status", "finish"]].concat();
    assert_eq!(types(&whole), expected);
    let usage = &whole.last().unwrap()["messageMetadata"]["usage"];
    assert_eq!(*usage, json!({"inputTokens": 10, "outputTokens": 2}));

    let literal = written(BridgeOptions::new(), &flow);
    assert!(literal.accumulator.is_closed(), "the first agent must close the stream by default");
    assert!(!literal.chunks().iter().any(|chunk| chunk["delta"] == "Final"));
}

#[test]
fn concurrent_agents_write_separate_parts() {
    let say = |run: &str, content: &str| agent_of(run, "n1", "agent:text:delta", json!({"content": content}));
    let chunks = chunks(&[say("a", "1"), say("b", "x"), say("a", "2"), say("b", "y"), complete()]);
    legal::check(&chunks, false);
    let of = |id: &str| -> String {
        chunks.iter().filter(|chunk| chunk["id"] == id).filter_map(|chunk| chunk["delta"].as_str()).collect()
    };
    assert_eq!((of("t0"), of("t1")), ("12".to_owned(), "xy".to_owned()));
}

#[test]
fn item_18_each_chunk_has_exactly_its_fields() {
    let events = [
        node("n1"),
        thinking("Hm"),
        text("Hi"),
        tool(json!({"toolCallId": "c", "toolInput": {}, "toolOutput": 1})),
        tool(json!({"toolCallId": "d", "toolInput": {}, "error": "no"})),
        agent("agent:error", json!({"message": "no"})),
        complete(),
    ];
    let fields = [
        ("start", vec!["messageId"]),
        ("start-step", vec![]),
        ("text-start", vec!["id"]),
        ("text-delta", vec!["delta", "id"]),
        ("text-end", vec!["id"]),
        ("reasoning-start", vec!["id"]),
        ("reasoning-delta", vec!["delta", "id"]),
        ("reasoning-end", vec!["id"]),
        ("tool-input-available", vec!["input", "toolCallId", "toolName"]),
        ("tool-output-available", vec!["output", "toolCallId"]),
        ("tool-output-error", vec!["errorText", "toolCallId"]),
        ("error", vec!["errorText"]),
        ("message-metadata", vec!["messageMetadata"]),
        ("finish-step", vec![]),
        ("finish", vec!["finishReason"]),
    ];
    let chunks = chunks(&events);
    for (kind, fields) in fields {
        let chunk = chunks.iter().find(|chunk| chunk["type"] == kind).unwrap_or_else(|| panic!("{kind}"));
        let mut keys: Vec<&str> = chunk.as_object().unwrap().keys().map(String::as_str).collect();
        keys.retain(|key| *key != "type");
        keys.sort_unstable();
        assert_eq!(keys, fields, "{kind}");
    }
}
