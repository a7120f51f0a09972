//! The replays of a run for its clients.

use std::collections::BTreeMap;

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::ai_sdk::{ClientVersion, Encoder, Framing};
use omniassist_core::event::{AgentDelta, ApprovalRequest, BlockId};
use omniassist_core::journal::{self, Content, Head, Record, Replay, SegmentWriter, message_events};
use omniassist_core::message::{Approval, Message, MessageCollector, Part, ToolPart, ToolState};
use omniassist_core::{JsonText, RunEvent, Text};
use proptest::prelude::*;
use serde_json::json;

use super::{records, segment};
use crate::strategies;

/// Returns the events of a text block.
pub(super) fn text(id: u32, deltas: usize) -> Vec<RunEvent> {
    let id = BlockId(id);
    let delta = |number| RunEvent::TextDelta { id, delta: format!("word{number} ").into() };
    let deltas = (0..deltas).map(delta);
    let ends = [RunEvent::TextStart { id }].into_iter().chain(deltas);
    ends.chain([RunEvent::TextEnd { id, metadata: None }]).collect()
}

pub(super) fn deltas(events: &[RunEvent]) -> impl Iterator<Item = &Text> {
    events.iter().filter_map(|event| match event {
        RunEvent::TextDelta { delta, .. }
        | RunEvent::ReasoningDelta { delta, .. }
        | RunEvent::ToolInputDelta { delta, .. } => Some(delta),
        _ => None,
    })
}

/// Returns the text of each block and call.
fn texts(events: &[RunEvent]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::<_, String>::new();
    for event in events {
        let (owner, delta) = match event {
            RunEvent::TextDelta { id, delta } | RunEvent::ReasoningDelta { id, delta } => {
                (id.0.to_string(), delta)
            }
            RunEvent::ToolInputDelta { call_id, delta } => (call_id.to_string(), delta),
            _ => continue,
        };
        texts.entry(owner).or_default().push_str(delta);
    }
    texts
}

fn message(events: &[RunEvent]) -> Message {
    let mut collector = MessageCollector::new();
    events.iter().for_each(|event| collector.apply(event));
    collector.into_message()
}

fn chunks(version: ClientVersion, events: &[RunEvent]) -> String {
    let (mut encoder, mut out) = (Encoder::new(Framing::Ndjson).version(version), BytesMut::new());
    events.iter().for_each(|event| encoder.encode(event, &mut out));
    String::from_utf8(out.to_vec()).unwrap()
}

fn start() -> RunEvent {
    RunEvent::Start { message_id: "a1".into(), metadata: None }
}

fn call(id: &str, name: &str, state: ToolState) -> ToolPart {
    let (call_id, name) = (id.into(), name.into());
    ToolPart { call_id, name, dynamic: false, provider_executed: false, state, metadata: None }
}

