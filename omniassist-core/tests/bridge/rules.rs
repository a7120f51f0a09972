//! Tests of the rules for events and streams: items 22 to 26, and 30 to 35.

use omniassist_core::RunEvent;
use omniassist_core::bridge::{
    AgentEvent, BridgeOptions, FlowStatus, MessageAccumulator, SkipReason, Skipped, ToolStage,
};
use omniassist_core::event::{EventBuf, RunErrorCode};
use serde_json::{Value, json};

use super::{
    Written, agent, agent_of, call_ids, chunks, chunks_with, complete, everything, legal, text, tool, types,
    written,
};

const AGENT_EVENTS: [&str; 9] = [
    "agent:text:delta",
    "agent:text",
    "agent:thinking:delta",
    "agent:thinking",
    "agent:tool",
    "agent:error",
    "agent:complete",
    "agent:paused",
    "agent:aborted",
];

fn skipped(event: &Value) -> Skipped {
    let mut written = Written::new(everything());
    assert_eq!(written.apply(event), 0, "{event}");
    assert!(!written.accumulator.has_emitted_start());
    written.skipped.pop().unwrap_or_else(|| panic!("{event}"))
}

fn without(event: &Value, field: &str) -> Value {
    let mut event = event.clone();
    event.as_object_mut().unwrap().remove(field).unwrap();
    event
}

