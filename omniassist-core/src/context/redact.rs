//! Replacement of the secrets of a message, before any other processing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{json, scrub, sort};
use crate::secret::{Names, REDACTED, is_secret_autocomplete, is_secret_kind, squash};

/// The depth below which a value is replaced as a whole. It is above the limit of a request.
const MAX_DEPTH: usize = 128;

/// The keys of the name of a field.
const FIELD_NAMES: [&str; 5] = ["field", "fieldName", "fieldId", "inputName", "param"];

/// The keys of a name, which is that of a field if a value is next to it.
const NAMES: [&str; 12] = [
    "name",
    "id",
    "key",
    "label",
    "placeholder",
    "title",
    "header",
    "ariaLabel",
    "property",
    "attribute",
    "setting",
    "variable",
];

/// Removes the secrets from the messages of one compression.
pub(super) struct Redactor<'a> {
    /// The names that the host lists, normalised.
    listed: &'a BTreeSet<String>,
    /// The fields that a message declares as secret, normalised.
    declared: BTreeSet<String>,
    names: Names,
    count: usize,
}

impl<'a> Redactor<'a> {
    pub(super) fn new(listed: &'a BTreeSet<String>) -> Self {
        Self { listed, declared: BTreeSet::new(), names: Names::default(), count: 0 }
    }

    /// Returns the number of values that were replaced.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Collects the fields that a message declares as secret, because another message may contain their values.
    pub(super) fn learn(&mut self, value: &Value) {
        self.learn_at(None, value, 0);
    }

