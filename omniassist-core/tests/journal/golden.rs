//! The bytes of version 1, which every later version must read.

use bytes::Bytes;
use omniassist_core::event::{ApprovalRequest, BlockId, RunErrorCode};
use omniassist_core::journal::{self, Content, Head, Record, SegmentWriter, UnknownRecord};
use omniassist_core::run::Input;
use omniassist_core::{AnswerHandle, FinishReason, JsonText, LlmEvent, RunEvent, Usage};
use serde_json::json;

use super::recovery::{call, finish, server, text};

/// Returns the segments of a run with a block, a call and its result.
fn run() -> Vec<Bytes> {
    let mut server = server();
    server.cut();
    let metadata = serde_json::from_value(json!({"p": {"state": 1}})).unwrap();
    let mut usage = Usage::default();
    usage.input_tokens = Some(7);
    let item = JsonText::parse(r#"{"type":"web_search_call"}"#).unwrap();
    let said = [
        text("H\u{e9}"),
        text("llo"),
        LlmEvent::TextEnd { block: 0, metadata: Some(metadata) },
        LlmEvent::ProviderTool {
            id: "s".into(),
            kind: "web_search".into(),
            name: None,
            item,
            replay_to: Some("p".into()),
        },
        LlmEvent::Usage(usage),
    ];
    let calls = call(0, "c1", "look", r#"{"n":12345678901234567890}"#);
    server.turn(said.into_iter().chain(calls).chain([finish(FinishReason::ToolCalls)]));
    server.cut();
    server.begin(&["c1".into()]);
    server.cut();
    server.machine.next_action();
    server.feed(Input::ToolUnknown { call_id: "c1".into() });
    server.record(Content::UnknownOutcome("c1".into()));
    server.cut();
    server.segments
}

/// Returns records that the run does not have, each for a segment of its own.
fn others() -> Vec<Record> {
    let agent = Head::default().with(Head::AGENT, "agent-1").with(200, "later");
    let event = |event| Record::from(Content::Event(event));
    let mut request = ApprovalRequest::new("c2".into(), "pay".into(), JsonText::EMPTY_OBJECT);
    request.expires_at_ms = Some(1);
    vec![
        event(RunEvent::StepReset),
        event(RunEvent::ReasoningStart { id: BlockId(300) }),
        event(RunEvent::ToolApprovalRequest(request)),
        event(RunEvent::Error { code: RunErrorCode::Refused("no_credits"), message: "No.".into() }),
        event(RunEvent::Finish { reason: FinishReason::Other("x".into()), usage: Usage::default() }),
        Record { head: agent, content: Content::Event(RunEvent::StepStart) },
        Content::Unknown(UnknownRecord::new(99, true, "body")).into(),
        Content::Kept(AnswerHandle::new("keeper", "r1")).into(),
    ]
}

#[test]
fn version_1() {
    let mut segments = run();
    for record in others() {
        let mut writer = SegmentWriter::new();
        writer.record(&record).unwrap();
        let segment = writer.take().unwrap().bytes;
        assert_eq!(journal::read(&segment).unwrap(), [record]);
        segments.push(segment);
    }
    let written: String = segments.iter().map(|segment| format!("{}\n", segment.escape_ascii())).collect();
    let expected = include_str!("version_1.txt");
    assert_eq!(written, expected, "\n{written}");
}
