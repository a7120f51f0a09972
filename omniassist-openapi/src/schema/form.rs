//! The fields of forms in parts, some of which are files.

use serde_json::{Map, Value, json};

use super::definitions::Definitions;
use super::keywords::{has_type, is_plain};
use crate::document::{Parts, is_text};

impl Definitions<'_> {
    /// Returns the schema of a form as one object, if its references and `allOf` say nothing but its fields.
    pub(crate) fn flat(&self, schema: &Value) -> Option<Value> {
        let mut fields = Map::new();
        let mut required = Vec::new();
        for schema in self.all_of(schema) {
            let keywords = schema.as_object().filter(|keywords| is_plain(keywords, &["$ref", "allOf"]))?;
            for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                let schema = match fields.remove(name) {
                    Some(other) => json!({ "allOf": [other, schema] }),
                    None => schema.clone(),
                };
                fields.insert(name.clone(), schema);
            }
            required.extend(keywords.get("required").and_then(Value::as_array).into_iter().flatten());
        }
        Some(json!({ "type": "object", "properties": fields, "required": required }))
    }

    /// Returns the name of a file that a form must have.
    pub(crate) fn needed_file(&self, schema: &Value, parts: &Parts) -> Option<String> {
        let all = self.all_of(schema);
        let required: Vec<&str> = all
            .iter()
            .filter_map(|schema| schema.get("required")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let fields = all.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten();
        let mut files = fields.filter(|(name, schema)| {
            required.contains(&name.as_str())
                && !self.is_read_only(schema)
                && self.is_file(name, schema, parts)
        });
        files.next().map(|(name, _)| name.clone())
    }

    /// Returns the schema of a form without the fields that are files.
    pub(crate) fn without_files(&self, schema: &Value, parts: &Parts) -> Value {
        let mut schema = schema.clone();
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            fields.retain(|name, schema| !self.is_file(name, schema, parts));
        }
        schema
    }

    /// Returns `true` for a part of bytes, which models cannot write, or of a list of them.
    pub(crate) fn is_file(&self, name: &str, schema: &Value, parts: &Parts) -> bool {
        let schemas = self.applied(schema, &["allOf", "anyOf", "oneOf", "items"]);
        let has = |key: &str| schemas.iter().any(|schema| schema.get(key).is_some());
        let is_binary = schemas.iter().any(|schema| {
            let media_type = schema.get("contentMediaType").and_then(Value::as_str);
            let has_bytes = media_type.is_some_and(|media_type| !is_text(media_type));
            schema.get("format").is_some_and(|format| format == "binary")
                || (has_bytes && schema.get("contentEncoding").is_none())
        });
        // Objects and numbers are texts in every media type.
        let is_typed = schemas.iter().filter_map(|schema| schema.as_object()).any(|keywords| {
            ["object", "number", "integer", "boolean"].iter().any(|kind| has_type(keywords, kind))
        });
        is_binary || (parts.files.contains(name) && !is_typed && !has("contentEncoding"))
    }
}
