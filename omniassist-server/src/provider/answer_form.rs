//! The form of an answer, for requests that have no field for its schema.

use serde_json::Value;

/// Returns a system prompt that ends with the schema of the answer. The run checks the answer against it.
pub(super) fn prompt(system: Option<&str>, schema: &Value) -> String {
    let system = system.map(|system| format!("{system}\n\n")).unwrap_or_default();
    format!("{system}Answer with JSON that follows this schema:\n{schema}")
}