    fn learn_at(&mut self, key: Option<&str>, value: &Value, depth: usize) {
        match value {
            _ if depth > MAX_DEPTH => {}
            Value::Array(items) => items.iter().for_each(|item| self.learn_at(None, item, depth + 1)),
            Value::Object(map) => {
                if declares_secret(map) {
                    key.into_iter().for_each(|name| self.declare(name));
                    for key in ["name", "id", "key", "field", "fieldName"] {
                        if let Some(Value::String(name)) = map.get(key) {
                            self.declare(name);
                        }
                    }
                }
                if key.is_some_and(|key| is_any(key, &["types", "fieldTypes", "inputTypes", "autocomplete"]))
                {
                    for (field, kind) in map {
                        if kind
                            .as_str()
                            .is_some_and(|kind| is_secret_kind(kind) || is_secret_autocomplete(kind))
                        {
                            self.declare(field);
                        }
                    }
                }
                map.iter().for_each(|(key, item)| self.learn_at(Some(key), item, depth + 1));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn declare(&mut self, name: &str) {
        let mut squashed = String::new();
        squash(name, &mut squashed);
        if !squashed.is_empty() {
            self.declared.insert(squashed);
        }
    }

    /// Returns the data of a message without its secrets, or `None` if it has none. The kind of a message is the name of
    /// plain data.
    pub(super) fn data(&mut self, kind: &str, data: &Value) -> Option<Value> {
        let is_plain = matches!(data, Value::String(_) | Value::Number(_)) && !is_blank(data);
        if is_plain && self.is_secret(kind, false) {
            return Some(self.hide());
        }
        // The keys of a navigation can be those of a query string.
        self.value_at(data, kind == "navigation", 0)
    }

    fn value_at(&mut self, value: &Value, query: bool, depth: usize) -> Option<Value> {
        match value {
            Value::String(text) => self.text(text, query, depth).map(Value::String),
            Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => Some(self.hide()),
            Value::Array(items) => self.array(items, query, depth).map(Value::Array),
            Value::Object(map) => self.object(map, query, depth).map(Value::Object),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn hide(&mut self) -> Value {
        self.count += 1;
        Value::String(REDACTED.to_owned())
    }

    fn is_secret(&mut self, name: &str, query: bool) -> bool {
        self.names.is_secret(name, [self.listed, &self.declared], query)
    }

    /// Returns a name or kind of a message without its secrets, because these are shown too.
    pub(super) fn label(&mut self, text: &str) -> Option<String> {
        self.scrub(text, true)
    }

    fn scrub(&mut self, text: &str, query: bool) -> Option<String> {
        if !scrub::may_hold_secret(text) {
            return None;
        }
        let Self { names, listed, declared, .. } = self;
        // A name before `=` in a text is usually a query parameter, so the stricter rule of URLs applies.
        let query = query || text.contains("://") || text.starts_with(['/', '?', '#']);
        let (clean, found) = scrub::text(text, &mut |name| names.is_secret(name, [listed, declared], query))?;
        self.count += found;
        Some(clean)
    }

    fn text(&mut self, text: &str, query: bool, depth: usize) -> Option<String> {
        if text.trim_start().starts_with(['{', '[', '"']) {
            if let Ok(inner) = serde_json::from_str::<Value>(text) {
                return self.value_at(&inner, query, depth + 1).map(|clean| json::text(&clean));
            }
            let Self { names, listed, declared, .. } = self;
            if scrub::names_secret_key(text, &mut |name| names.is_secret(name, [listed, declared], query)) {
                self.count += 1;
                return Some(REDACTED.to_owned());
            }
        }
        self.scrub(text, query)
    }

    fn array(&mut self, items: &[Value], query: bool, depth: usize) -> Option<Vec<Value>> {
        // Entries of a form or an object can be pairs: `["password", "…"]`.
        if let [Value::String(name), secret] = items
            && !is_blank(secret)
            && self.is_secret(name, query)
        {
            let name = self.scrub(name, query).unwrap_or_else(|| name.clone());
            return Some(vec![Value::String(name), self.hide()]);
        }
        let clean: Vec<_> = items.iter().map(|item| self.value_at(item, query, depth + 1)).collect();
        let or_same = |(clean, item): (Option<Value>, &Value)| clean.unwrap_or_else(|| item.clone());
        clean.iter().any(Option::is_some).then(|| clean.into_iter().zip(items).map(or_same).collect())
    }

    fn object(&mut self, map: &Map<String, Value>, query: bool, depth: usize) -> Option<Map<String, Value>> {
        // A page can be named `reset-password`, and is not a field.
        let hides = if query && depth == 0 { declares_secret(map) } else { self.is_secret_field(map, query) };
        let mut is_changed = false;
        let mut clean = Vec::with_capacity(map.len());
        for (key, item) in sort::entries(map) {
            let secret =
                !is_blank(item) && ((hides && !describes_field(key, item)) || self.is_secret(key, query));
            let value = if secret { Some(self.hide()) } else { self.value_at(item, query, depth + 1) };
            let name = self.scrub(key, query);
            is_changed |= value.is_some() || name.is_some();
            clean.push((name, key, value, item));
        }
        let or_same = |(name, key, value, item): (Option<String>, &String, Option<Value>, &Value)| {
            (name.unwrap_or_else(|| key.clone()), value.unwrap_or_else(|| item.clone()))
        };
        is_changed.then(|| clean.into_iter().map(or_same).collect())
    }

    /// Returns `true` if the object is a field, with its name and its value, and the value is secret.
    fn is_secret_field(&mut self, map: &Map<String, Value>, query: bool) -> bool {
        if holds_fields(map) {
            return false;
        }
        if declares_secret(map) {
            return true;
        }
        let mut has_value = None;
        map.iter().any(|(key, item)| match item {
            Value::String(name) => {
                let is_name = is_any(key, &FIELD_NAMES)
                    || (is_any(key, &NAMES)
                        && *has_value.get_or_insert_with(|| map.iter().any(carries_value)));
                is_name && self.is_secret(name, query)
            }
            // Events often have the form `{target: {name, type}, value}`.
            Value::Object(inner) => {
                is_any(key, &["field", "input", "element", "target", "control"])
                    && map.iter().any(|entry| !entry.1.is_object() && carries_value(entry))
                    && self.describes_secret(inner, query)
            }
            _ => false,
        })
    }

    /// Returns `true` if the attributes of a field, which is not its value, declare or name it as secret.
    fn describes_secret(&mut self, map: &Map<String, Value>, query: bool) -> bool {
        declares_secret(map)
            || map.iter().any(|(key, item)| match item {
                Value::String(name) => is_any(key, &["name", "id", "key"]) && self.is_secret(name, query),
                _ => false,
            })
    }
}

/// Returns `true` for a form, which is not a field, regardless of its name: `{name: "change-password", fields: {…}}`.
fn holds_fields(map: &Map<String, Value>) -> bool {
    map.iter().any(|(key, item)| {
        is_any(key, &["fields", "values", "elements", "inputs", "controls", "children"])
            && match item {
                Value::Object(_) => true,
                Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
                _ => false,
            }
    })
}

/// Returns `true` if the attributes of a field declare its value as secret.
fn declares_secret(map: &Map<String, Value>) -> bool {
    map.iter().any(|(key, item)| match item {
        Value::String(text) => {
            (is_any(key, &["type", "inputType", "fieldType", "format"]) && is_secret_kind(text))
                || (is_any(key, &["autocomplete"]) && is_secret_autocomplete(text))
        }
        Value::Bool(true) => is_any(key, &["sensitive", "secret", "masked", "redact"]),
        Value::Object(inner) => {
            is_any(key, &["attributes", "attrs", "props", "inputProps"]) && declares_secret(inner)
        }
        _ => false,
    })
}

/// Returns `true` if an entry of a secret field describes the field and does not contain its value.
fn describes_field(key: &str, item: &Value) -> bool {
    let known = is_any(key, &NAMES)
        || is_any(key, &FIELD_NAMES)
        || is_any(
            key,
            &[
                "type",
                "inputType",
                "fieldType",
                "format",
                "autocomplete",
                "form",
                "formId",
                "formName",
                "event",
                "status",
            ],
        );
    known && item.is_string()
}

/// Returns `true` if an entry next to a name can be the value of that name.
fn carries_value((key, item): (&String, &Value)) -> bool {
    let ends_with = |end: &str| {
        key.len()
            .checked_sub(end.len())
            .and_then(|at| key.get(at..))
            .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
    };
    ends_with("value")
        || ends_with("values")
        || is_any(
            key,
            &["val", "old", "new", "previous", "prev", "current", "before", "after", "answer", "input", "raw", "default"],
        )
        // Events often have the form `{name, data: {…}}`.
        || (!item.is_object() && is_any(key, &["content", "text", "data", "result"]))
}

/// Compares a key with names, ignoring case, `-` and `_`. The names consist of letters and begin in lower case.
fn is_any(key: &str, names: &[&str]) -> bool {
    let letters =
        || key.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase());
    let first = letters().next();
    names.iter().any(|name| {
        name.bytes().next() == first
            && key.len() >= name.len()
            && letters().eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
    })
}

/// Returns `true` for a value that reveals only that there is a secret.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => text.is_empty() || text == REDACTED,
        Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}
