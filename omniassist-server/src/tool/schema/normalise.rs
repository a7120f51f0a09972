//! Schemas in the form that all providers take.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::lint::{self, lint};
use super::{MAX_DEPTH, SchemaLimits};

/// Returns the schema of a Rust type as it is deserialised (draft 2020-12). References are inlined, because several
/// providers do not follow them; only a type that contains itself keeps them.
pub(crate) fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the schema of a tool that takes no arguments.
pub(crate) fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}})
}

/// Rewrites a schema into the form that all providers accept. The set of valid objects stays the same.
///
/// The root gets `type` and `properties`, the schema `true` becomes `{}`, and formats that exist only in Rust are removed.
pub(crate) fn normalise(schema: &mut Value) {
    if let Value::Object(root) = schema {
        // `$schema` and the type's name do not help a model, and cost tokens in every request.
        root.remove("$schema");
        root.remove("title");
        let typed = ["type", "$ref", "oneOf", "anyOf", "allOf", "not", "enum", "const"];
        if !typed.iter().any(|key| root.contains_key(*key)) {
            root.insert("type".to_owned(), "object".into());
        }
        if root.get("type").is_some_and(|kind| kind == "object") {
            root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        }
        normalise_inner(root, 0);
    }
}

fn normalise_inner(schema: &mut Map<String, Value>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    // Names of Rust's number types; some providers refuse formats that they do not know.
    let rust_only = ["uint", "int8", "int16", "uint8", "uint16", "uint32", "uint64", "uint128", "int128"];
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| rust_only.contains(&format)) {
        schema.remove("format");
    }
    for (key, value) in schema.iter_mut() {
        let may_be_bool = matches!(key.as_str(), "additionalProperties" | "unevaluatedProperties");
        lint::each_subschema_mut(key, value, &mut |subschema| {
            if *subschema == Value::Bool(true) && !may_be_bool {
                *subschema = Value::Object(Map::new());
            }
            if let Value::Object(subschema) = subschema {
                normalise_inner(subschema, depth + 1);
            }
        });
    }
}

/// Returns the schema of an answer in the form that all providers take. The error names what they refuse in it.
pub(crate) fn of_answer(mut schema: Value, limits: SchemaLimits) -> Result<Value, String> {
    normalise(&mut schema);
    lint(&schema, limits)?;
    Ok(schema)
}
