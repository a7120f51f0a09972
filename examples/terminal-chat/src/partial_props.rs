//! Props that a model is still writing, completed so far that a component can show them.

use serde_json::{Map, Value, json};

/// Returns the value with empty values for what its schema requires and the model has not written yet. `None` if there is
/// nothing to show, such as a choice that is not made.
pub(crate) fn completed(value: Value, schema: &Value) -> Option<Value> {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names.contains(&value).then_some(value);
    }
    match value {
        Value::Object(members) if allows(schema, "object") => completed_object(members, schema),
        Value::Array(items) if allows(schema, "array") => {
            let of_items = schema.get("items").unwrap_or(&Value::Null);
            Some(items.into_iter().filter_map(|item| completed(item, of_items)).collect())
        }
        value => allows(schema, kind(&value)).then_some(value),
    }
}

fn completed_object(mut members: Map<String, Value>, schema: &Value) -> Option<Value> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Some(Value::Object(members));
    };
    let required = schema.get("required").and_then(Value::as_array);
    let mut complete = Map::new();
    for (name, schema) in properties {
        let value = members.remove(name).and_then(|value| completed(value, schema));
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name.as_str()));
        match value {
            Some(value) => drop(complete.insert(name.clone(), value)),
            None if is_required => drop(complete.insert(name.clone(), empty(schema)?)),
            None => {}
        }
    }
    Some(Value::Object(complete))
}

/// Returns a value that shows nothing. `None` if every value shows something.
fn empty(schema: &Value) -> Option<Value> {
    if schema.get("enum").is_some() {
        return None;
    }
    if allows(schema, "string") {
        Some(json!(""))
    } else if allows(schema, "array") {
        Some(json!([]))
    } else if allows(schema, "object") {
        completed_object(Map::new(), schema)
    } else {
        allows(schema, "null").then_some(Value::Null)
    }
}

/// Returns `true` if a schema allows values of this type. One without a type allows all.
fn allows(schema: &Value, kind: &str) -> bool {
    let is_kind = |value: &Value| value == kind || (value == "integer" && kind == "number");
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(is_kind),
        Some(one) => is_kind(one),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
