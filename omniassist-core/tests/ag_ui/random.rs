//! Tests of random runs: all events are valid, and the client's copy of an answer equals the answer.

use omniassist_core::dialect::ag_ui::Version;
use omniassist_core::event::{ApprovalRequest, InputRequest};
use omniassist_core::message::{Message, MessageCollector, Part, ProviderMetadata, ToolState};
use omniassist_core::{JsonText, RunEvent, Text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::client::Client;
use super::{encode, encoder, protocol, read, with_messages};
use crate::strategies;

fn versions() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::V0), Just(Version::V1)]
}

/// Events that [`strategies::run`] does not produce: seals, interrupts, state, activities.
#[derive(Debug, Clone, Copy)]
enum Extra {
    Nothing,
    Seal,
    Ask,
    Form,
    State,
    Activity,
}

fn extras() -> impl Strategy<Value = Vec<Extra>> {
    let extra = prop_oneof![
        4 => Just(Extra::Nothing),
        2 => Just(Extra::Seal),
        2 => Just(Extra::Ask),
        1 => Just(Extra::Form),
        1 => Just(Extra::State),
        1 => Just(Extra::Activity),
    ];
    vec(extra, 1..12)
}

/// Returns a run of the answer `msg-2` whose call ids have a prefix.
pub(super) fn run(prefix: &'static str) -> impl Strategy<Value = Vec<RunEvent>> {
    (strategies::run(), extras()).prop_map(move |(events, extras)| {
        let mut extras = extras.into_iter().cycle();
        let mut out = Vec::new();
        let mut asked: Vec<Text> = Vec::new();
        for mut event in events {
            rename(&mut event, prefix);
            // A call that waits for its client has no progress.
            if matches!(&event, RunEvent::ToolOutput { call_id, preliminary: true, .. } if asked.contains(call_id)) {
                continue;
            }
            let extra = extras.next().unwrap_or(Extra::Nothing);
            let (call, is_result) = match &event {
                RunEvent::ToolOutput { call_id, preliminary: false, provider_executed: false, .. }
                | RunEvent::ToolError { call_id, provider_executed: false, .. } => {
                    (Some(call_id.clone()), true)
                }
                RunEvent::ToolInputAvailable { call_id, provider_executed: false, .. } => {
                    (Some(call_id.clone()), false)
                }
                _ => (None, false),
            };
            let input = match &event {
                RunEvent::ToolInputAvailable { input, name, .. } => Some((input.clone(), name.clone())),
                _ => None,
            };
            let is_last = event.is_terminal();
            if is_last {
                out.push(event);
                continue;
            }
            out.push(event);
            match (extra, call, input) {
                (Extra::Seal, Some(call_id), _) if is_result => {
                    out.push(RunEvent::OutputSeal { call_id, seal: "v1.k.sealed".into() });
                }
                (Extra::Ask, Some(call_id), Some((input, name))) => {
                    asked.push(call_id.clone());
                    let mut request = ApprovalRequest::new(call_id, name, input);
                    request.signature = Some("sig.na.ture".into());
                    out.push(RunEvent::ToolApprovalRequest(request));
                }
                (Extra::Form, Some(call_id), Some(_)) => {
                    asked.push(call_id.clone());
                    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
                    out.push(RunEvent::InputRequest(InputRequest::new(call_id, None, schema)));
                }
                (Extra::State, ..) => out.push(RunEvent::StateDelta(
                    JsonText::parse(r#"[{"op":"add","path":"/a","value":1}]"#).unwrap(),
                )),
                (Extra::Activity, ..) => out.push(RunEvent::ActivitySnapshot {
                    id: "activity-1".into(),
                    kind: "progress".into(),
                    content: JsonText::EMPTY_OBJECT,
                }),
                _ => {}
            }
        }
        out
    })
}

fn rename(event: &mut RunEvent, prefix: &str) {
    match event {
        RunEvent::Start { message_id, .. } => *message_id = "msg-2".into(),
        RunEvent::ToolInputStart { call_id, .. }
        | RunEvent::ToolInputDelta { call_id, .. }
        | RunEvent::ToolInputAvailable { call_id, .. }
        | RunEvent::ToolInputError { call_id, .. }
        | RunEvent::ToolOutput { call_id, .. }
        | RunEvent::ToolError { call_id, .. } => *call_id = format!("{prefix}{call_id}").into(),
        _ => {}
    }
}

/// Returns the part of a message that a client of this protocol posts back.
fn posted(mut message: Message) -> Message {
    let state = |metadata: &mut Option<ProviderMetadata>| {
        if let Some(map) = metadata {
            map.retain(|_, value| value.is_object());
            if map.is_empty() {
                *metadata = None;
            }
        }
    };
    message.parts.retain_mut(|part| match part {
        Part::Text(part) => {
            state(&mut part.metadata);
            !part.text.is_empty() || part.metadata.is_some()
        }
        Part::Reasoning(part) => {
            state(&mut part.metadata);
            true
        }
        Part::Tool(part) => {
            state(&mut part.metadata);
            // Clients display progress without storing it.
            if let ToolState::OutputAvailable { input, preliminary: true, .. } = &part.state {
                part.state = ToolState::InputAvailable { input: input.clone() };
            }
            true
        }
        Part::StepStart => true,
        _ => false,
    });
    // A step without content cannot be restored.
    let is_start = |part: Option<&Part>| matches!(part, Some(Part::StepStart));
    let parts = std::mem::take(&mut message.parts);
    for (index, part) in parts.iter().enumerate() {
        let next = parts.get(index + 1);
        if !is_start(Some(part)) || !(next.is_none() || is_start(next)) {
            message.parts.push(part.clone());
        }
    }
    message.metadata = message.metadata.and_then(|metadata| {
        let own = metadata.get("omniassist")?.clone();
        own.get("seals").is_some().then(|| json!({ "omniassist": own }))
    });
    message
}

fn collect(mut collector: MessageCollector, events: &[RunEvent]) -> Message {
    for event in events {
        collector.apply(event);
    }
    collector.into_message()
}

/// Returns the posted answer of the client, if it has one.
pub(super) fn answer(client: &Client) -> Option<Message> {
    let posted = read(&with_messages(&client.messages)).unwrap();
    let is_answer = |message: &Message| message.id == "msg-2";
    posted.request.messages.into_iter().find(is_answer)
}

/// Returns the expected message, or `None` for an answer without parts, for which a client has no message.
fn expected(message: Message) -> Option<Message> {
    Some(posted(message)).filter(|message| !message.parts.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn an_answer_survives_a_round_trip(version in versions(), events in run("")) {
        let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
        let sent = encode(&mut encoder(version), &events);
        protocol::check(version, &client.messages, &sent);
        client.apply_all(&sent);
        prop_assert_eq!(answer(&client), expected(collect(MessageCollector::new(), &events)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_continued_answer_is_one_message(version in versions(), first in run(""), second in run("again-")) {
        let mut client = Client::with(&[json!({"id": "u1", "role": "user", "content": "Hi"})]);
        let sent = encode(&mut encoder(version), &first);
        client.apply_all(&sent);
        let body = with_messages(&client.messages);
        let posted_first = read(&body).unwrap();
        let Some(before) = answer(&client) else { return Ok(()) };
        let sent = encode(&mut posted_first.encoder(), &second);
        protocol::check(posted_first.version, &client.messages, &sent);
        client.apply_all(&sent);
        prop_assert_eq!(answer(&client), expected(collect(MessageCollector::continuing(before), &second)));
    }

    #[test]
    fn the_stream_is_valid_for_any_order_of_events(
        version in versions(), events in run(""), order in vec(any::<prop::sample::Index>(), 0..30),
    ) {
        let mut shuffled: Vec<_> = order.iter().map(|index| index.get(&events).clone()).collect();
        // The engine opens each block or call once.
        let mut opened = std::collections::HashSet::new();
        shuffled.retain(|event| match event {
            RunEvent::TextStart { id } | RunEvent::ReasoningStart { id } => opened.insert(id.0),
            _ => true,
        });
        let sent = encode(&mut encoder(version), &shuffled);
        protocol::check_loosely(version, &sent);
    }
}
