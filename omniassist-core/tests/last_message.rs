//! Tests of requests that contain only the last message, and are completed with the stored conversation.

use bytes::Bytes;
use omniassist_core::dialect::ai_sdk::read_request;
use omniassist_core::run::Trigger;
use omniassist_core::{Limits, Message, RunRequest};
use serde_json::{Value, json};

fn read(body: &Value) -> omniassist_core::Result<RunRequest> {
    read_request(Bytes::from(body.to_string()), &Limits::default())
}

fn user(id: &str) -> Value {
    json!({"id": id, "role": "user", "parts": [{"type": "text", "text": format!("new {id}")}]})
}

fn stored() -> Vec<Message> {
    vec![
        Message::user("u1", "u1"),
        Message::assistant("a1", "a1"),
        Message::user("u2", "u2"),
        Message::assistant("a2", "a2"),
    ]
}

/// Returns the texts of the completed conversation, and the number of loaded messages.
fn complete(body: &Value) -> (Vec<String>, usize) {
    let mut request = read(body).unwrap();
    assert!(request.awaits_history, "{body}");
    request.add_history(stored()).unwrap();
    assert!(!request.awaits_history);
    (request.messages.iter().map(Message::text).collect(), request.loaded_messages)
}

#[test]
fn a_posted_message_extends_the_stored_conversation() {
    let answer = json!({"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "new a1"}]});
    for (fields, expected, loaded) in [
        (json!({"message": user("u3")}), &["u1", "a1", "u2", "a2", "new u3"][..], 4),
        (
            json!({"message": user("u3"), "trigger": "submit-message", "messageId": null}),
            &["u1", "a1", "u2", "a2", "new u3"],
            4,
        ),
        (json!({"message": user("u2"), "messageId": "u2"}), &["u1", "a1", "new u2"], 2),
        (json!({"message": user("u1")}), &["new u1"], 0),
        (json!({"message": answer, "messageId": "a1"}), &["u1", "new a1"], 1),
        (
            json!({"message": {"role": "user", "content": "nameless"}}),
            &["u1", "a1", "u2", "a2", "nameless"],
            4,
        ),
    ] {
        let mut body = json!({"id": "c"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let (texts, count) = complete(&body);
        assert_eq!(
            (texts.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), count),
            (expected, loaded),
            "{body}"
        );
    }
}

#[test]
fn a_regeneration_removes_the_old_answer() {
    for (fields, expected) in [
        (json!({}), &["u1", "a1", "u2"][..]),
        (json!({"message": null}), &["u1", "a1", "u2"]),
        (json!({"messageId": "a2"}), &["u1", "a1", "u2"]),
        (json!({"messageId": "a1"}), &["u1"]),
        (json!({"messageId": "u1"}), &["u1"]),
        (json!({"messageId": "a2", "message": user("u2")}), &["u1", "a1", "new u2"]),
        (json!({"messageId": "a1", "message": user("u1")}), &["new u1"]),
        (json!({"message": user("u2")}), &["u1", "a1", "new u2"]),
        (json!({"messageId": "not stored", "message": user("u2")}), &["u1", "a1", "new u2"]),
    ] {
        let mut body = json!({"id": "c", "trigger": "regenerate-message"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let (texts, _) = complete(&body);
        assert_eq!(texts, expected, "{body}");
    }
}

#[test]
fn a_request_without_a_question_is_refused() {
    for (message_id, history) in [
        (Some("other"), stored()),
        (Some("u1"), vec![]),
        (None, vec![]),
        (Some("a1"), stored()[1..].to_vec()),
    ] {
        let mut request =
            read(&json!({"id": "c", "trigger": "regenerate-message", "messageId": message_id})).unwrap();
        let error = request.add_history(history).unwrap_err();
        assert_eq!(error.path(), Some("messageId"), "{message_id:?}");
    }
}

#[test]
fn a_message_without_an_id_gets_a_new_id() {
    let mut request = read(&json!({"id": "c", "message": {"role": "user", "content": "Hi"}})).unwrap();
    request.add_history(vec![Message::user("msg-1", "u"), Message::assistant("msg-0", "a")]).unwrap();
    assert_eq!(request.messages[2].id, "msg-2");
    let mut request =
        read(&json!({"id": "c", "message": {"id": "", "role": "user", "content": "Hi"}})).unwrap();
    request.add_history(vec![Message::user("msg-1", "u")]).unwrap();
    assert_eq!((request.messages.len(), request.messages[1].id.as_str()), (2, "msg-2"));
}

#[test]
fn a_complete_conversation_needs_no_history() {
    let body =
        json!({"id": "c", "messages": [user("u9")], "message": user("u3"), "trigger": "regenerate-message"});
    let mut request = read(&body).unwrap();
    assert!(!request.awaits_history);
    assert_eq!(request.extra["message"].to_value(), user("u3"), "`message` must become an extra field");
    let before = request.clone();
    request.add_history(stored()).unwrap();
    assert_eq!(request, before);
    assert_eq!(request.trigger, Trigger::Regenerate);

    let mut limits = Limits::default();
    for (limit, ok) in [(2, true), (1, false)] {
        limits.max_extra_fields = limit;
        let body = json!({"messages": [user("u9")], "message": 1, "other": 2}).to_string();
        let read = read_request(Bytes::from(body), &limits);
        assert_eq!(read.is_ok(), ok, "{limit}");
    }
}

#[test]
fn an_error_contains_its_path() {
    for (body, path) in [
        (json!({"message": user("u1")}), "id"),
        (json!({"id": "", "message": user("u1")}), "id"),
        (json!({"id": "c", "message": "Hi"}), "message"),
        (json!({"id": "c", "message": [user("u1")]}), "message"),
        (json!({"id": "c", "message": {"id": "u1", "role": "user"}}), "message.parts"),
        (
            json!({"id": "c", "message": {"id": "u1", "role": "user", "parts": [{"type": "text", "text": 5}]}}),
            "message.parts[0].text",
        ),
        (json!({"id": "c", "message": {"id": "u1", "role": "user", "parts": []}}), "message"),
        (json!({"id": "c", "message": {"id": "u1", "role": "tool", "parts": []}}), "message.role"),
        (json!({"id": "c", "message": null}), "messages"),
        (json!({"id": "c"}), "messages"),
        (json!({"trigger": "regenerate-message"}), "id"),
    ] {
        assert_eq!(read(&body).unwrap_err().path(), Some(path), "{body}");
    }
}