#[test]
fn item_22_an_event_without_a_type_is_skipped() {
    for event in [without(&text("Hi"), "type"), json!({"type": null, "content": "Hi"}), json!({"type": ""})] {
        let skipped = skipped(&event);
        assert_eq!((skipped.reason(), skipped.field()), (SkipReason::MissingField, Some("type")));
    }
    assert_eq!(skipped(&json!({})).to_string(), r#"event skipped: a field is missing, field "type""#);
    let odd = skipped(&json!({"type": 7}));
    assert_eq!((odd.reason(), odd.field()), (SkipReason::InvalidField, Some("type")));
    for no_event in [json!([]), json!("agent:text"), json!(null)] {
        assert_eq!(skipped(&no_event).reason(), SkipReason::NotAnEvent);
    }
    assert_eq!(AgentEvent::parse("{\"type\":").unwrap_err().reason(), SkipReason::NotAnEvent);
    let twice = r#"{"type": "flow:paused", "type": "flow:paused"}"#;
    assert_eq!(AgentEvent::parse(twice).unwrap_err().reason(), SkipReason::InvalidField);
    let unknown = skipped(&agent("agent:start", json!({"prompt": "secret"})));
    assert_eq!((unknown.reason(), unknown.event_type()), (SkipReason::UnknownType, Some("agent:start")));
    assert!(!unknown.is_fault(), "an event of an unknown type is not a fault");
    assert!(!unknown.to_string().contains("secret"));
}

#[test]
fn item_23_agent_events_without_run_or_node_are_skipped() {
    let fields = json!({"content": "Hi", "toolName": "find", "message": "no"});
    for event_type in AGENT_EVENTS {
        let event = agent(event_type, fields.clone());
        assert_eq!(written(everything(), std::slice::from_ref(&event)).skipped, [], "{event_type}");
        for field in ["runId", "nodeId"] {
            let mut empty = event.clone();
            empty[field] = "".into();
            for event in [without(&event, field), empty] {
                let skipped = skipped(&event);
                assert_eq!((skipped.reason(), skipped.field()), (SkipReason::MissingField, Some(field)));
                assert_eq!(skipped.event_type(), Some(event_type));
                assert!(skipped.is_fault());
            }
        }
    }
    for event_type in ["node:start", "node:complete"] {
        assert_eq!(skipped(&json!({"type": event_type, "runId": "r1"})).field(), Some("nodeId"));
    }
    assert_eq!(skipped(&agent("agent:text:delta", json!({}))).field(), Some("content"));
    assert_eq!(skipped(&agent("agent:text:delta", json!({"content": 1}))).reason(), SkipReason::InvalidField);
}

#[test]
fn item_24_a_tool_event_without_a_name_is_skipped() {
    let named = tool(json!({"toolCallId": "c", "toolInput": {}, "toolOutput": 1}));
    for event in [without(&named, "toolName"), tool(json!({"toolName": ""})), tool(json!({"toolName": null}))]
    {
        let skipped = skipped(&event);
        assert_eq!((skipped.reason(), skipped.field()), (SkipReason::MissingField, Some("toolName")));
    }
}

#[test]
fn item_25_the_stream_continues_after_skipped_events() {
    let spoilt = [json!({}), agent("agent:tool", json!({})), json!([1]), json!({"type": "edge:fire"})];
    let mut events = vec![text("Hel")];
    events.extend(spoilt);
    events.extend([text("lo"), complete()]);
    let stream = written(BridgeOptions::new(), &events);
    assert_eq!(stream.skipped.len(), 4);
    assert_eq!(stream.chunks(), chunks(&[text("Hel"), text("lo"), complete()]));
    let told = stream.skipped[1].to_string();
    assert_eq!(told, r#"event skipped: a field is missing, type "agent:tool", field "toolName""#);
}

#[test]
fn item_26_a_stream_is_never_empty() {
    let ends = [
        agent("agent:complete", json!({})),
        agent("agent:paused", json!({})),
        agent("agent:aborted", json!({})),
        json!({"type": "flow:complete"}),
    ];
    for end in ends {
        let written = written(BridgeOptions::new(), std::slice::from_ref(&end));
        assert!(written.accumulator.is_closed());
        assert_eq!(types(&written.chunks())[0], "start", "{end}");
    }
    // The runtime sends no event.
    for code in [RunErrorCode::StreamInterrupted, RunErrorCode::Internal] {
        let mut out = EventBuf::new();
        let mut message = MessageAccumulator::new("m", &BridgeOptions::new());
        message.fail(code, &mut out);
        assert!(message.is_closed());
        let events: Vec<_> = out.drain().collect();
        assert!(
            matches!(events[..], [RunEvent::Start { .. }, RunEvent::Error { code: told, .. }] if told == code)
        );
        message.fail(code, &mut out);
        assert!(out.is_empty(), "a message must end only once");
    }
}

#[test]
fn a_disconnect_after_an_error_adds_no_second_error() {
    let mut written = written(BridgeOptions::new(), &[agent("agent:error", json!({"message": "no"}))]);
    let mut out = EventBuf::new();
    written.accumulator.fail(RunErrorCode::StreamInterrupted, &mut out);
    written.events.extend(out.drain());
    assert_eq!(types(&written.chunks()), ["start", "message-metadata", "error", "finish"]);
}

#[test]
fn item_30_each_stream_has_its_own_message_id() {
    let number = std::sync::atomic::AtomicUsize::new(0);
    let options = BridgeOptions::new().generate_message_id(move || {
        format!("m-{}", number.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).into()
    });
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let mut out = EventBuf::new();
            let mut message = MessageAccumulator::new(options.new_message_id().unwrap(), &options);
            message.apply_json(complete().to_string(), &mut out).unwrap();
            match out.pop() {
                Some(RunEvent::Start { message_id, .. }) => message_id.to_string(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert_eq!(ids, ["m-0", "m-1", "m-2"]);
}

#[test]
fn item_31_a_stream_has_one_message_id() {
    let events = [
        agent_of("r1", "n1", "agent:text:delta", json!({"content": "A"})),
        agent_of("r2", "n2", "agent:text:delta", json!({"content": "B"})),
        agent_of("r2", "n2", "agent:complete", json!({})),
        agent_of("r1", "n1", "agent:complete", json!({})),
        json!({"type": "flow:complete"}),
    ];
    let chunks = chunks_with(everything(), &events);
    let ids: Vec<&Value> = chunks.iter().filter_map(|chunk| chunk.get("messageId")).collect();
    assert_eq!(ids, ["m"], "only the start must have a message id");
}

#[test]
fn item_32_call_ids_are_unique_within_a_message() {
    let call = |fields: Value| tool(fields);
    let written = written(
        BridgeOptions::new(),
        &[
            call(json!({"toolInput": 1, "toolOutput": 1})),
            call(json!({"toolInput": 1, "toolOutput": 1})),
            call(json!({"toolCallId": "c", "toolInput": 1, "toolOutput": 1})),
            // The runtime reuses an id for another call.
            call(json!({"toolCallId": "c", "toolInput": 2, "toolOutput": 2})),
            agent_of(
                "r2",
                "n1",
                "agent:tool",
                json!({"toolName": "find", "toolCallId": "c", "toolInput": 3}),
            ),
            agent_of(
                "r2",
                "n1",
                "agent:tool",
                json!({"toolName": "find", "toolCallId": "c", "toolOutput": 3}),
            ),
            call(json!({"toolCallId": "m-tool-1", "toolInput": 4})),
            complete(),
        ],
    );
    assert_eq!(written.skipped, []);
    let ids = call_ids(&written);
    assert_eq!(ids.len(), 6);
    assert_eq!(ids[..4], ["m-tool-1", "m-tool-2", "c", "c-3"]);
    let chunks = written.chunks();
    legal::check(&chunks, false);
    let outputs: Vec<_> = chunks.iter().filter(|chunk| chunk["type"] == "tool-output-available").collect();
    assert_eq!(outputs[3]["output"], 2);
    assert_eq!(outputs[3]["toolCallId"], "c-3", "each output must belong to its own call");
    assert_eq!(
        (&outputs[4]["output"], outputs[4]["toolCallId"].as_str()),
        (&json!(3), Some(ids[4].as_str()))
    );
}

#[test]
fn an_output_without_an_id_belongs_to_the_oldest_open_call() {
    let other = json!({"toolName": "other", "toolInput": 0});
    let written = written(
        BridgeOptions::new(),
        &[
            tool(json!({"toolInput": 1})),
            tool(json!({"toolInput": 2})),
            tool(other),
            tool(json!({"toolOutput": "first"})),
            tool(json!({"error": "second"})),
            tool(json!({"toolOutput": "for no call"})),
        ],
    );
    assert_eq!(written.skipped, []);
    let states: Vec<_> = written
        .accumulator
        .tool_states()
        .map(|tool| (tool.input.to_string(), tool.output.as_ref().map(ToString::to_string), tool.state))
        .collect();
    let state =
        |input: &str, output: Option<&str>, stage| (input.to_owned(), output.map(str::to_owned), stage);
    assert_eq!(
        states,
        [
            state("1", Some(r#""first""#), ToolStage::OutputAvailable),
            state("2", None, ToolStage::Error),
            state("0", None, ToolStage::InputAvailable),
            state("{}", Some(r#""for no call""#), ToolStage::OutputAvailable),
        ]
    );
}

#[test]
fn item_33_a_flow_status_is_one_of_four() {
    let statuses = [FlowStatus::Running, FlowStatus::Paused, FlowStatus::Complete, FlowStatus::Aborted];
    assert_eq!(json!(statuses), json!(["running", "paused", "complete", "aborted"]));
    let told = |event: Value| {
        let chunks = chunks_with(everything(), &[event]);
        let data = &chunks[1]["data"];
        assert_eq!(data.as_object().unwrap().len(), 2, "{data}");
        assert_eq!(data["flowName"], "review");
        data["status"].as_str().unwrap().to_owned()
    };
    let flow =
        |event_type: &str, status: Value| json!({"type": event_type, "flowName": "review", "status": status});
    assert_eq!(told(flow("flow:start", Value::Null)), "running");
    assert_eq!(told(flow("flow:paused", Value::Null)), "paused");
    let ends = [
        (Value::Null, "complete"),
        (json!("complete"), "complete"),
        (json!("aborted"), "aborted"),
        (json!("failed"), "aborted"),
        (json!("paused"), "paused"),
        (json!("well done"), "complete"),
    ];
    for (status, expected) in ends {
        assert_eq!(told(flow("flow:complete", status)), expected);
    }
    let nameless = chunks_with(everything(), &[json!({"type": "flow:paused"})]);
    assert_eq!(nameless[1]["data"]["flowName"], "", "the field is required");
}

#[test]
fn item_34_a_node_output_names_its_node_and_run() {
    let output = json!({"deep": {"list": [1.5, null, "é\n"]}});
    let event = json!({"type": "node:complete", "nodeId": "n1", "runId": "r1", "output": output});
    let data = |event: &Value| chunks_with(everything(), std::slice::from_ref(event))[1]["data"].clone();
    assert_eq!(data(&event), json!({"nodeId": "n1", "runId": "r1", "output": output}));
    assert_eq!(data(&without(&event, "output"))["output"], Value::Null);
    assert_eq!(data(&without(&event, "runId")), json!({"nodeId": "n1", "output": output}));
}

#[test]
fn item_35_data_chunks_have_a_type_and_data() {
    let events = [
        json!({"type": "flow:start", "flowName": "review"}),
        json!({"type": "node:complete", "nodeId": "n1", "runId": "r1", "output": 1}),
    ];
    let chunks = chunks_with(everything(), &events);
    assert_eq!(types(&chunks), ["start", "data-flow-status", "data-node-output"]);
    for chunk in &chunks[1..] {
        let mut keys: Vec<_> = chunk.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["data", "type"]);
        assert!(chunk["data"].is_object());
    }
}
