//! Tests of the host's options: item 2.

use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_core::bridge::BridgeOptions;
use serde_json::{Value, json};

use super::{agent, chunks_with, complete, text, thinking, types};

/// Returns one event for each option. The node completes before its agent, so that the defaults show it.
fn events() -> Vec<Value> {
    vec![
        json!({"type": "flow:start", "flowName": "review"}),
        json!({"type": "node:start", "nodeId": "n1", "runId": "r1"}),
        thinking("Hm"),
        text("Hi"),
        json!({"type": "node:complete", "nodeId": "n1", "runId": "r1", "output": 1}),
        complete(),
    ]
}

/// Returns flags for reasoning, a step, a flow's status and a node's output.
fn shown(options: BridgeOptions) -> [bool; 4] {
    let chunks = chunks_with(options, &events());
    let types = types(&chunks);
    ["reasoning-delta", "start-step", "data-flow-status", "data-node-output"]
        .map(|kind| types.contains(&kind))
}

#[test]
fn item_02_the_options_have_the_defaults_of_the_contract() {
    assert_eq!(shown(BridgeOptions::new()), [true, true, false, false]);
    assert_eq!(shown(BridgeOptions::default()), [true, true, false, false]);
    assert_eq!(BridgeOptions::new().new_message_id(), None, "the id is random by default");
}

#[test]
fn item_02_each_option_changes_what_it_names() {
    let options = BridgeOptions::new;
    assert_eq!(shown(options().send_reasoning(false)), [false, true, false, false]);
    assert_eq!(shown(options().send_step_markers(false)), [true, false, false, false]);
    assert_eq!(shown(options().send_flow_metadata(true)), [true, true, true, false]);
    assert_eq!(shown(options().send_node_outputs(true)), [true, true, false, true]);

    let number = AtomicUsize::new(0);
    let counted =
        options().generate_message_id(move || format!("m-{}", number.fetch_add(1, Ordering::Relaxed)).into());
    assert_eq!(counted.new_message_id().unwrap(), "m-0");
    assert_eq!(counted.clone().new_message_id().unwrap(), "m-1");
}

#[test]
fn disabled_reasoning_writes_no_chunk() {
    let events = [text("He"), thinking("Hm"), agent("agent:thinking", json!({"content": "Hm"})), text("llo")];
    let chunks = chunks_with(BridgeOptions::new().send_reasoning(false), &events);
    assert_eq!(types(&chunks), ["start", "text-start", "text-delta", "text-delta"], "there must be one part");
}
