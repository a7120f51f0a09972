//! Schemas in the form that the API accepts.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// The schema of a tool's input: always that of an object.
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

/// Keywords that bound a value. The API refuses schemas that hold them.
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

/// The schema of an answer: without the keywords that the API refuses, and with every object closed.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>
pub(super) fn answer(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut clean = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            name if BOUNDS.contains(&name) || name == "$schema" => continue,
            "format" if !value.as_str().is_some_and(|format| FORMATS.contains(&format)) => continue,
            "properties" | "$defs" | "definitions" => match value {
                Value::Object(schemas) => {
                    schemas.iter().map(|(name, schema)| (name.clone(), answer(schema))).collect()
                }
                other => other.clone(),
            },
            "items" => answer(value),
            "anyOf" | "allOf" | "oneOf" => match value {
                Value::Array(schemas) => schemas.iter().map(answer).collect(),
                other => other.clone(),
            },
            _ => value.clone(),
        };
        // Of the ways to choose between schemas the API knows this one.
        let name = if name == "oneOf" { "anyOf" } else { name };
        clean.insert(name.to_owned(), value);
    }
    if clean.get("type") == Some(&Value::from("object")) {
        clean.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_refuses_is_left_out() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {
                "minimum": {"type": "integer", "minimum": 0, "format": "uint32"},
                "at": {"type": "string", "format": "date-time", "maxLength": 40},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 1},
                "word": {"enum": [{"minimum": 1}, "b"]},
            },
            "$defs": {"Item": {"oneOf": [{"type": "object", "properties": {}}, {"type": "null"}]}},
        });
        assert_eq!(
            answer(&schema),
            json!({
                "type": "object",
                "properties": {
                    "minimum": {"type": "integer"},
                    "at": {"type": "string", "format": "date-time"},
                    "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                    "word": {"enum": [{"minimum": 1}, "b"]},
                },
                "$defs": {"Item": {"anyOf": [
                    {"type": "object", "properties": {}, "additionalProperties": false}, {"type": "null"},
                ]}},
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_tools_input_is_an_object() {
        assert_eq!(*tool_input(&json!(true)), json!({"type": "object"}));
        assert_eq!(*tool_input(&json!({"$ref": "#"})), json!({"$ref": "#", "type": "object"}));
        let whole = json!({"type": "object", "properties": {"n": {"minimum": 1}}});
        assert!(matches!(tool_input(&whole), Cow::Borrowed(_)));
    }
}
