//! Invariants of every stream, for any events of the runtime.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Fails unless the chunks are valid for clients of all versions: parts and calls are opened before they are written to
/// and closed once, and the message starts first and ends last.
pub(super) fn check(chunks: &[Value], may_follow_an_error: bool) {
    let text =
        |chunk: &Value, key: &str| chunk[key].as_str().unwrap_or_else(|| panic!("{chunk}: {key}")).to_owned();
    let mut open: HashSet<String> = HashSet::new();
    let mut used: HashSet<String> = HashSet::new();
    let mut calls: HashMap<String, bool> = HashMap::new();
    let (mut in_step, mut failed) = (false, false);
    for (at, chunk) in chunks.iter().enumerate() {
        let kind = text(chunk, "type");
        assert_eq!(at == 0, kind == "start", "{kind} at {at}");
        assert!(!failed || may_follow_an_error, "{kind} after an error");
        match kind.as_str() {
            "start" => assert!(!text(chunk, "messageId").is_empty()),
            "text-start" | "reasoning-start" => {
                assert!(used.insert(text(chunk, "id")), "each id must be used once: {chunk}");
                open.insert(text(chunk, "id"));
            }
            "text-delta" | "reasoning-delta" => {
                assert!(open.contains(&text(chunk, "id")), "{chunk}");
                assert!(!text(chunk, "delta").is_empty());
            }
            "text-end" | "reasoning-end" => assert!(open.remove(&text(chunk, "id")), "{chunk}"),
            "tool-input-available" => {
                assert!(!text(chunk, "toolName").is_empty() && chunk.get("input").is_some());
                assert!(calls.insert(text(chunk, "toolCallId"), false).is_none(), "{chunk}");
            }
            "tool-output-available" | "tool-output-error" => {
                let answered = calls.insert(text(chunk, "toolCallId"), true);
                assert_eq!(answered, Some(false), "each call must have one answer: {chunk}");
            }
            "start-step" => {
                assert!(!in_step && open.is_empty(), "{chunk}");
                in_step = true;
            }
            "finish-step" => {
                assert!(in_step && open.is_empty(), "{chunk}");
                in_step = false;
            }
            "data-flow-status" | "data-node-output" => assert!(chunk["data"].is_object()),
            "message-metadata" => assert!(chunk["messageMetadata"]["error"].is_object()),
            "error" => {
                failed = true;
                assert!(!text(chunk, "errorText").is_empty());
            }
            "finish" => {
                assert_eq!(at, chunks.len() - 1, "`finish` must be last");
                assert!(["stop", "error", "other"].contains(&text(chunk, "finishReason").as_str()));
            }
            _ => panic!("{chunk}"),
        }
    }
    assert!(open.is_empty() && !in_step, "left open: {open:?}, step: {in_step}");
}
