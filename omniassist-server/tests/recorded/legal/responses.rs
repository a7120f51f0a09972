//! OpenAI Responses: `input` items, with `store: false`.
//!
//! <https://platform.openai.com/docs/api-reference/responses/create>,
//! <https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context>.

use std::collections::HashSet;

use serde_json::Value;

use super::{Faults, is_filled, is_name, is_new, is_object_text, items};

/// The items of tools that the API runs.
const OWN_TOOLS: [&str; 5] =
    ["web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools"];

/// Returns the faults of a request.
pub(crate) fn faults(body: &Value) -> Vec<String> {
    let mut faults = Faults::default();
    let input = items(&body["input"]);
    faults.check(!input.is_empty(), "input", "no items");
    faults.check(is_filled(&body["model"]), "model", "missing");
    faults.check(body["store"] == false, "store", "must be false, so that the API does not store items");
    let (mut ids, mut calls) = (HashSet::new(), HashSet::new());
    let mut open: Vec<&str> = Vec::new();
    // The first flag marks a turn with reasoning. The second flag marks reasoning that still needs its next item.
    let (mut reasoned, mut waiting) = (false, false);
    for (at, item) in input.iter().enumerate() {
        let place = format!("input[{at}]");
        let kind = item["type"].as_str().unwrap_or_default();
        let id = &item["id"];
        let is_own_tool = OWN_TOOLS.contains(&kind);
        if !id.is_null() {
            faults.check(is_new(&mut ids, id), &place, "a repeated id");
            faults.check(id.as_str().is_some_and(|id| id.len() <= 64), &place, "an id longer than 64 bytes");
            let prefix = match kind {
                "message" => "msg",
                "reasoning" => "rs",
                "function_call" => "fc",
                _ => "",
            };
            let fits = id.as_str().is_some_and(|id| id.starts_with(prefix));
            faults.check(fits, &place, "an id with the prefix of another type");
            // A model without reasoning also runs tools.
            let free = matches!(kind, "reasoning" | "compaction") || is_own_tool && !waiting;
            faults.check(free || reasoned, &place, "an id without the reasoning of its turn");
        }
        let is_output = kind == "function_call_output";
        let said = kind == "message" && item["role"] == "assistant";
        let answers = said || kind == "function_call" || is_own_tool;
        if waiting && kind != "reasoning" {
            faults.check(answers, &place, "reasoning without the item that followed it");
            waiting = false;
        }
        if !is_output && kind != "function_call" && kind != "reasoning" && !answers {
            faults.check(open.is_empty(), &place, "an earlier call without an output");
        }
        match kind {
            "message" => message(&mut faults, &place, item),
            "reasoning" => {
                faults.check(
                    is_filled(&item["encrypted_content"]),
                    &place,
                    "reasoning without encrypted content",
                );
                faults.check(item["summary"].is_array(), &place, "no summary");
                for part in items(&item["summary"]) {
                    let fits = part["type"] == "summary_text" && part["text"].is_string();
                    faults.check(fits, &place, "an invalid summary");
                }
                waiting = true;
                reasoned |= id.is_string();
            }
            "function_call" => {
                faults.check(is_new(&mut calls, &item["call_id"]), &place, "a repeated call id");
                let fits = item["call_id"].as_str().is_some_and(|id| (1..=64).contains(&id.len()));
                faults.check(fits, &place, "a call id that is missing or longer than 64 bytes");
                faults.check(is_name(&item["name"], 128), &place, "an invalid name");
                faults.check(is_object_text(&item["arguments"]), &place, "arguments that are not an object");
                open.extend(item["call_id"].as_str());
            }
            "function_call_output" => {
                let found = item["call_id"].as_str().and_then(|id| open.iter().position(|open| *open == id));
                faults.check(
                    found.is_some(),
                    &place,
                    "an output without an earlier call, or a second output",
                );
                if let Some(found) = found {
                    open.remove(found);
                }
                faults.check(item["output"].is_string(), &place, "an output that is not a text");
                reasoned = false;
            }
            "compaction" => {
                faults.check(is_filled(&item["encrypted_content"]), &place, "a compaction without content");
            }
            _ if is_own_tool => {
                faults.check(is_filled(id), &place, "an item of a built-in tool without an id");
            }
            _ => faults.check(false, &place, "an unknown type"),
        }
        if !item["status"].is_null() {
            let known = ["in_progress", "completed", "incomplete"];
            let fits = item["status"].as_str().is_some_and(|status| known.contains(&status));
            faults.check(fits, &place, "an unknown status");
        }
        if item["role"] == "user" {
            reasoned = false;
        }
    }
    faults.check(open.is_empty(), "input", "a call without an output");
    faults.check(!waiting, "input", "the input ends with reasoning");
    let last = input.last();
    let awaits = last.is_some_and(|item| item["role"] == "user" || item["type"] == "function_call_output");
    faults.check(awaits, "input", "no item to answer");
    faults.0
}

fn message(faults: &mut Faults, place: &str, item: &Value) {
    let texts: &[&str] = match item["role"].as_str() {
        Some("user") => &["input_text", "input_image", "input_file"],
        Some("assistant") => &["output_text", "refusal"],
        _ => &[],
    };
    faults.check(!texts.is_empty(), place, "an unknown role");
    let content = items(&item["content"]);
    faults.check(!content.is_empty(), place, "no content");
    for part in content {
        let kind = part["type"].as_str().unwrap_or_default();
        faults.check(texts.contains(&kind), place, "content of a type that is not allowed for the role");
        if kind.ends_with("_text") {
            faults.check(is_filled(&part["text"]), place, "an empty text");
        }
    }
}

#[test]
fn invalid_requests_are_detected() {
    use serde_json::json;
    let user =
        || json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]});
    let call = || json!({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"});
    let output = || json!({"type": "function_call_output", "call_id": "c", "output": "x"});
    let reasoning = || json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let with = |input: Vec<Value>| faults(&json!({"model": "m", "store": false, "input": input}));
    assert_eq!(with(vec![user(), reasoning(), call(), output(), user()]), [""; 0]);
    let wrong = [
        vec![],
        vec![user(), call()],
        vec![user(), call(), user()],
        vec![user(), call(), user(), output()],
        vec![user(), output()],
        vec![user(), call(), output(), output()],
        vec![user(), call(), call(), output()],
        vec![user(), reasoning()],
        vec![user(), reasoning(), user()],
        vec![user(), json!({"type": "message", "role": "assistant", "content": []}), user()],
        vec![json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": ""}]})],
        vec![
            user(),
            {
                let mut call = call();
                call["arguments"] = "{\"a".into();
                call
            },
            output(),
        ],
        vec![
            user(),
            {
                let mut call = call();
                call["id"] = "fc_1".into();
                call
            },
            output(),
        ],
    ];
    for input in wrong {
        assert!(!with(input.clone()).is_empty(), "{input:?}");
    }
}
