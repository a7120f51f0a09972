use omniassist_core::{JsonText, Text};

use crate::client::definition::Definition;

/// The bytes that are logged of each side of a difference.
const MAX_SIDE: usize = 500;

/// Logs the parts of a definition that have changed.
pub(super) fn log(server: &Text, tool: &Definition, pinned: &JsonText) {
    let (old, new) = (pinned.to_value(), tool.canonical.to_value());
    for part in ["annotations", "description", "inputSchema", "outputSchema"] {
        let (old, new) = (old.get(part), new.get(part));
        if old != new {
            let side = |value: Option<&serde_json::Value>| {
                let text = value.map(ToString::to_string).unwrap_or_default();
                let text: String = text.chars().flat_map(char::escape_debug).collect();
                let end = (0..=MAX_SIDE.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
                text.get(..end.unwrap_or_default()).unwrap_or_default().to_owned()
            };
            let (server, name, old, new) = (server.as_str(), tool.name.as_str(), side(old), side(new));
            tracing::warn!(server, tool = name, part, old, new, "an MCP server has changed a tool");
        }
    }
}
