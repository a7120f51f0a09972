//! The template for kinds without one.

use serde_json::{Map, Value};

use super::sort;
use super::write;

/// Returns `kind: key = value, …`, or only the kind if there is no data.
pub(super) fn line(kind: &str, data: &Value) -> String {
    let mut out = String::with_capacity(64);
    write::name(&mut out, kind);
    match data {
        Value::Null => {}
        Value::Object(map) if map.is_empty() => {}
        Value::Object(map) => {
            out.push_str(": ");
            pairs(&mut out, map);
        }
        _ => {
            out.push_str(": ");
            write::value(&mut out, data);
        }
    }
    out
}

/// Appends `key = value, …` for the first `write::MAX_FIELDS` entries.
pub(super) fn pairs(out: &mut String, map: &Map<String, Value>) {
    list(out, &sort::entries(map), |out, (key, value)| pair(out, key, value));
}

/// Appends `key = value`.
pub(super) fn pair(out: &mut String, key: &str, value: &Value) {
    write::name(out, key);
    out.push_str(" = ");
    write::value(out, value);
}

/// Appends the first `write::MAX_FIELDS` items, and how many were omitted.
pub(super) fn list<T>(out: &mut String, items: &[T], mut write: impl FnMut(&mut String, &T)) {
    for (index, item) in items.iter().take(write::MAX_FIELDS).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
    if items.len() > write::MAX_FIELDS {
        out.push_str(", +");
        write::push_display(out, items.len() - write::MAX_FIELDS);
        out.push_str(" more");
    }
}

/// Returns the first of these entries that is a text.
pub(super) fn text<'a>(map: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a str> {
    keys.iter().find_map(|key| map.get(*key)?.as_str())
}

/// Returns `true` for an empty value.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
