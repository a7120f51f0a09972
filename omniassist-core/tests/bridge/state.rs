//! Tests of an accumulator's state: items 3, 4, 19 and 20.

use omniassist_core::bridge::PartState::{Done, Idle, Streaming};
use omniassist_core::bridge::{
    AgentEvent, AgentRun, BridgeOptions, MessageAccumulator, SkipReason, Skipped, ToolReport, ToolStage,
};
use omniassist_core::event::EventBuf;
use omniassist_core::message::{Part, ToolPart, ToolState};
use omniassist_core::{JsonText, Message};
use serde_json::{Value, json};

use super::{Written, agent, chunks, complete, text, thinking, tool, types, written};

#[test]
fn item_03_the_accumulator_reports_its_state() {
    let mut written = Written::new(BridgeOptions::new());
    let state = |written: &Written| {
        let message = &written.accumulator;
        (
            message.has_emitted_start(),
            message.text_state(),
            message.reasoning_state(),
            message.tool_states().count(),
        )
    };
    assert_eq!(written.accumulator.message_id(), "m");
    assert_eq!(state(&written), (false, Idle, Idle, 0));
    written.apply(&thinking("Hm"));
    assert_eq!(state(&written), (true, Idle, Streaming, 0));
    written.apply(&text("Hi"));
    assert_eq!(state(&written), (true, Streaming, Done, 0));
    written.apply(&tool(json!({"toolCallId": "c"})));
    assert_eq!(state(&written), (true, Done, Done, 1));
    written.apply(&complete());
    assert_eq!(state(&written), (true, Done, Done, 1));
    assert!(written.accumulator.is_closed());
}

#[test]
fn item_04_each_call_has_its_own_state() {
    let mut written = Written::new(BridgeOptions::new());
    written.apply(&tool(json!({"toolCallId": "a", "toolInput": {"q": 1}})));
    written.apply(&tool(json!({"toolCallId": "b", "toolInput": {"q": 2}})));
    written.apply(&tool(json!({"toolCallId": "c", "toolInput": {"q": 3}})));
    written.apply(&tool(json!({"toolCallId": "c", "error": "no"})));
    written.apply(&tool(json!({"toolCallId": "a", "toolOutput": [1]})));
    let state = |id: &str| json!(written.accumulator.tool_state(id).unwrap());
    let call = |id: &str, state: &str, input: Value| json!({"toolCallId": id, "toolName": "find", "state": state, "input": input});
    let mut answered = call("a", "output-available", json!({"q": 1}));
    answered["output"] = json!([1]);
    assert_eq!(state("a"), answered);
    assert_eq!(state("b"), call("b", "input-available", json!({"q": 2})));
    let mut failed = call("c", "error", json!({"q": 3}));
    failed["errorText"] = json!("no");
    assert_eq!(state("c"), failed);
    assert!(written.accumulator.tool_state("d").is_none());
}

#[test]
fn item_19_a_part_of_another_kind_closes_the_open_part() {
    let chunks =
        chunks(&[text("A"), thinking("B"), text("C"), tool(json!({"toolCallId": "c"})), thinking("D")]);
    assert_eq!(
        types(&chunks),
        [
            "start",
            "text-start",
            "text-delta",
            "text-end",
            "reasoning-start",
            "reasoning-delta",
            "reasoning-end",
            "text-start",
            "text-delta",
            "text-end",
            "tool-input-available",
            "reasoning-start",
            "reasoning-delta",
        ]
    );
    assert_eq!(chunks[3]["id"], chunks[1]["id"]);
    assert_ne!(chunks[7]["id"], chunks[1]["id"]);
}

#[test]
fn item_20_a_call_goes_from_input_to_output_or_error() {
    let mut written = Written::new(BridgeOptions::new());
    let stage = |written: &Written, id: &str| written.accumulator.tool_state(id).map(|tool| tool.state);
    assert_eq!(stage(&written, "c"), None);
    assert_eq!(written.apply(&tool(json!({"toolCallId": "c", "toolInput": {}}))), 2);
    assert_eq!(stage(&written, "c"), Some(ToolStage::InputAvailable));
    assert_eq!(written.apply(&tool(json!({"toolCallId": "c", "toolInput": {}}))), 0, "a repeated call");
    assert_eq!(written.apply(&tool(json!({"toolCallId": "c", "toolOutput": 1}))), 1);
    assert_eq!(stage(&written, "c"), Some(ToolStage::OutputAvailable));
    assert_eq!(written.apply(&tool(json!({"toolCallId": "c", "error": "late"}))), 0, "a repeated answer");
    assert_eq!(stage(&written, "c"), Some(ToolStage::OutputAvailable));
    assert_eq!(written.apply(&tool(json!({"toolCallId": "d", "error": "no"}))), 2);
    assert_eq!(stage(&written, "d"), Some(ToolStage::Error));
    let reasons: Vec<_> = written.skipped.iter().map(Skipped::reason).collect();
    assert_eq!(reasons, [SkipReason::Repeated; 2]);
}

#[test]
fn a_repeated_call_does_not_split_the_text() {
    let events = [
        tool(json!({"toolCallId": "c", "toolInput": {}, "toolOutput": 1})),
        text("He"),
        tool(json!({"toolCallId": "c", "toolOutput": 1})),
        text("llo"),
    ];
    let written = written(BridgeOptions::new(), &events);
    assert_eq!(written.skipped.len(), 1);
    assert_eq!(types(&written.chunks())[3..], ["text-start", "text-delta", "text-delta"]);
}

#[test]
fn events_can_be_applied_without_json() {
    let mut message = MessageAccumulator::new("m", &BridgeOptions::new());
    let mut out = EventBuf::new();
    let report = ToolReport {
        name: "find".into(),
        call_id: Some("c".into()),
        input: Some(JsonText::EMPTY_OBJECT),
        output: Some(JsonText::NULL),
        error: None,
    };
    let run = AgentRun::new("r1", "n1");
    message.apply(AgentEvent::Tool { agent: run.clone(), report: report.clone() }, &mut out).unwrap();
    let json = agent(
        "agent:tool",
        json!({"toolName": "find", "toolCallId": "c", "toolInput": {}, "toolOutput": null}),
    );
    assert_eq!(AgentEvent::parse(json.to_string()), Ok(AgentEvent::Tool { agent: run, report }));
    assert_eq!(out.len(), 3);
}

#[test]
fn a_continued_message_keeps_its_id_and_the_ids_of_its_calls() {
    let mut message = Message::assistant("m7", "Hm");
    let call = |call_id: &str| {
        Part::Tool(ToolPart {
            call_id: call_id.into(),
            name: "find".into(),
            dynamic: false,
            provider_executed: false,
            state: ToolState::InputAvailable { input: JsonText::EMPTY_OBJECT },
            metadata: None,
        })
    };
    message.parts.extend([call("c"), call("m7-tool-1")]);
    let mut continued = MessageAccumulator::continuing(&message, &BridgeOptions::new());
    let mut out = EventBuf::new();
    continued.apply_json(tool(json!({"toolCallId": "c"})).to_string(), &mut out).unwrap();
    continued.apply_json(tool(json!({})).to_string(), &mut out).unwrap();
    assert_eq!(continued.message_id(), "m7");
    let ids: Vec<_> = continued.tool_states().map(|tool| tool.tool_call_id.to_string()).collect();
    assert_eq!(ids, ["c-1", "m7-tool-2"]);
}
