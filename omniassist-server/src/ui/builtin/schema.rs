//! Short schemas: a model reads the schema of every component in each request.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform as _};
use serde_json::{Value, json};

/// Removes the description of a type and the formats of numbers, which are for Rust, and lists the names of an enum instead
/// of a schema for each. Descriptions of members stay.
pub(super) fn compact(schema: &mut Schema) {
    schema.remove("description");
    let without_rust_formats = |schema: &mut Schema| {
        if schema.get("format").is_some_and(|format| format == "double") {
            schema.remove("format");
        }
    };
    RecursiveTransform(without_rust_formats).transform(schema);
    let Some(Value::Array(variants)) = schema.get("oneOf") else { return };
    let names: Option<Vec<Value>> = variants.iter().map(|variant| variant.get("const").cloned()).collect();
    if let Some(names) = names {
        schema.remove("oneOf");
        schema.insert("type".to_owned(), json!("string"));
        schema.insert("enum".to_owned(), Value::Array(names));
    }
}
