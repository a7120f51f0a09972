//! The keywords of schemas.

use serde_json::{Map, Value};

/// The keywords whose value is one schema.
pub(super) const ONE: [&str; 8] =
    ["items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"];
/// The keywords whose value is a list of schemas.
pub(super) const LIST: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
/// The keywords whose schemas apply to the same value as the schema that holds them.
pub(super) const SAME_VALUE: [&str; 5] = ["allOf", "anyOf", "oneOf", "then", "else"];
/// The keywords that are taken as they are. All others say nothing about the accepted values, or are not checked.
pub(super) const PLAIN: [&str; 19] = [
    "type",
    "enum",
    "const",
    "default",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "pattern",
    "format",
];
/// The formats that JSON Schema defines. Some providers refuse others.
pub(super) const FORMATS: [&str; 9] =
    ["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Returns `true` if a schema of objects says nothing but their fields, apart from these keywords.
pub(super) fn is_plain(keywords: &Map<String, Value>, ignored: &[&str]) -> bool {
    keywords.iter().all(|(key, value)| match key.as_str() {
        key if ignored.contains(&key) => true,
        "type" => value == "object",
        "additionalProperties" => *value == Value::Bool(false),
        "nullable" => *value == Value::Bool(false),
        "$ref" | "patternProperties" | "minProperties" | "maxProperties" | "dependentRequired" | "enum"
        | "const" => false,
        key => !ONE.contains(&key) && !LIST.contains(&key),
    })
}

/// Returns the fields of a schema that accepts objects with these fields and nothing else, and those that are required.
pub(crate) fn as_object(schema: &Value) -> Option<(&Map<String, Value>, Vec<&str>)> {
    let keywords = schema.as_object()?;
    let is_closed = keywords.get("additionalProperties").is_some();
    let fields = keywords.get("properties")?.as_object()?;
    let required = keywords.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str).collect();
    (is_plain(keywords, &[]) && (is_closed || !fields.is_empty())).then_some((fields, required))
}

pub(super) fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}
