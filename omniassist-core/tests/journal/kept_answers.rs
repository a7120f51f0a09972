//! Answers that a provider keeps, and the recovery of a run that was reading one.

use omniassist_core::journal::{self, Content, Record, UnknownRecord};
use omniassist_core::run::{Action, Input, RunConfig, RunMachine};
use omniassist_core::{AnswerHandle, EventBuf, FinishReason, JsonText, LlmEvent, RunEvent, RunRequest};

use super::recovery::{Server, Tools, call, finish, server, text};

fn handle(id: &str) -> AnswerHandle {
    AnswerHandle::new("keeper", id)
}

fn kept(id: &str) -> LlmEvent {
    LlmEvent::Kept(handle(id))
}

/// Feeds the beginning of a turn.
fn begin(server: &mut Server, said: impl IntoIterator<Item = LlmEvent>) {
    assert!(matches!(server.machine.next_action(), Some(Action::CallModel { .. })));
    said.into_iter().for_each(|event| server.feed(Input::Model(event)));
}

#[test]
fn the_answer_under_way_can_be_fetched() {
    let mut server = server();
    begin(&mut server, [kept("r1"), text("Hel")]);
    let recovered = server.recovered();
    assert_eq!(recovered.kept, Some(handle("r1")));
    assert_eq!(recovered.events, [RunEvent::StepReset]);
}

#[test]
fn an_answer_can_be_fetched_after_several_interruptions() {
    let mut server = server();
    begin(&mut server, [kept("r1"), text("Hel")]);
    server.restart();
    begin(&mut server, []);
    assert_eq!(server.recovered().kept, Some(handle("r1")));
    server.feed(Input::Model(kept("r2")));
    assert_eq!(server.recovered().kept, Some(handle("r2")), "the model was asked again");
}

#[test]
fn a_complete_answer_is_not_fetched() {
    let mut server = server();
    server.turn(
        [kept("r1")]
            .into_iter()
            .chain(call(0, "c1", "look", r#"{"n":1}"#))
            .chain([finish(FinishReason::ToolCalls)]),
    );
    assert_eq!(server.recovered().kept, None);
    server.machine.next_action();
    server.feed(Input::ToolResult { call_id: "c1".into(), result: Ok(JsonText::NULL) });
    assert_eq!(server.recovered().kept, None);
    begin(&mut server, [text("The next turn")]);
    assert_eq!(server.recovered().kept, None, "the handle belongs to the turn before");
}

#[test]
fn a_run_without_a_journal_has_no_handle() {
    let mut events = EventBuf::new();
    let mut machine = RunMachine::start(&RunRequest::prompt("hi"), RunConfig::new("a1"), &Tools, &mut events);
    machine.next_action();
    machine.step(Input::Model(kept("r1")), &Tools, &mut events);
    assert_eq!(machine.take_kept(), None);
}

#[test]
fn a_version_without_the_record_asks_for_the_turn_again() {
    let mut server = server();
    begin(&mut server, [text("Hel")]);
    // The record as a version reads it that does not know the kind.
    server.record(Content::Unknown(UnknownRecord::new(8, false, &b"[]"[..])));
    let recovered = server.recovered();
    assert_eq!((recovered.kept, recovered.events), (None, vec![RunEvent::StepReset]));

    let mut writer = journal::SegmentWriter::new();
    writer.record(&Record::from(Content::Kept(handle("r1")))).unwrap();
    let segment = writer.take().unwrap().bytes;
    assert_eq!(segment[1], 8 << 2, "the record is not required");
}
