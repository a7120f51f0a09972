//! Tests of snapshots: text that is withdrawn, and clients that begin to read in the middle of a run.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ag_ui::{Encoder, Version};
use omniassist_core::event::{BlockId, FinishReason, Usage};
use omniassist_core::message::{FilePart, Message, Part};
use omniassist_core::{JsonText, RunEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::client::Client;
use super::random::{answer, run};
use super::{encode, encode_bytes, encoder, frames};

fn asked() -> Vec<Message> {
    vec![Message::user("u1", "Hi")]
}

fn text(id: u32, delta: &'static str) -> [RunEvent; 2] {
    let id = BlockId(id);
    [RunEvent::TextStart { id }, RunEvent::TextDelta { id, delta: delta.into() }]
}

fn call_start(call_id: &'static str) -> [RunEvent; 2] {
    [
        RunEvent::ToolInputStart { call_id: call_id.into(), name: "look_up".into(), title: None, app: None },
        RunEvent::ToolInputDelta { call_id: call_id.into(), delta: "{\"a\"".into() },
    ]
}

fn finish() -> RunEvent {
    RunEvent::Finish { reason: FinishReason::Stop, usage: Usage::default() }
}

/// Returns the run with a turn that was withdrawn, after the `place`-th start of a step.
pub(super) fn withdrawn(events: Vec<RunEvent>, place: usize, has_reasoning: bool) -> Vec<RunEvent> {
    let starts: Vec<_> =
        events.iter().enumerate().filter(|(_, event)| **event == RunEvent::StepStart).collect();
    let Some((at, _)) = starts.get(place % starts.len().max(1)).copied() else { return events };
    let mut gone: Vec<_> = text(1_000, "gone").into();
    gone.extend(call_start("gone-call"));
    if has_reasoning {
        let id = BlockId(1_001);
        gone.extend([RunEvent::ReasoningStart { id }, RunEvent::ReasoningDelta { id, delta: "gone".into() }]);
    }
    gone.push(RunEvent::StepReset);
    let mut all = events;
    all.splice(at + 1..at + 1, gone);
    all
}

/// Returns the frames for a client that begins to read after `read` events.
pub(super) fn caught_up(version: Version, events: &[RunEvent], read: usize) -> String {
    let (before, rest) = events.split_at(read.min(events.len()));
    let mut encoder = encoder(version).copying(&asked());
    let mut out = BytesMut::new();
    encoder.catch_up(before, &mut out);
    String::from_utf8(out.to_vec()).unwrap() + &encode_bytes(&mut encoder, rest)
}

fn without_reasoning(message: Option<Message>) -> Option<Message> {
    let mut message = message?;
    message.parts.retain(|part| !matches!(part, Part::Reasoning(_)));
    Some(message)
}

/// Orders the calls of each message: a call that is being written moves to the end of its message.
fn with_sorted_calls(mut messages: Vec<Value>) -> Vec<Value> {
    for calls in messages.iter_mut().filter_map(|message| message.get_mut("toolCalls")?.as_array_mut()) {
        calls.sort_by_key(|call| call["id"].as_str().unwrap().to_owned());
    }
    messages
}

#[test]
fn withdrawn_text_leaves_the_client() {
    let mut events = vec![RunEvent::Start { message_id: "a1".into(), metadata: None }, RunEvent::StepStart];
    events.extend(text(0, "Hel"));
    events.extend(call_start("c1"));
    events.push(RunEvent::StepReset);
    events.extend(text(1, "Hello"));
    events.push(finish());
    let sent = encode(&mut encoder(Version::V0).copying(&asked()), &events);
    let kinds: Vec<_> = sent.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "RUN_STARTED",
            "STEP_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TEXT_MESSAGE_END",
            "TOOL_CALL_END",
            "MESSAGES_SNAPSHOT",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_FINISHED",
        ]
    );
    assert_eq!(sent[8]["messages"], json!([{"id": "u1", "role": "user", "content": "Hi"}]));
    let mut client = Client::with(&[]);
    client.apply_all(&sent);
    let hello = json!({"id": "a1", "role": "assistant", "content": "Hello"});
    assert_eq!(client.messages, [json!({"id": "u1", "role": "user", "content": "Hi"}), hello]);
}

