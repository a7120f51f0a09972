use omniassist_core::characters::prefix;
use omniassist_core::{JsonText, Text};

use crate::client::definition::Definition;

/// The bytes that are logged of each side of a difference.
const MAX_SIDE: usize = 500;

/// Logs the parts of a definition that have changed.
pub(super) fn log(server: &Text, tool: &Definition, pinned: &JsonText) {
    let (old, new) = (pinned.to_value(), tool.canonical.to_value());
    for part in ["annotations", "description", "inputSchema", "outputSchema", "title"] {
        let (old, new) = (old.get(part), new.get(part));
        if old != new {
            let side = |value: Option<&serde_json::Value>| {
                let text = value.map(ToString::to_string).unwrap_or_default();
                let text: String = text.chars().flat_map(char::escape_debug).collect();
                prefix(&text, MAX_SIDE).to_owned()
            };
            let (server, name, old, new) = (server.as_str(), tool.name.as_str(), side(old), side(new));
            tracing::warn!(server, tool = name, part, old, new, "an MCP server has changed a tool");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_parts_that_have_changed_are_logged_on_one_line_each() {
        let tool = |description: &'static str| {
            Definition::new(&rmcp::model::Tool::new("look", description, Arc::new(serde_json::Map::new())))
        };
        let (old, new) = (tool("Looks").unwrap(), tool("Sends\n\u{202e}files").unwrap());
        let lines = Log::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || log(&"docs".into(), &new, &old.canonical));
        let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        for part in ["docs", "look", "description", "Looks", "Sends", "202e"] {
            assert!(lines.contains(part), "{lines}");
        }
        assert!(!lines.contains('\u{202e}') && !lines.contains("inputSchema"), "{lines}");
    }
}
