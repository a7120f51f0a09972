//! The template for kinds without one.

use serde_json::{Map, Value};

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
            pairs(&mut out, map, caps);
        }
        _ => {
            out.push_str(": ");
            write::value(&mut out, data, caps);
        }
    }
    out
}

/// Appends `key = value, …` for the first `caps.fields` entries.
pub(super) fn pairs(out: &mut String, map: &Map<String, Value>, caps: Caps) {
    list(out, &sort::entries(map), caps, |out, (key, value)| pair(out, key, value, caps));
}

/// Appends `key = value`.
pub(super) fn pair(out: &mut String, key: &str, value: &Value, caps: Caps) {
    write::name(out, key, caps);
    out.push_str(" = ");
    write::value(out, value, caps);
}

/// Appends the first `caps.fields` items, and how many were omitted.
pub(super) fn list<T>(out: &mut String, items: &[T], caps: Caps, mut write: impl FnMut(&mut String, &T)) {
    for (index, item) in items.iter().take(caps.fields).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
    if items.len() > caps.fields {
        out.push_str(", +");
        write::push_display(out, items.len() - caps.fields);
        out.push_str(" more");
    }
}

/// Returns the first of these entries that is a text.
pub(super) fn text<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| map.get(*key)?.as_str())
}

/// Returns `true` for a value that says nothing.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