fn json(text: &str) -> JsonText {
    JsonText::parse(text.to_owned()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn one_delta_a_block_gives_the_same_message(events in strategies::run()) {
        let replay = Replay::new().events(&records([&segment(&events)]));
        prop_assert_eq!(message(&replay), message(&events));
        prop_assert_eq!(texts(&replay), texts(&events));
        let blocks = |event: &&RunEvent| matches!(event, RunEvent::TextStart { .. } | RunEvent::ReasoningStart { .. } | RunEvent::ToolInputStart { .. });
        prop_assert!(deltas(&replay).count() <= events.iter().filter(blocks).count());
    }

    /// A client that has seen the first attempt and one that has not end with the same message.
    #[test]
    fn what_is_withdrawn_is_left_out(first in strategies::run(), second in strategies::run()) {
        let in_step = |events: &[RunEvent]| events.iter().filter(|event| {
            !matches!(event, RunEvent::Start { .. } | RunEvent::StepStart | RunEvent::StepFinish { .. } | RunEvent::Metadata(_))
                && !event.is_terminal()
        }).cloned().collect::<Vec<_>>();
        let parts = [vec![start(), RunEvent::StepStart], in_step(&first), vec![RunEvent::StepReset], in_step(&second)];
        let replay = Replay::new().events(&records([&segment(&parts.concat())]));
        let without = [vec![start(), RunEvent::StepStart], in_step(&second)].concat();
        prop_assert_eq!(message(&parts.concat()).parts, message(&without).parts);
        prop_assert_eq!(message(&replay).parts, message(&without).parts);
        prop_assert!(!replay.contains(&RunEvent::StepReset));
    }

    #[test]
    fn the_parts_of_a_message_are_rebuilt(events in strategies::run()) {
        let mut before = message(&events);
        before.parts.retain(|part| !matches!(part, Part::Tool(_)));
        let rebuilt = message(&message_events(&before));
        prop_assert_eq!(rebuilt.parts, before.parts);
        prop_assert_eq!(rebuilt.id, before.id);
    }
}

#[test]
fn open_blocks_are_replayed_up_to_the_last_delta() {
    let mut events = [vec![start(), RunEvent::StepStart], text(0, 3), text(1, 3)].concat();
    events.pop();
    let replay = Replay::new().events(&records([&segment(&events)]));
    assert_eq!(replay.len(), 7, "{replay:?}");
    let RunEvent::TextDelta { id: BlockId(1), delta } = &replay[6] else { panic!("{replay:?}") };
    assert_eq!(delta, "word0 word1 word2 ");
}

#[test]
fn an_open_approval_is_rebuilt_with_its_question() {
    let mut events = vec![start(), RunEvent::StepStart];
    events.push(RunEvent::ToolInputStart {
        call_id: "c1".into(),
        name: "pay".into(),
        title: None,
        app: None,
    });
    let mut request = ApprovalRequest::new("c1".into(), "pay".into(), json("{}"));
    request.message = Some("Pay?".into());
    request.editable = true;
    events.push(RunEvent::ToolApprovalRequest(request));
    let rebuilt = message_events(&message(&events));
    assert!(rebuilt.contains(&events[3]), "{rebuilt:?}");
}

#[test]
fn a_replay_begins_with_the_earlier_parts_of_a_continued_message() {
    let mut approval = Approval::new("approval-c2");
    approval.signature = Some("s".into());
    let (input, output) = (json(r#"{"n":1}"#), json("[2]"));
    let mut searched = call(
        "c4",
        "search",
        ToolState::OutputAvailable { input: input.clone(), output: output.clone(), preliminary: false },
    );
    searched.provider_executed = true;
    let earlier = Message {
        parts: vec![
            Part::StepStart,
            Part::text("Let me see."),
            Part::Tool(searched),
            Part::Tool(call(
                "c1",
                "look",
                ToolState::OutputAvailable {
                    input: input.clone(),
                    output: output.clone(),
                    preliminary: false,
                },
            )),
            Part::Tool(call("c2", "pay", ToolState::ApprovalResponded { input: input.clone(), approval })),
            Part::Tool(call("c3", "gone", ToolState::OutputError { input: None, error_text: "no".into() })),
        ],
        metadata: Some(json!({"a": 1})),
        ..Message::assistant("a1", "")
    };
    let metadata = json!({"b": 2}).as_object().cloned();
    let paid =
        RunEvent::ToolOutput { call_id: "c2".into(), output, preliminary: false, provider_executed: false };
    let run =
        [vec![RunEvent::Start { message_id: "a1".into(), metadata }, paid, RunEvent::StepStart], text(0, 2)];
    let replay = Replay::new().continuing(&earlier).events(&records([&segment(&run.concat())]));
    let expected = [
        r#"{"type":"start","messageId":"a1","messageMetadata":{"a":1}}"#,
        r#"{"type":"start-step"}"#,
        r#"{"type":"text-start","id":"t0"}"#,
        r#"{"type":"text-delta","id":"t0","delta":"Let me see."}"#,
        r#"{"type":"text-end","id":"t0"}"#,
        r#"{"type":"tool-input-available","toolCallId":"c4","toolName":"search","input":{"n":1},"providerExecuted":true}"#,
        r#"{"type":"tool-output-available","toolCallId":"c4","output":[2],"providerExecuted":true}"#,
        r#"{"type":"tool-input-start","toolCallId":"c1","toolName":"look"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"n\":1}"}"#,
        r#"{"type":"tool-output-available","toolCallId":"c1","output":[2]}"#,
        r#"{"type":"tool-input-start","toolCallId":"c2","toolName":"pay"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c2","inputTextDelta":"{\"n\":1}"}"#,
        r#"{"type":"tool-approval-request","approvalId":"approval-c2","toolCallId":"c2","signature":"s"}"#,
        r#"{"type":"tool-input-start","toolCallId":"c3","toolName":"gone"}"#,
        r#"{"type":"tool-output-error","toolCallId":"c3","errorText":"no"}"#,
        r#"{"type":"finish-step"}"#,
        r#"{"type":"message-metadata","messageMetadata":{"b":2}}"#,
        r#"{"type":"tool-output-available","toolCallId":"c2","output":[2]}"#,
        r#"{"type":"start-step"}"#,
        r#"{"type":"text-start","id":"t0"}"#,
        r#"{"type":"text-delta","id":"t0","delta":"word0 word1 "}"#,
        r#"{"type":"text-end","id":"t0"}"#,
    ];
    assert_eq!(chunks(ClientVersion::V6, &replay).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn quiet_calls_are_those_that_a_client_does_not_execute() {
    let (call_id, name) = (Text::from("c1"), Text::from("show"));
    let events = [
        start(),
        RunEvent::StepStart,
        RunEvent::ToolInputStart {
            call_id: call_id.clone(),
            name: name.clone(),
            title: Some("Show".into()),
            app: None,
        },
        RunEvent::ToolInputDelta { call_id: call_id.clone(), delta: "{ \"n\": ".into() },
        RunEvent::ToolInputDelta { call_id: call_id.clone(), delta: "1 }".into() },
        RunEvent::ToolInputAvailable {
            call_id,
            name,
            input: json(r#"{"n":1}"#),
            provider_executed: false,
            metadata: None,
        },
    ];
    let records = records([&segment(&events)]);
    let quiet = chunks(ClientVersion::V6, &Replay::new().quiet_calls(true).events(&records));
    let expected = [
        r#"{"type":"start","messageId":"a1"}"#,
        r#"{"type":"start-step"}"#,
        r#"{"type":"tool-input-start","toolCallId":"c1","toolName":"show"}"#,
        r#"{"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"n\":1}"}"#,
    ];
    assert_eq!(quiet.lines().collect::<Vec<_>>(), expected);
    let loud = chunks(ClientVersion::V6, &Replay::new().events(&records));
    assert!(loud.contains("tool-input-available"), "{loud}");
}

#[test]
fn only_version_7_can_withdraw_a_step() {
    for version in [ClientVersion::V5, ClientVersion::V6] {
        assert_eq!(chunks(version, &[RunEvent::StepReset]), "");
    }
    assert_eq!(chunks(ClientVersion::V7, &[RunEvent::StepReset]), "{\"type\":\"reset-step\"}\n");
}

#[test]
fn the_calls_of_an_agent_stay_between_its_texts() {
    let shown = |delta| RunEvent::AgentDelta { agent_id: "a".into(), delta };
    let text = |text: &str| shown(AgentDelta::Text { delta: text.into() });
    let input = JsonText::EMPTY_OBJECT;
    let call = shown(AgentDelta::ToolCall { tool_call_id: "c".into(), tool_name: "look".into(), input });
    let end = shown(AgentDelta::ToolEnd { tool_call_id: "c".into(), failed: false });
    let events = [text("Let me "), text("look."), call.clone(), end.clone(), text("It is "), text("red.")];
    let replayed = Replay::new().events(&records([&segment(&events)]));
    assert_eq!(replayed, [text("Let me look."), call, end, text("It is red.")]);
}

#[test]
fn records_of_sub_agents_are_not_replayed() {
    let mut writer = SegmentWriter::new();
    writer.event(&start()).unwrap();
    let head = Head::default().with(Head::AGENT, "agent-1");
    writer.record(&Record { head, content: Content::Event(RunEvent::StepStart) }).unwrap();
    let records = records([&writer.take().unwrap().bytes]);
    assert_eq!(records[1].head.agent(), Some("agent-1"));
    assert_eq!(journal::exact(&records), [start()]);
    assert_eq!(Replay::new().events(&records), [start()]);
}
