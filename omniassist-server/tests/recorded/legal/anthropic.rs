//! Anthropic Messages: `messages`.
//!
//! <https://docs.anthropic.com/en/api/messages>,
//! <https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use#handling-tool-use-and-tool-result-content-blocks>,
//! <https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks>.

use std::collections::HashSet;

use serde_json::Value;

use super::{Faults, is_filled, is_name, is_new, is_said, items};

/// The maximum number of blocks with a cache marker in one request.
const MOST_CACHE_MARKERS: usize = 4;

/// Stands for plain text content that is already checked.
const PLAIN_TEXT: &[Value] = &[Value::Null];

/// Returns the faults of a request.
pub(crate) fn faults(body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    faults.check(is_filled(&body["model"]), "model", "missing");
    faults.check(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens", "missing");
    if !body["system"].is_null() {
        let blocks = items(&body["system"]);
        let said = is_said(&body["system"]) || blocks.iter().all(|block| is_said(&block["text"]));
        faults.check(said && body["system"] != Value::Array(Vec::new()), "system", "empty");
    }
    let messages = items(&body["messages"]);
    faults.check(!messages.is_empty(), "messages", "no messages");
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut ran = Vec::new();
    let (mut uses, mut markers) = (false, cache_markers(&body["system"]) + cache_markers(&body["tools"]));
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        faults.check(message["role"] == role, &place, "the roles must alternate and begin with the user");
        let blocks = match &message["content"] {
            content @ Value::String(_) => {
                faults.check(is_said(content), &place, "an empty text");
                PLAIN_TEXT
            }
            content => items(content),
        };
        faults.check(!blocks.is_empty(), &place, "no content");
        markers += cache_markers(&message["content"]);
        if message["role"] == "assistant" {
            uses |= assistant(&mut faults, &place, blocks, &mut ids, &mut open, &mut ran);
        } else {
            let results = blocks.iter().all(|block| block["type"] == "tool_result");
            faults.check(results || ran.is_empty(), &place, "a server tool use without a result");
            user(&mut faults, &place, blocks, &mut open);
        }
    }
    faults.check(open.is_empty(), "messages", "a tool use without a result");
    // The API continues a paused turn, which ends with one of its own tools.
    let paused = messages.last().and_then(|last| items(&last["content"]).last()).is_some_and(is_own_tool);
    let awaits = messages.last().is_some_and(|last| last["role"] == "user") || paused;
    faults.check(awaits, "messages", "no message to answer");
    faults.check(
        !uses || !items(&body["tools"]).is_empty(),
        "tools",
        "no tools, but the messages contain tool uses",
    );
    faults.check(markers <= MOST_CACHE_MARKERS, "cache_control", "more than four cache markers");
    faults.0
}

/// Returns `true` if a block belongs to a tool that the API runs.
fn is_own_tool(block: &Value) -> bool {
    let kind = block["type"].as_str().unwrap_or_default();
    matches!(kind, "server_tool_use" | "mcp_tool_use") || kind.ends_with("_tool_result")
}

fn cache_markers(blocks: &Value) -> usize {
    items(blocks).iter().filter(|block| !block["cache_control"].is_null()).count()
}

fn assistant<'a>(
    faults: &mut Faults,
    place: &str,
    blocks: &'a [Value],
    ids: &mut HashSet<&'a str>,
    open: &mut Vec<&'a str>,
    ran: &mut Vec<&'a str>,
) -> bool {
    let mut uses = false;
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "" if block.is_null() => {}
            "text" => faults.check(is_said(&block["text"]), place, "an empty text"),
            "thinking" => {
                faults.check(is_filled(&block["signature"]), place, "thinking without a signature");
                faults.check(block["thinking"].is_string(), place, "thinking without its text");
                faults.check(block["cache_control"].is_null(), place, "thinking with a cache marker");
            }
            "redacted_thinking" => {
                faults.check(is_filled(&block["data"]), place, "redacted thinking without data");
            }
            "compaction" => faults.check(is_filled(&block["content"]), place, "a compaction without content"),
            "tool_use" => {
                uses = true;
                faults.check(is_new(ids, &block["id"]), place, "a missing or repeated id");
                faults.check(
                    is_name(&block["id"], 256),
                    place,
                    "an id with characters other than letters, digits, _ and -",
                );
                faults.check(is_name(&block["name"], 128), place, "an invalid name");
                faults.check(block["input"].is_object(), place, "an input that is not an object");
                open.extend(block["id"].as_str());
            }
            "server_tool_use" | "mcp_tool_use" => {
                faults.check(is_new(ids, &block["id"]), place, "a missing or repeated id");
                faults.check(block["input"].is_object(), place, "an input that is not an object");
                ran.extend(block["id"].as_str());
            }
            _ if is_own_tool(block) => {
                let found = ran.iter().position(|id| block["tool_use_id"] == **id);
                faults.check(found.is_some(), place, "a server tool result without its use");
                found.map(|found| ran.remove(found));
            }
            _ => faults.check(false, place, "a block of an unknown type"),
        }
    }
    let thinks = blocks
        .last()
        .is_some_and(|block| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")));
    faults.check(!thinks, place, "the message ends with thinking");
    uses
}

