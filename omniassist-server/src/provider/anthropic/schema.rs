//! Schemas in the form that the API accepts.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// Returns the schema of a tool's input, which is always that of an object.
pub(super) fn tool_input(schema: &Value) -> Cow<'_, Value> {
    match schema {
        Value::Object(fields) if fields.get("type") == Some(&Value::from("object")) => Cow::Borrowed(schema),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), "object".into());
            Cow::Owned(Value::Object(fields))
        }
        _ => Cow::Owned(json!({"type": "object"})),
    }
}

/// Keywords that limit a value. The API refuses schemas with them.
const BOUNDS: &[&str] = &[
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
];

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Returns `true` if an object of a schema may have properties that the schema does not name. The API closes every object, so
/// the model could not write them.
pub(super) fn has_map(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_map = |rest: &Value| *rest == true || rest.as_object().is_some();
            fields.get("additionalProperties").is_some_and(is_map) || fields.values().any(has_map)
        }
        Value::Array(schemas) => schemas.iter().any(has_map),
        _ => false,
    }
}

/// Returns the schema of an answer, without the keywords that the API refuses and with every object closed.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>
pub(super) fn answer(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut clean = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            name if BOUNDS.contains(&name) || name == "$schema" => continue,
            "format" if !value.as_str().is_some_and(|format| FORMATS.contains(&format)) => continue,
            "properties" | "$defs" | "definitions" | "anyOf" | "allOf" | "oneOf" => match value {
                Value::Object(named) => {
                    named.iter().map(|(name, schema)| (name.clone(), answer(schema))).collect()
                }
                Value::Array(schemas) => schemas.iter().map(answer).collect(),
                other => other.clone(),
            },
            "items" => answer(value),
            _ => value.clone(),
        };
        // The API supports only this keyword for alternatives.
        let name = if name == "oneOf" { "anyOf" } else { name };
        clean.insert(name.to_owned(), value);
    }
    let is_object = match clean.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        kind => kind.is_some_and(|kind| kind == "object"),
    };
    if is_object {
        clean.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(clean)
}
