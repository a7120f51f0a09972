//! The conversion of one schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use super::keywords::{FORMATS, LIST, ONE, PLAIN, has_type};
use crate::text;

impl Definitions<'_> {
    /// Returns a schema of the document as a JSON Schema. The recursion ends, because the JSON text had a bounded depth.
    pub(crate) fn convert(&mut self, schema: &Value) -> Value {
        self.convert_beside(schema, &BTreeSet::new())
    }

    /// Returns a schema that applies to the same value as others, which say that some fields are read-only. `required` then
    /// applies to the response only.
    pub(super) fn convert_beside(&mut self, schema: &Value, read_only: &BTreeSet<String>) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let mut read_only = read_only.clone();
        read_only.extend(self.read_only(schema));
        let mut out = Map::new();
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            if let Some(reference) = self.refer(reference, &read_only) {
                out.insert("$ref".to_owned(), reference.into());
            }
            // In OpenAPI 3.0, a reference has no keywords beside it. A description changes nothing.
            if self.is_3_0 {
                describe(&mut out, keywords);
                return Value::Object(out);
            }
        }
        for (key, value) in keywords {
            let converted = match (key.as_str(), value) {
                _ if is_left_out(key, keywords) => continue,
                ("properties", Value::Object(fields)) => self.fields(fields),
                ("required", Value::Array(names)) => {
                    let sent = |name: &&Value| name.as_str().is_none_or(|name| !read_only.contains(name));
                    names.iter().filter(sent).map(|name| self.needed(name)).collect()
                }
                ("then" | "else", value) => self.convert_beside(value, &read_only),
                (key, value) if ONE.contains(&key) => self.convert(value),
                ("prefixItems", Value::Array(schemas)) => {
                    schemas.iter().map(|schema| self.convert(schema)).collect()
                }
                (key, Value::Array(schemas)) if LIST.contains(&key) => {
                    schemas.iter().map(|schema| self.convert_beside(schema, &read_only)).collect()
                }
                ("pattern", _) if !self.detail.patterns => continue,
                ("format", format) if !FORMATS.iter().any(|known| format == known) => continue,
                (key, value) if PLAIN.contains(&key) => value.clone(),
                _ => continue,
            };
            out.insert(key.clone(), converted);
        }
        describe(&mut out, keywords);
        // The discriminator chooses one of several that fit. So do fields that requests do not have.
        if (keywords.contains_key("discriminator") || !read_only.is_empty())
            && let Some(schemas) = out.remove("oneOf")
        {
            out.entry("anyOf").or_insert(schemas);
        }
        exclusive_bounds(&mut out);
        complete(&mut out);
        if self.is_3_0 && keywords.get("nullable") == Some(&Value::Bool(true)) {
            return nullable(out);
        }
        Value::Object(out)
    }

    fn fields(&mut self, fields: &Map<String, Value>) -> Value {
        let mut converted = Map::new();
        for (name, schema) in fields {
            if *schema != Value::Bool(false) && !self.is_read_only(schema) {
                converted.insert(self.renamed(name), self.convert(schema));
            }
        }
        Value::Object(converted)
    }

    /// Returns an entry of `required`.
    fn needed(&mut self, name: &Value) -> Value {
        name.as_str().map_or_else(|| name.clone(), |name| self.renamed(name).into())
    }
}

fn describe(out: &mut Map<String, Value>, keywords: &Map<String, Value>) {
    let description = keywords.get("description").and_then(Value::as_str).map(text::description);
    if let Some(description) = description.filter(|description| !description.is_empty()) {
        out.insert("description".to_owned(), description.into());
    }
}

/// Returns `true` for keywords whose meaning depends on one that is not kept.
fn is_left_out(key: &str, keywords: &Map<String, Value>) -> bool {
    match key {
        "additionalProperties" => keywords.contains_key("patternProperties"),
        "contains" => keywords.get("minContains").and_then(Value::as_f64) == Some(0.0),
        _ => false,
    }
}

/// Rewrites the flags of OpenAPI 3.0 as the bounds of JSON Schema.
fn exclusive_bounds(out: &mut Map<String, Value>) {
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match out.get(flag) {
            Some(Value::Bool(true)) => {
                out.remove(flag);
                if let Some(bound) = out.remove(bound) {
                    out.insert(flag.to_owned(), bound);
                }
            }
            Some(Value::Bool(false)) => drop(out.remove(flag)),
            _ => {}
        }
    }
}

/// Adds what providers require, without a change of the accepted values.
fn complete(out: &mut Map<String, Value>) {
    if has_type(out, "array") && !out.get("items").is_some_and(Value::is_object) {
        out.insert("items".to_owned(), json!({}));
    }
    if out.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        out.remove("enum");
    }
}

/// Returns a schema that accepts `null` too.
fn nullable(mut out: Map<String, Value>) -> Value {
    let Some(Value::String(kind)) = out.get("type") else {
        if out.is_empty() || out.keys().all(|key| key == "description") {
            return Value::Object(out);
        }
        let description = out.remove("description");
        let mut either = Map::new();
        either.insert("anyOf".to_owned(), json!([out, { "type": "null" }]));
        either.extend(description.map(|description| ("description".to_owned(), description)));
        return Value::Object(either);
    };
    let kinds = json!([kind, "null"]);
    out.insert("type".to_owned(), kinds);
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(out)
}
