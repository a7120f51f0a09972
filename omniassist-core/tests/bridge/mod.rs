//! Tests of the AI SDK adapter for events of another agent runtime. This table lists the items of its contract:
//!
//! | item | requirement | test |
//! |---|---|---|
//! | 1 | a transport over one runtime, an accumulator per stream | `server: item_01_each_stream_has_its_own_accumulator`, `server: item_01_a_chat_reconnects_to_its_stream` |
//! | 2 | options and their defaults | `item_02_the_options_have_the_defaults_of_the_contract`, `item_02_each_option_changes_what_it_names` |
//! | 3 | the state of an accumulator | `item_03_the_accumulator_reports_its_state` |
//! | 4 | the state of a tool call | `item_04_each_call_has_its_own_state` |
//! | 5 | `agent:text:delta` | `item_05_text_delta_opens_a_text_part` |
//! | 6 | `agent:text` | `item_06_text_ends_the_part` |
//! | 7 | `agent:thinking:delta` | `item_07_thinking_delta_opens_a_reasoning_part` |
//! | 8 | `agent:thinking` | `item_08_thinking_ends_the_part` |
//! | 9 | `agent:tool` | `item_09_a_tool_returns_its_output`, `item_09_a_tool_returns_an_error` |
//! | 10 | `agent:error` | `item_10_an_error_is_shown` |
//! | 11 | `agent:complete` | `item_11_complete_closes_the_stream` |
//! | 12 | `agent:paused` | `item_12_paused_closes_the_stream` |
//! | 13 | `agent:aborted` | `item_13_aborted_is_an_error_and_closes_the_stream` |
//! | 14 | `node:start` | `item_14_a_node_starts_a_step`, `item_14_the_literal_name_is_an_option` |
//! | 15 | `node:complete` | `item_15_a_node_output_is_written_if_enabled` |
//! | 16 | `flow:paused` | `item_16_a_paused_flow_is_reported_if_enabled` |
//! | 17 | `flow:complete` | `item_17_a_complete_flow_is_reported_if_enabled_and_closes_the_stream` |
//! | 18 | the fields of each chunk | `item_18_each_chunk_has_exactly_its_fields` |
//! | 19 | parts open, stream and close | `item_19_a_part_of_another_kind_closes_the_open_part` |
//! | 20 | calls are made, then answered | `item_20_a_call_goes_from_input_to_output_or_error` |
//! | 21 | subscribe, dispatch, close, unsubscribe | `server: item_21_a_stream_subscribes_then_dispatches_and_unsubscribes_at_its_end`, `server: item_21_dropping_a_stream_unsubscribes`, `server: item_21_a_client_that_disconnects_unsubscribes` |
//! | 22 | events have a `type` | `item_22_an_event_without_a_type_is_skipped` |
//! | 23 | agent events have `runId` and `nodeId` | `item_23_agent_events_without_run_or_node_are_skipped` |
//! | 24 | tool events have `toolName` | `item_24_a_tool_event_without_a_name_is_skipped` |
//! | 25 | events without a required field are logged and skipped | `item_25_the_stream_continues_after_skipped_events`, `server: item_25_skipped_events_are_logged` |
//! | 26 | at least one chunk | `item_26_a_stream_is_never_empty` |
//! | 27 | `text-start` before `text-delta` | `item_27_text_starts_before_its_deltas` |
//! | 28 | `text-end` after the last `text-delta` | `item_28_text_ends_after_its_deltas` |
//! | 29 | the same for reasoning | `item_29_reasoning_starts_before_and_ends_after_its_deltas` |
//! | 30 | message ids are unique | `item_30_each_stream_has_its_own_message_id`, `server: item_30_message_ids_are_unique` |
//! | 31 | one message id per stream | `item_31_a_stream_has_one_message_id` |
//! | 32 | call ids are unique | `item_32_call_ids_are_unique_within_a_message` |
//! | 33 | `data-flow-status` | `item_33_a_flow_status_is_one_of_four` |
//! | 34 | `data-node-output` | `item_34_a_node_output_names_its_node_and_run` |
//! | 35 | the shape of data chunks | `item_35_data_chunks_have_a_type_and_data` |
//!
//! Those marked `server:` are in the tests of `omniassist-server`. The official clients read the same events in
//! `tests/clients/runtime.test.mjs`.

mod legal;
mod mapping;
mod options;
mod random;
mod rules;
mod state;

use bytes::BytesMut;
use omniassist_core::bridge::{BridgeOptions, MessageAccumulator, Skipped};
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::Framing;
use omniassist_core::event::EventBuf;
use omniassist_core::{RunEvent, Text};
use serde_json::{Value, json};

