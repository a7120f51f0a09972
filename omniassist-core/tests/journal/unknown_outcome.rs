//! Calls that were running when the server stopped.

use omniassist_core::journal::Content;
use omniassist_core::run::{Action, Input};
use omniassist_core::{FinishReason, JsonText, RunEvent, TranscriptItem};

use super::recovery::{Server, call, finish, server};

/// Returns a server that has stopped while `c1` of `look` ran, and the call's outcome as unknown.
fn interrupted() -> Server {
    let mut server = server();
    let calls =
        call(0, "c1", "look", r#"{"n":1,"m":2}"#).into_iter().chain(call(1, "c2", "look", r#"{"n":2}"#));
    server.turn(calls.chain([finish(FinishReason::ToolCalls)]));
    server.machine.next_action();
    server.begin(&["c1".into()]);
    assert_eq!(server.restart(), ["c1"], "c2 has not begun");
    let Some(Action::RunTools { calls }) = server.machine.next_action() else { panic!() };
    assert_eq!(calls.len(), 2);
    server.feed(Input::ToolUnknown { call_id: "c1".into() });
    server.record(Content::UnknownOutcome("c1".into()));
    server
}

fn answer(server: &mut Server, call_id: &str) {
    server.feed(Input::ToolResult { call_id: call_id.into(), result: Ok(JsonText::NULL) });
}

#[test]
fn the_model_and_the_client_read_that_the_outcome_is_unknown() {
    let mut server = interrupted();
    answer(&mut server, "c2");
    let expected = "It is not known whether this took effect: the server stopped while it ran.";
    let is_error = |event: &RunEvent| matches!(event, RunEvent::ToolError { call_id, error_text, .. } if call_id == "c1" && error_text == expected);
    assert!(server.shown.iter().any(is_error), "{:?}", server.shown);
    let result = server.machine.transcript().iter().find_map(|item| match item {
        TranscriptItem::Result(result) if result.call_id == "c1" => Some(result.clone()),
        _ => None,
    });
    let result = result.unwrap();
    assert_eq!((result.output_text().as_str(), result.is_error), (expected, true));
}

#[test]
fn the_same_call_does_not_run_again() {
    let mut server = interrupted();
    answer(&mut server, "c2");
    for restart in [false, true] {
        if restart {
            assert!(server.restart().is_empty());
        }
        let same = call(0, "again", "look", r#"{ "m": 2.0, "n": 1 }"#);
        let other = call(1, "other", "look", r#"{"n":3}"#);
        server.turn(same.into_iter().chain(other).chain([finish(FinishReason::ToolCalls)]));
        let Some(Action::RunTools { calls }) = server.machine.next_action() else { panic!() };
        let [other] = calls.as_slice() else { panic!("{calls:?}") };
        assert!(matches!(
            &*server.shown,
            [.., RunEvent::ToolRefused { .. }, RunEvent::ToolInputAvailable { .. }]
        ));
        let other = other.id.clone();
        answer(&mut server, &other);
    }
}

#[test]
fn a_call_that_is_not_running_has_a_known_outcome() {
    let mut server = interrupted();
    let shown = server.shown.len();
    server.feed(Input::ToolUnknown { call_id: "c1".into() });
    server.feed(Input::ToolUnknown { call_id: "c9".into() });
    assert_eq!(server.shown.len(), shown);
}
