//! Schemas in the form that the API accepts.

use std::borrow::Cow;
use std::collections::BTreeSet;

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

/// Returns `true` if the API refuses the schema of an answer, or would allow less than it: the API closes every object, so the
/// model could not write properties that the schema does not name.
pub(super) fn is_unsupported(schema: &Value) -> bool {
    has_unsupported_keyword(schema) || References::of(schema).has_unsupported(schema)
}

fn has_unsupported_keyword(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(keyword, value)| {
            let is_unsupported = match (keyword.as_str(), value) {
                ("additionalProperties", rest) => *rest == true || rest.is_object(),
                ("enum", Value::Array(values)) => {
                    values.iter().any(|value| value.is_object() || value.is_array())
                }
                ("allOf", Value::Array(schemas)) => schemas.iter().any(|schema| schema.get("$ref").is_some()),
                _ => false,
            };
            is_unsupported || has_unsupported_keyword(value)
        }),
        Value::Array(schemas) => schemas.iter().any(has_unsupported_keyword),
        _ => false,
    }
}

/// The references of a schema, while they are followed.
struct References<'a> {
    root: &'a Value,
    /// Those whose targets are being read.
    open: Vec<&'a str>,
    /// Those that have been followed.
    followed: BTreeSet<&'a str>,
}

impl<'a> References<'a> {
    fn of(root: &'a Value) -> Self {
        Self { root, open: vec!["#"], followed: BTreeSet::new() }
    }

    /// Returns `true` if a reference in a part of the schema leads into a circle, or out of the schema.
    fn has_unsupported(&mut self, part: &'a Value) -> bool {
        match part {
            Value::Object(fields) => fields.iter().any(|(keyword, value)| match value {
                Value::String(reference) if keyword == "$ref" => self.is_unsupported(reference),
                value => self.has_unsupported(value),
            }),
            Value::Array(parts) => parts.iter().any(|part| self.has_unsupported(part)),
            _ => false,
        }
    }

    fn is_unsupported(&mut self, reference: &'a str) -> bool {
        if self.open.contains(&reference) {
            return true;
        }
        if !self.followed.insert(reference) {
            return false;
        }
        let Some(pointer) = reference.strip_prefix('#') else { return true };
        let Some(target) = self.root.pointer(pointer) else { return false };
        self.open.push(reference);
        let is_unsupported = self.has_unsupported(target);
        self.open.pop();
        is_unsupported
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
