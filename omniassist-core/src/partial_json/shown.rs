use std::borrow::Cow;
use std::ptr;

use serde_json::Value;

use super::growing::{Growing, Step, find};

/// The key of a schema that sets when its value appears: `"atomic"` or `"text"`.
const STREAM: &str = "x-stream";

impl Growing {
    /// Returns the part of the value that can be displayed, or `None` if there is none.
    ///
    /// An open value is omitted if its JSON Schema has `enum` or `const`, or if it is a string with `format` or
    /// `pattern`, since a part of it has another meaning than the whole. `"x-stream": "atomic"` omits any open value,
    /// and `"x-stream": "text"` shows it. Behind `anyOf`, `oneOf` and `allOf`, one such branch that the value may match
    /// is sufficient. References must be local (`#/$defs/Name`); others are ignored.
    ///
    /// The value is not checked. The tool does that at the end.
    #[must_use]
    pub fn shown(&self, schema: &Value) -> Option<Cow<'_, Value>> {
        let value = self.value()?;
        let Some(hidden) = self.open_path().and_then(|path| hidden(value, path, schema)) else {
            return Some(Cow::Borrowed(value));
        };
        let (member, path) = hidden.split_last()?;
        let mut shown = Some(value.clone());
        match (find(&mut shown, path), member) {
            (Some(Value::Object(members)), Step::Key(key)) => drop(members.remove(key)),
            (Some(Value::Array(items)), Step::Index(_)) => drop(items.pop()),
            _ => {}
        }
        shown.map(Cow::Owned)
    }
}

/// Returns the path of the outermost open value that is omitted. An open number does not appear in the value.
fn hidden<'a>(root: &Value, path: &'a [Step], schema: &Value) -> Option<&'a [Step]> {
    let (mut value, mut schemas) = (root, vec![schema]);
    for depth in 0..=path.len() {
        let branches = branches(&schemas, value, schema);
        if is_atomic(&branches, value) {
            return path.get(..depth);
        }
        let step = path.get(depth)?;
        value = match (value, step) {
            (Value::Object(members), Step::Key(key)) => members.get(key)?,
            (Value::Array(items), Step::Index(index)) => items.get(*index)?,
            _ => return None,
        };
        schemas = branches.iter().filter_map(|schema| member(schema, step)).collect();
    }
    None
}

/// Returns the schemas with all that they refer to, without those that a value cannot match.
fn branches<'a>(schemas: &[&'a Value], value: &Value, root: &'a Value) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut open: Vec<&Value> = schemas.to_vec();
    while let Some(schema) = open.pop() {
        if found.iter().any(|known| ptr::eq(*known, schema)) || !may_be(schema, value) {
            continue;
        }
        found.push(schema);
        let reference = schema.get("$ref").and_then(Value::as_str);
        open.extend(reference.and_then(|path| root.pointer(path.strip_prefix('#')?)));
        let groups =
            ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
        open.extend(groups.flatten());
    }
    found
}

/// Returns `true` if the schema's `type` admits the value.
fn may_be(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => return true,
    };
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(several)) => several.iter().any(|one| one == kind),
        _ => true,
    }
}

fn is_atomic(branches: &[&Value], value: &Value) -> bool {
    let has = |keyword: &str| branches.iter().any(|schema| schema.get(keyword).is_some());
    let streams =
        |mode: &str| branches.iter().any(|schema| schema.get(STREAM).is_some_and(|found| found == mode));
    match value {
        // An earlier value of a repeated key.
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        _ if streams("atomic") => true,
        _ if streams("text") => false,
        Value::String(_) if has("format") || has("pattern") => true,
        _ => has("enum") || has("const"),
    }
}

fn member<'a>(schema: &'a Value, step: &Step) -> Option<&'a Value> {
    let (listed, others) = match step {
        Step::Key(key) => {
            (schema.get("properties").and_then(|listed| listed.get(key)), "additionalProperties")
        }
        Step::Index(index) => (schema.get("prefixItems").and_then(|listed| listed.get(index)), "items"),
    };
    listed.or_else(|| schema.get(others))
}
