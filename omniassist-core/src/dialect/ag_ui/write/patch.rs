//! Validation of JSON Patch documents (RFC 6902).

use serde_json::{Map, Value};

use crate::JsonText;

/// Returns `true` for an array of RFC 6902 operations, each with its required members and valid JSON Pointers. Clients
/// of 1.0 end the run with an error at anything else.
pub(super) fn is_patch(json: &JsonText) -> bool {
    match json.to::<Value>() {
        Ok(Value::Array(operations)) => {
            operations.iter().all(|operation| operation.as_object().is_some_and(is_operation))
        }
        _ => false,
    }
}

fn is_operation(operation: &Map<String, Value>) -> bool {
    let pointer = |key: &str| operation.get(key).and_then(Value::as_str).is_some_and(is_pointer);
    let needs = match operation.get("op").and_then(Value::as_str) {
        Some("add" | "replace" | "test") => operation.contains_key("value"),
        Some("remove") => true,
        Some("move" | "copy") => pointer("from"),
        _ => false,
    };
    needs && pointer("path")
}

/// Checks a JSON Pointer (RFC 6901): empty, or parts that each follow a slash, with `~` escaped as `~0` and `/` as
/// `~1`.
fn is_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/'))
        && text.split('~').skip(1).all(|after| after.starts_with(['0', '1']))
}
