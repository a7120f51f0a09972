//! The template for kinds without one.

use serde_json::Value;

use super::sort;
use super::write::{self, Caps};

/// Returns `kind: key = value, …`, or only the kind if there is no data.
pub(super) fn line(kind: &str, data: &Value, caps: Caps) -> String {
    let mut out = String::with_capacity(64);
    write::name(&mut out, kind, caps);
    match data {
        Value::Null => {}
        Value::Object(map) if map.is_empty() => {}
        Value::Object(map) => {
            out.push_str(": ");
            pairs(&mut out, sort::entries(map), map.len(), caps);
        }
        _ => {
            out.push_str(": ");
            write::value(&mut out, data, caps);
        }
    }
    out
}

/// Appends `key = value, …` for the first `caps.fields` entries.
pub(super) fn pairs<'a>(
    out: &mut String,
    entries: impl Iterator<Item = (&'a String, &'a Value)>,
    length: usize,
    caps: Caps,
) {
    for (index, (key, value)) in entries.take(caps.fields).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write::name(out, key, caps);
        out.push_str(" = ");
        write::value(out, value, caps);
    }
    more(out, length, caps);
}

/// Appends how many of `length` entries were omitted.
pub(super) fn more(out: &mut String, length: usize, caps: Caps) {
    if length > caps.fields {
        out.push_str(", +");
        write::push_display(out, length - caps.fields);
        out.push_str(" more");
    }
}
