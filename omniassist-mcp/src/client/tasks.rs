//! The member `execution` of tools, which the protocol crate does not read.

use rmcp::model::Tool;
use serde_json::{Map, Value};

/// The key of `_meta` for a tool that needs tasks.
const KEY: &str = "omniassist/needs-tasks";

const MEMBER: &[u8] = b"\"taskSupport\"";

/// Marks the tools in a message that can only be called as tasks. Returns `None` for a message without such tools.
pub(super) fn marked(message: &[u8]) -> Option<String> {
    if !message.windows(MEMBER.len()).any(|part| part == MEMBER) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let tools = message.pointer_mut("/result/tools")?.as_array_mut()?;
    for tool in tools.iter_mut().filter_map(Value::as_object_mut) {
        let support = tool.get("execution").and_then(|execution| execution.get("taskSupport"));
        if support.is_some_and(|support| support == "required") {
            let mut meta = match tool.remove("_meta") {
                Some(Value::Object(meta)) => meta,
                _ => Map::new(),
            };
            meta.insert(KEY.to_owned(), true.into());
            tool.insert("_meta".to_owned(), meta.into());
        }
    }
    Some(message.to_string())
}

/// Returns `true` for a tool that can only be called as a task.
pub(super) fn are_needed(tool: &Tool) -> bool {
    tool.meta.as_ref().is_some_and(|meta| meta.contains_key(KEY))
}
