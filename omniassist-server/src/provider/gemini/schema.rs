//! JSON Schemas in the subset that this API accepts.

use serde_json::{Map, Value};

/// Keywords that the API documents for JSON Schemas.
/// <https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support>
const KEYWORDS: &[&str] = &[
    "$anchor",
    "$defs",
    "$id",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

/// The formats that the API accepts. Others (`uint32`, `uuid`) are annotations only.
const FORMATS: &[&str] = &["date", "date-time", "double", "enum", "float", "int32", "int64", "time"];

/// Returns the schema without the keywords that the API ignores. A keyword that it refuses is replaced by an
/// equivalent: a constant by an enumeration of one value, `allOf` by one schema, `definitions` by `$defs`.
pub(super) fn normalised(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        // `true` and `false` are schemas too; the API accepts only objects.
        return Value::Object(Map::new());
    };
    let mut out = Map::new();
    if let Some(Value::String(reference)) = fields.get("$ref") {
        // Only `$` keywords may accompany a reference.
        let reference = match reference.strip_prefix("#/definitions/") {
            Some(name) => format!("#/$defs/{name}"),
            None => reference.clone(),
        };
        out.insert("$ref".to_owned(), reference.into());
        definitions(fields, &mut out);
        return Value::Object(out);
    }
    if let Some(Value::Array(all)) = fields.get("allOf") {
        for part in all {
            merge(&mut out, normalised(part));
        }
    }
    let mut own = Map::new();
    for (keyword, value) in fields.iter().filter(|(keyword, _)| KEYWORDS.contains(&keyword.as_str())) {
        let value = match (keyword.as_str(), value) {
            ("$defs", _) => continue,
            ("properties", Value::Object(fields)) => Value::Object(each(fields)),
            ("items", Value::Object(_)) => normalised(value),
            ("additionalProperties", Value::Object(_)) => normalised(value),
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                Value::Array(schemas.iter().map(normalised).collect())
            }
            ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => continue,
            _ => value.clone(),
        };
        own.insert(keyword.clone(), value);
    }
    if let Some(constant) = fields.get("const").filter(|_| !own.contains_key("enum")) {
        own.insert("enum".to_owned(), Value::Array(vec![constant.clone()]));
    }
    merge(&mut out, Value::Object(own));
    definitions(fields, &mut out);
    Value::Object(out)
}

/// Returns `true` if an object schema has no requirements. The API refuses one as the parameters of a function.
pub(super) fn is_empty(schema: &Value) -> bool {
    let has = |keyword: &str| match schema.get(keyword) {
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::Array(values)) => !values.is_empty(),
        Some(value) => value.is_string(),
        None => false,
    };
    !["properties", "anyOf", "oneOf", "$ref", "allOf"].into_iter().any(has)
        && !schema.get("additionalProperties").is_some_and(Value::is_object)
}

fn each(schemas: &Map<String, Value>) -> Map<String, Value> {
    schemas.iter().map(|(name, schema)| (name.clone(), normalised(schema))).collect()
}

fn definitions(fields: &Map<String, Value>, out: &mut Map<String, Value>) {
    let found = ["$defs", "definitions"].into_iter().filter_map(|name| fields.get(name)?.as_object());
    let all: Map<String, Value> = found.flat_map(each).collect();
    if !all.is_empty() {
        out.insert("$defs".to_owned(), Value::Object(all));
    }
}

/// Merges one schema into another: properties and requirements are joined, and of other keywords the later one counts.
fn merge(into: &mut Map<String, Value>, from: Value) {
    let Value::Object(from) = from else { return };
    for (keyword, value) in from {
        match (into.get_mut(&keyword), value) {
            (Some(Value::Object(fields)), Value::Object(more)) if keyword == "properties" => {
                fields.extend(more);
            }
            (Some(Value::Array(names)), Value::Array(more)) if keyword == "required" => {
                for name in more {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            (_, value) => {
                into.insert(keyword, value);
            }
        }
    }
}
