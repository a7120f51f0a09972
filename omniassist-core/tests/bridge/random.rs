//! Random logs of events, valid and corrupted: items 27 to 29.

use omniassist_core::bridge::BridgeOptions;
use omniassist_core::event::{EventBuf, RunErrorCode};
use omniassist_core::message::{MessageCollector, Part};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{Written, agent, complete, legal, text, thinking, types, written};

const TYPES: [&str; 16] = [
    "agent:text:delta",
    "agent:text:delta",
    "agent:text",
    "agent:thinking:delta",
    "agent:thinking",
    "agent:tool",
    "agent:tool",
    "agent:error",
    "agent:complete",
    "agent:paused",
    "agent:aborted",
    "node:start",
    "node:complete",
    "flow:start",
    "flow:paused",
    "flow:complete",
];

fn event() -> impl Strategy<Value = Value> {
    let word = |words: &'static [&'static str]| option::weighted(0.9, prop::sample::select(words));
    let value = || option::of(prop_oneof![Just(Value::Null), any::<i8>().prop_map(Value::from)]);
    let fields = (
        word(&["r1", "r2"]),
        word(&["n1", "n2"]),
        word(&["Hello", "", " you"]),
        word(&["find", "book"]),
        option::of(prop::sample::select(&["c1", "c2", "m-tool-1"][..])),
        (value(), value(), option::weighted(0.2, Just("no"))),
    );
    (prop::sample::select(&TYPES[..]), fields).prop_map(
        |(event_type, (run, node, content, tool, call, (input, output, error)))| {
            let mut event = Map::new();
            let mut set = |key: &str, value: Option<Value>| {
                value.map(|value| event.insert(key.to_owned(), value));
            };
            set("type", Some(event_type.into()));
            set("runId", run.map(Value::from));
            set("nodeId", node.map(Value::from));
            set("content", content.map(Value::from));
            set("flowName", content.map(Value::from));
            set("toolName", tool.map(Value::from));
            set("toolCallId", call.map(Value::from));
            set("toolInput", input);
            set("output", output.clone());
            set("toolOutput", output);
            set("error", error.map(Value::from));
            event.into()
        },
    )
}

fn options() -> impl Strategy<Value = BridgeOptions> {
    any::<[bool; 6]>().prop_map(|[reasoning, steps, flow, outputs, until, at_error]| {
        BridgeOptions::new()
            .send_reasoning(reasoning)
            .send_step_markers(steps)
            .send_flow_metadata(flow)
            .send_node_outputs(outputs)
            .until_flow_ends(until)
            .end_at_error(at_error)
    })
}

/// Returns the stream of a log, with all open parts ended.
fn whole(options: BridgeOptions, events: &[Value]) -> Written {
    let mut written = written(options, events);
    let mut out = EventBuf::new();
    written.accumulator.fail(RunErrorCode::StreamInterrupted, &mut out);
    written.events.extend(out.drain());
    written
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_log_becomes_a_valid_stream(options in options(), at_error: bool, events in vec(event(), 0..40)) {
        let written = whole(options.end_at_error(at_error), &events);
        prop_assert!(written.accumulator.is_closed());
        let chunks = written.chunks();
        prop_assert!(!chunks.is_empty());
        legal::check(&chunks, !at_error);
    }

    #[test]
    fn the_text_of_one_agent_is_complete(pieces in vec((any::<bool>(), "[a-z]{0,4}"), 0..30)) {
        let mut events: Vec<Value> =
            pieces.iter().map(|(is_text, piece)| if *is_text { text(piece) } else { thinking(piece) }).collect();
        let said = |wanted: bool| -> String {
            pieces.iter().filter(|(is_text, _)| *is_text == wanted).map(|(_, piece)| piece.as_str()).collect()
        };
        // The complete text repeats its deltas.
        events.push(agent("agent:thinking", serde_json::json!({"content": said(false)})));
        events.push(agent("agent:text", serde_json::json!({"content": said(true)})));
        events.push(complete());
        let mut collector = MessageCollector::new();
        for event in &whole(BridgeOptions::new(), &events).events {
            collector.apply(event);
        }
        let message = collector.into_message();
        let thought: String = message.parts.iter().filter_map(|part| match part {
            Part::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!((message.text(), thought), (said(true), said(false)));
    }
}

/// Returns the positions of the chunks of one kind and block.
fn positions(chunks: &[Value], kind: &str, id: &Value) -> Vec<usize> {
    let is = |chunk: &Value| chunk["type"] == kind && chunk["id"] == *id;
    (0..chunks.len()).filter(|at| is(&chunks[*at])).collect()
}

/// Returns the start, the deltas and the end of each block with this prefix.
fn blocks(events: &[Value], prefix: &str) -> Vec<(usize, Vec<usize>, usize)> {
    let chunks = whole(BridgeOptions::new(), events).chunks();
    let starts: Vec<&Value> = chunks
        .iter()
        .filter(|chunk| chunk["type"] == format!("{prefix}-start"))
        .map(|chunk| &chunk["id"])
        .collect();
    let one = |positions: Vec<usize>| {
        assert_eq!(positions.len(), 1, "{:?}", types(&chunks));
        positions[0]
    };
    starts
        .into_iter()
        .map(|id| {
            let at = |part: &str| positions(&chunks, &format!("{prefix}-{part}"), id);
            (one(at("start")), at("delta"), one(at("end")))
        })
        .collect()
}

fn interrupted() -> Vec<Value> {
    vec![text("A"), text("B"), thinking("C"), thinking("D"), text("E"), thinking("F"), text("G")]
}

#[test]
fn item_27_text_starts_before_its_deltas() {
    let blocks = blocks(&interrupted(), "text");
    assert_eq!(blocks.len(), 3);
    for (start, deltas, _) in blocks {
        assert!(deltas.iter().all(|delta| start < *delta));
    }
}

#[test]
fn item_28_text_ends_after_its_deltas() {
    let blocks = blocks(&interrupted(), "text");
    assert_eq!(blocks.iter().map(|(_, deltas, _)| deltas.len()).collect::<Vec<_>>(), [2, 1, 1]);
    for (_, deltas, end) in blocks {
        assert!(deltas.iter().all(|delta| *delta < end));
    }
}

#[test]
fn item_29_reasoning_starts_before_and_ends_after_its_deltas() {
    let blocks = blocks(&interrupted(), "reasoning");
    assert_eq!(blocks.iter().map(|(_, deltas, _)| deltas.len()).collect::<Vec<_>>(), [2, 1]);
    for (start, deltas, end) in blocks {
        assert!(deltas.iter().all(|delta| start < *delta && *delta < end));
    }
}