/// One message and its run events.
struct Written {
    accumulator: MessageAccumulator,
    events: Vec<RunEvent>,
    skipped: Vec<Skipped>,
    options: BridgeOptions,
}

impl Written {
    fn new(options: BridgeOptions) -> Self {
        let accumulator = MessageAccumulator::new("m", &options);
        Self { accumulator, events: Vec::new(), skipped: Vec::new(), options }
    }

    /// Applies an event and returns the number of resulting run events.
    fn apply(&mut self, event: &Value) -> usize {
        let mut out = EventBuf::new();
        if let Err(skipped) = self.accumulator.apply_json(event.to_string(), &mut out) {
            assert!(out.is_empty(), "a skipped event must produce no run event");
            self.skipped.push(skipped);
        }
        let before = self.events.len();
        self.events.extend(out.drain());
        self.events.len() - before
    }

    /// Returns all chunks so far.
    fn chunks(&self) -> Vec<Value> {
        let mut encoder = self.options.encoder(Framing::Ndjson);
        let mut out = BytesMut::new();
        for event in &self.events {
            encoder.encode(event, &mut out);
        }
        let text = String::from_utf8(out.to_vec()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn written(options: BridgeOptions, events: &[Value]) -> Written {
    let mut written = Written::new(options);
    for event in events {
        written.apply(event);
    }
    written
}

/// Returns the chunks of these events with the default options. No event may be skipped.
fn chunks(events: &[Value]) -> Vec<Value> {
    chunks_with(BridgeOptions::new(), events)
}

fn chunks_with(options: BridgeOptions, events: &[Value]) -> Vec<Value> {
    let written = written(options, events);
    assert_eq!(written.skipped, []);
    written.chunks()
}

/// Returns the types of the chunks.
fn types(chunks: &[Value]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect()
}

/// Returns options that enable all chunks.
fn everything() -> BridgeOptions {
    BridgeOptions::new().send_flow_metadata(true).send_node_outputs(true).until_flow_ends(true)
}

/// Returns an event of an agent, with further fields.
fn agent(event_type: &str, fields: Value) -> Value {
    agent_of("r1", "n1", event_type, fields)
}

fn agent_of(run_id: &str, node_id: &str, event_type: &str, fields: Value) -> Value {
    let mut event = json!({"type": event_type, "runId": run_id, "nodeId": node_id, "timestamp": 1});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn text(content: &str) -> Value {
    agent("agent:text:delta", json!({"content": content}))
}

fn thinking(content: &str) -> Value {
    agent("agent:thinking:delta", json!({"content": content}))
}

fn complete() -> Value {
    agent("agent:complete", json!({"result": "Done.", "durationMs": 1}))
}

fn tool(fields: Value) -> Value {
    let mut event = agent("agent:tool", json!({"toolName": "find"}));
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

/// Returns the ids of a message's calls, in order.
fn call_ids(written: &Written) -> Vec<Text> {
    written.accumulator.tool_states().map(|tool| tool.tool_call_id.clone()).collect()
}

/// The sources of the tests in the table.
const SOURCES: [&str; 5] = [
    include_str!("mapping.rs"),
    include_str!("options.rs"),
    include_str!("random.rs"),
    include_str!("rules.rs"),
    include_str!("state.rs"),
];
const SERVER: &str = include_str!("../../../omniassist-server/tests/bridge/mod.rs");

#[test]
fn the_table_contains_every_item_and_every_test() {
    let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
    let rows: Vec<(usize, &str)> = rows
        .filter_map(|row| {
            Some((row.split(" |").next()?.parse().ok()?, row.strip_suffix(" |")?.rsplit(" | ").next()?))
        })
        .collect();
    assert_eq!(rows.iter().map(|(item, _)| *item).collect::<Vec<_>>(), (1..=35).collect::<Vec<_>>());
    let mut named = 0;
    for (item, tests) in rows {
        for test in tests.split('`').skip(1).step_by(2) {
            let (name, sources) = match test.strip_prefix("server: ") {
                Some(name) => (name, vec![SERVER]),
                None => (test, SOURCES.to_vec()),
            };
            assert!(name.starts_with(&format!("item_{item:02}_")), "{item}: {name}");
            assert!(sources.iter().any(|source| source.contains(&format!("fn {name}("))), "{name}");
            named += 1;
        }
    }
    let tests = |source: &&str| source.matches("fn item_").count();
    assert_eq!(
        named,
        SOURCES.iter().map(tests).sum::<usize>() + tests(&SERVER),
        "the table must contain every test of an item"
    );
}
