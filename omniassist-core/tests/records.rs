//! Tests of tool calls and their results as plain records.

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::read_request;
use omniassist_core::message::{
    ChatMessage, FunctionCall, FunctionCallOutput, Message, Part, Role, ToolState, read,
};
use omniassist_core::{JsonText, Limits, RunRequest, Text};
use serde_json::{Value, json};

fn request(messages: Value) -> RunRequest {
    read_request(Bytes::from(json!({ "messages": messages }).to_string()), &Limits::default()).unwrap()
}

fn messages(json: &Value) -> Vec<Message> {
    read::messages(&Text::from(json.to_string()), &Limits::default()).unwrap()
}

/// Returns the state of the only call.
fn state(messages: &[Message]) -> ToolState {
    let mut calls = messages.iter().flat_map(Message::tools);
    let state = calls.next().unwrap().state.clone();
    assert!(calls.next().is_none());
    state
}

#[test]
fn records_survive_a_round_trip() {
    let chat = ChatMessage { id: "m1".into(), role: Role::User, content: "Go".into() };
    let mut call = FunctionCall::new("c1", "go", JsonText::parse(r#"{"to":"x"}"#).unwrap());
    call.message_id = Some("a1".into());
    call.metadata = json!({"google": {"thoughtSignature": "s"}}).as_object().cloned().map(Into::into);
    let outputs = [
        FunctionCallOutput::new("c1", JsonText::parse("[1]").unwrap()),
        FunctionCallOutput::failed("c1", JsonText::from_str_value("no")),
    ];
    for output in outputs {
        let posted = json!([chat, call, output]);
        let read = messages(&posted);
        assert_eq!(read[0], Message::from(chat.clone()));
        assert_eq!((read[1].id.as_str(), read[1].role), ("a1", Role::Assistant));
        let [Part::Tool(part)] = read[1].parts.as_slice() else { panic!("{read:?}") };
        assert_eq!(part.metadata, call.metadata);
        assert_eq!(matches!(part.state, ToolState::OutputError { .. }), output.status == "incomplete");
        assert_eq!(serde_json::from_value::<FunctionCall>(posted[1].clone()).unwrap(), call);
        assert_eq!(serde_json::from_value::<FunctionCallOutput>(posted[2].clone()).unwrap(), output);
    }
}

#[test]
fn the_type_of_a_call_is_optional_and_an_output_has_two_type_names() {
    let bare = json!([
        {"id": "c1", "name": "go", "arguments": {"to": "x"}},
        {"type": "tool_call_output", "call_id": "c1", "output": "moved"},
    ]);
    let moved = ToolState::OutputAvailable {
        input: JsonText::parse(r#"{"to":"x"}"#).unwrap(),
        output: JsonText::from_str_value("moved"),
        preliminary: false,
    };
    assert_eq!(state(&messages(&bare)), moved);
    // A record with a role is a message, regardless of its other fields.
    let named = json!([{"id": "m", "role": "user", "name": "ann", "arguments": 1, "content": "Hi"}]);
    assert_eq!(messages(&named)[0].text(), "Hi");
}

#[test]
fn a_record_contains_the_id_of_its_message() {
    let read = messages(&json!([
        {"id": "u1", "role": "user", "content": "Go"},
        {"type": "function_call", "id": "c1", "name": "go", "arguments": {}, "messageId": "a1"},
        {"type": "function_call_output", "call_id": "c1", "output": 1},
        {"type": "function_call", "id": "c2", "name": "go", "arguments": {}, "messageId": "a1"},
        {"id": "a1", "role": "assistant", "content": "Done"},
        {"type": "function_call", "id": "c3", "name": "go", "arguments": {}},
        {"id": "u2", "role": "user", "content": "Again"},
    ]));
    let ids: Vec<_> = read.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["u1", "a1", "u2"]);
    assert_eq!((read[1].tools().count(), read[1].text().as_str()), (3, "Done"));
    let error = |json: Value| read::messages(&Text::from(json.to_string()), &Limits::default()).unwrap_err();
    let earlier = error(json!([
        {"id": "a1", "role": "assistant", "content": "x"},
        {"id": "u1", "role": "user", "content": "Go"},
        {"type": "function_call", "id": "c1", "name": "go", "arguments": {}, "messageId": "a1"},
    ]));
    assert_eq!(earlier.path(), Some("messages[2].messageId"));
    let users = error(json!([
        {"type": "function_call", "id": "c1", "name": "go", "arguments": {}, "messageId": "m"},
        {"id": "m", "role": "user", "content": "Go"},
    ]));
    assert_eq!(users.path(), Some("messages[1].id"));
}

#[test]
fn only_calls_posted_as_records_are_marked() {
    let part = json!({"type": "tool-go", "toolCallId": "c1", "state": "input-available", "input": {}});
    let marked = request(json!([
        {"id": "a1", "role": "assistant", "parts": [part]},
        {"type": "function_call", "id": "c1", "name": "go", "arguments": {}},
        {"type": "function_call_output", "call_id": "c1", "output": 1},
        {"type": "function_call", "id": "c2", "name": "go", "arguments": {}},
    ]));
    assert_eq!(marked.recorded_calls.iter().map(Text::as_str).collect::<Vec<_>>(), ["c2"]);
}

#[test]
fn metadata_of_a_record_without_a_message_is_dropped() {
    let sealed = json!([
        {"id": "u", "role": "user", "content": "Go"},
        {"id": "c1", "name": "go", "arguments": {}, "providerMetadata": {"omniassist": {"seal": "v1.x"}}},
    ]);
    assert!(messages(&sealed)[1].tools().all(|call| call.metadata.is_none()));
}