fn user(faults: &mut Faults, place: &str, blocks: &[Value], open: &mut Vec<&str>) {
    let mut said = false;
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "" if block.is_null() => said = true,
            "tool_result" => {
                faults.check(!said, place, "a tool result after other content");
                let id = block["tool_use_id"].as_str();
                let found = id.and_then(|id| open.iter().position(|open| *open == id));
                faults.check(
                    found.is_some(),
                    place,
                    "a tool result without a tool use in the previous message, or a repeated tool result",
                );
                if let Some(found) = found {
                    open.remove(found);
                }
                for part in items(&block["content"]) {
                    faults.check(part["type"] != "text" || is_said(&part["text"]), place, "an empty text");
                }
            }
            "text" => {
                said = true;
                faults.check(is_said(&block["text"]), place, "an empty text");
            }
            "image" | "document" => said = true,
            _ => faults.check(false, place, "a block of an unknown type"),
        }
    }
    faults.check(open.is_empty(), place, "a tool use of the previous message without a result");
    open.clear();
}

#[test]
fn invalid_requests_are_detected() {
    use serde_json::json;
    let user = || json!({"role": "user", "content": [{"type": "text", "text": "a"}]});
    let says = |blocks: Value| json!({"role": "assistant", "content": blocks});
    let uses = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let results = |ids: &[&str]| {
        let results: Vec<Value> =
            ids.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "x"})).collect();
        json!({"role": "user", "content": results})
    };
    let thinks = |signature: &str| json!({"type": "thinking", "thinking": "t", "signature": signature});
    let with = |messages: Vec<Value>| {
        faults(&json!({"model": "m", "max_tokens": 9, "tools": [{"name": "n"}], "messages": messages}))
    };
    let ran = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "n", "input": {}});
    let found = |id: &str| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []});
    assert_eq!(with(vec![user(), says(json!([ran("s"), found("s"), uses("a")])), results(&["a"])]), [""; 0]);
    assert_eq!(with(vec![user(), says(json!([ran("s")]))]), [""; 0]);
    let due =
        vec![user(), says(json!([ran("s"), uses("a")])), results(&["a"]), says(json!([found("s")])), user()];
    assert_eq!(with(due), [""; 0]);
    let two = || says(json!([thinks("s"), uses("a"), uses("b")]));
    assert_eq!(with(vec![user(), two(), results(&["a", "b"])]), [""; 0]);
    let mut late = results(&["a", "b"]);
    late["content"].as_array_mut().unwrap().insert(0, json!({"type": "text", "text": "a"}));
    let wrong = [
        vec![],
        vec![user(), user()],
        vec![says(json!([uses("a")])), results(&["a"])],
        vec![user(), two()],
        vec![user(), two(), results(&["a"])],
        vec![user(), two(), user()],
        vec![user(), two(), late],
        vec![user(), two(), results(&["a", "b", "b"])],
        vec![user(), says(json!([uses("a"), uses("a")])), results(&["a", "a"])],
        vec![user(), says(json!([{"type": "text", "text": " \n"}])), user()],
        vec![user(), says(json!([])), user()],
        vec![user(), says(json!([thinks(""), uses("a")])), results(&["a"])],
        vec![user(), says(json!([thinks("s")])), user()],
        vec![user(), says(json!([uses("a:b")])), results(&["a:b"])],
        vec![user(), says(json!([{"type": "text", "text": "a"}]))],
        vec![user(), says(json!([ran("s")])), user()],
        vec![user(), says(json!([found("s")])), user()],
        vec![user(), says(json!([ran("s"), found("s"), found("s")])), user()],
        vec![user(), says(json!([ran("s"), ran("s")]))],
    ];
    for messages in wrong {
        assert!(!with(messages.clone()).is_empty(), "{messages:?}");
    }
}
