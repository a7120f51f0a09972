//! Chat Completions: `messages`.
//!
//! <https://platform.openai.com/docs/api-reference/chat/create>.

use std::collections::HashSet;

use serde_json::Value;

use super::{Faults, is_filled, is_name, is_new, is_object_text, items};

/// Returns the faults of a request.
pub(crate) fn faults(body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    let messages = items(&body["messages"]);
    faults.check(is_filled(&body["model"]), "model", "missing");
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            faults.check(
                open.is_empty(),
                &place,
                "an earlier call without an answer directly after the calls",
            );
            open.clear();
        }
        match role {
            "system" | "developer" => {
                faults.check(at == 0, &place, "instructions after the first message");
                faults.check(is_filled(&message["content"]), &place, "no content");
            }
            "user" => user(&mut faults, &place, &message["content"]),
            "assistant" => {
                let calls = items(&message["tool_calls"]);
                let content = &message["content"];
                let silent = content.is_null() && !calls.is_empty();
                faults.check(silent || is_filled(content), &place, "no text and no calls, or an empty text");
                faults.check(
                    message["tool_calls"].is_null() || !calls.is_empty(),
                    &place,
                    "an empty list of calls",
                );
                for call in calls {
                    faults.check(is_new(&mut ids, &call["id"]), &place, "a missing or repeated call id");
                    faults.check(is_filled(&call["id"]), &place, "an empty call id");
                    faults.check(
                        call["type"] == "function",
                        &place,
                        "a call with a type other than function",
                    );
                    let function = &call["function"];
                    faults.check(is_name(&function["name"], 64), &place, "an invalid name");
                    let arguments = &function["arguments"];
                    faults.check(is_object_text(arguments), &place, "arguments that are not an object");
                    open.extend(call["id"].as_str());
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str();
                let found = id.and_then(|id| open.iter().position(|open| *open == id));
                faults.check(
                    found.is_some(),
                    &place,
                    "an answer without an open call in the previous message",
                );
                if let Some(found) = found {
                    open.remove(found);
                }
                faults.check(is_filled(&message["content"]), &place, "no content");
            }
            _ => faults.check(false, &place, "an unknown role"),
        }
    }
    faults.check(open.is_empty(), "messages", "a call without an answer");
    let last = messages.last().and_then(|message| message["role"].as_str());
    faults.check(matches!(last, Some("user" | "tool")), "messages", "no message to answer");
    faults.0
}

fn user(faults: &mut Faults, place: &str, content: &Value) {
    if content.is_string() {
        return faults.check(is_filled(content), place, "an empty text");
    }
    let parts = items(content);
    faults.check(!parts.is_empty(), place, "no content");
    for part in parts {
        let kind = part["type"].as_str().unwrap_or_default();
        let known = ["text", "image_url", "input_audio", "file"];
        faults.check(known.contains(&kind), place, "content of an unknown type");
        faults.check(kind != "text" || is_filled(&part["text"]), place, "an empty text");
    }
}

#[test]
fn invalid_requests_are_detected() {
    use serde_json::json;
    let user = || json!({"role": "user", "content": "a"});
    let calls = |ids: &[&str]| {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({"id": id, "type": "function", "function": {"name": "n", "arguments": "{}"}}))
            .collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let with = |messages: Vec<Value>| faults(&json!({"model": "m", "messages": messages}));
    assert_eq!(with(vec![user(), calls(&["a", "b"]), answer("b"), answer("a"), user()]), [""; 0]);
    let wrong = [
        vec![],
        vec![user(), calls(&["a"])],
        vec![user(), calls(&["a"]), user()],
        vec![user(), calls(&["a"]), user(), answer("a")],
        vec![user(), calls(&["a", "b"]), answer("a"), user()],
        vec![user(), answer("a")],
        vec![user(), calls(&["a"]), answer("a"), answer("a")],
        vec![user(), calls(&["a"]), answer("a"), calls(&["a"]), answer("a")],
        vec![user(), calls(&[])],
        vec![user(), json!({"role": "assistant", "content": ""}), user()],
        vec![user(), json!({"role": "assistant", "content": "a"})],
        vec![json!({"role": "user", "content": []})],
        vec![user(), json!({"role": "system", "content": "a"}), user()],
    ];
    for messages in wrong {
        assert!(!with(messages.clone()).is_empty(), "{messages:?}");
    }
}