#[test]
fn without_a_copy_the_response_is_cut_off() {
    let mut encoder: Encoder = encoder(Version::V1);
    let mut events = vec![RunEvent::Start { message_id: "a1".into(), metadata: None }, RunEvent::StepReset];
    events.extend(text(0, "Hi"));
    let sent = encode(&mut encoder, &events);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(encoder.is_cut());
}

#[test]
fn a_snapshot_has_the_conversation() {
    let file = |url: &'static str| {
        let (media_type, filename) = ("image/png".into(), Some("a.png".into()));
        Part::File(FilePart { media_type, url: url.into(), filename, metadata: None })
    };
    let mut user = Message::user("u1", "See");
    user.parts.extend([file("data:image/png;base64,AAAA"), file("https://a.example/b")]);
    let events = [
        RunEvent::StepStart,
        RunEvent::ToolInputAvailable {
            call_id: "c1".into(),
            name: "look_up".into(),
            input: JsonText::parse(r#"{"a":1}"#).unwrap(),
            provider_executed: false,
            metadata: Some(serde_json::from_value(json!({"gemini": {"s": "x"}})).unwrap()),
        },
        RunEvent::ToolOutput {
            call_id: "c1".into(),
            output: JsonText::parse("17").unwrap(),
            preliminary: false,
            provider_executed: false,
        },
    ];
    let mut collector = omniassist_core::message::MessageCollector::new();
    collector.apply(&RunEvent::Start { message_id: "a1".into(), metadata: None });
    events.iter().for_each(|event| collector.apply(event));
    let mut encoder = encoder(Version::V1).copying(&[user, collector.into_message()]);
    let mut out = BytesMut::new();
    encoder.catch_up(&[], &mut out);
    let source =
        |source: Value| json!({"type": "image", "source": source, "metadata": {"filename": "a.png"}});
    let expected = json!([
        {"id": "u1", "role": "user", "content": [
            {"type": "text", "text": "See"},
            source(json!({"type": "data", "value": "AAAA", "mimeType": "image/png"})),
            source(json!({"type": "url", "value": "https://a.example/b", "mimeType": "image/png"})),
        ]},
        {"id": "a1", "role": "assistant", "toolCalls": [{
            "id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{\"a\":1}"},
            "encryptedValue": "{\"gemini\":{\"s\":\"x\"}}",
        }]},
        {"id": "a1.1.1", "role": "tool", "toolCallId": "c1", "content": "17",
            "metadata": {"omniassist": {"result": "output"}}},
    ]);
    assert_eq!(frames(std::str::from_utf8(&out).unwrap())[1]["messages"], expected);
}

#[test]
fn a_late_client_gets_the_state_and_the_end() {
    let state = |text: &'static str| JsonText::parse(text).unwrap();
    let mut events = vec![
        RunEvent::StateSnapshot(state(r#"{"a":1}"#)),
        RunEvent::Start { message_id: "a1".into(), metadata: None },
        RunEvent::StepStart,
        RunEvent::StateDelta(state(r#"[{"op":"replace","path":"/a","value":2}]"#)),
    ];
    events.extend(text(0, "Hel"));
    events.push(finish());
    let sent = frames(&caught_up(Version::V1, &events, events.len()));
    let kinds: Vec<_> = sent.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "RUN_STARTED",
            "STEP_STARTED",
            "MESSAGES_SNAPSHOT",
            "STATE_SNAPSHOT",
            "STATE_DELTA",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_FINISHED",
        ]
    );
    assert_eq!(sent[2]["messages"][1], json!({"id": "a1", "role": "assistant", "content": "Hel"}));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_withdrawn_turn_leaves_no_trace(events in run(""), place in any::<usize>()) {
        let mut clients = [Client::with(&[]), Client::with(&[])];
        for (client, events) in clients.iter_mut().zip([events.clone(), withdrawn(events, place, false)]) {
            client.messages = vec![json!({"id": "u1", "role": "user", "content": "Hi"})];
            client.apply_all(&encode(&mut encoder(Version::V1).copying(&asked()), &events));
        }
        let [expected, found] = clients.map(|client| without_reasoning(answer(&client)));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_late_client_gets_the_same_messages(events in run(""), read in any::<prop::sample::Index>()) {
        let mut early = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
        early.apply_all(&encode(&mut encoder(Version::V1), &events));
        let mut late = Client::with(&[]);
        late.apply_all(&frames(&caught_up(Version::V1, &events, read.index(events.len()))));
        prop_assert_eq!(with_sorted_calls(late.messages), with_sorted_calls(early.messages));
    }
}
