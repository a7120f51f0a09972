//! The path of a request.

use omniassist_server::ToolError;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::encode::encode_path;
use super::style::in_path;
use crate::arguments::Slot;
use crate::document::{Location, Piece, Template};

/// Fills the placeholders of a path. No value can change the number of segments, or lead out of the path.
pub(super) fn fill(
    template: &Template,
    slots: &[Slot],
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    let mut path = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Text(text) => path.push_str(&encode_path(text)),
            Piece::Name(name) => {
                let slot = slots.iter().find(|slot| slot.location == Location::Path && slot.name == *name);
                let value = slot.and_then(|slot| Some((slot, arguments.get(&slot.argument)?)));
                let text = match value {
                    Some((slot, value)) if !value.is_null() => in_path(name, value, slot.wire)?,
                    _ => String::new(),
                };
                if text.is_empty() {
                    return Err(ToolError::new(format!("The argument for `{name}` is empty.")));
                }
                path.push_str(&text);
            }
        }
    }
    if path.split('/').any(climbs) {
        return Err(ToolError::new("An argument in the path of the URL must not be `.` or `..`."));
    }
    Ok(path)
}

/// Returns `true` for a segment that servers may read as a step to another path.
fn climbs(segment: &str) -> bool {
    let decoded = percent_decode_str(segment).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|part| matches!(part, "." | ".."))
}
