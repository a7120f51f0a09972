use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use super::SchemaLimits;
use super::reference::resolve;
use crate::tool::output::cut_off;

/// The keywords whose value is one schema.
const ONE: [&str; 11] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
/// The keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
/// The keywords whose value maps names to schemas.
const MAP: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The maximum number of bytes of an error's text, which may repeat parts of the schema.
const MAX_TEXT_BYTES: usize = 500;

/// Checks a schema against what providers refuse. Returns `true` if it refers to itself, which not every provider can
/// follow. The error names the place, the reason and the remedy.
pub(crate) fn lint(schema: &Value, limits: SchemaLimits) -> Result<bool, String> {
    lint_root(schema, limits).map_err(|reason| cut_off(reason, MAX_TEXT_BYTES))
}

fn lint_root(schema: &Value, limits: SchemaLimits) -> Result<bool, String> {
    let Value::Object(root) = schema else {
        return Err(format!("its schema is {}, and must be an object", kind(schema)));
    };
    if root.contains_key("$ref") {
        return Err("its schema is a `$ref`: providers refuse a reference at the root; \
                    a type that contains itself must be a field of another struct"
            .to_owned());
    }
    for key in ["oneOf", "anyOf", "allOf", "enum", "not"] {
        if root.contains_key(key) {
            return Err(format!(
                "its schema has `{key}` at the root, which providers refuse; \
                 make it a struct and put the enum into one of its fields"
            ));
        }
    }
    match root.get("type") {
        Some(Value::String(name)) if name == "object" => {}
        Some(other) => {
            return Err(format!(
                "its schema is of type {other}, and providers refuse all but \"object\"; \
                 make it a struct with named fields"
            ));
        }
        None => return Err("its schema has no `type`; it must be \"object\"".to_owned()),
    }
    let mut lint = Lint { root: schema, limits, is_recursive: false, sizes: HashMap::new() };
    lint.schema(root, &mut Vec::new())?;
    Ok(lint.is_recursive)
}

struct Lint<'a> {
    root: &'a Value,
    limits: SchemaLimits,
    is_recursive: bool,
    /// The size of each schema by its address, so that each is walked once. `None` while it is being walked.
    sizes: HashMap<usize, Option<Size>>,
}

/// The size of a schema with a copy in place of each reference.
#[derive(Clone, Copy, Default)]
struct Size {
    bytes: usize,
    /// Names on the longest path within it.
    depth: usize,
}

impl Size {
    fn add(&mut self, inner: Self, names: usize) {
        self.bytes = self.bytes.saturating_add(inner.bytes);
        self.depth = self.depth.max(inner.depth.saturating_add(names));
    }
}

impl<'a> Lint<'a> {
    /// Checks a schema that was not walked before. `path` leads to it, and names each reference on the way `$ref`.
    fn schema(&mut self, schema: &'a Map<String, Value>, path: &mut Vec<&'a str>) -> Result<Size, String> {
        let address = std::ptr::from_ref(schema).addr();
        let size = match self.sizes.get(&address) {
            Some(Some(size)) => *size,
            Some(None) => {
                self.is_recursive = true;
                return Ok(Size::default());
            }
            None => {
                if path.len() > 2 * self.limits.max_depth {
                    return Err(self.too_deep(path));
                }
                self.sizes.insert(address, None);
                let size = self.walk(schema, path)?;
                self.sizes.insert(address, Some(size));
                size
            }
        };
        if path.len().saturating_add(size.depth) > 2 * self.limits.max_depth {
            return Err(self.too_deep(path));
        }
        let most = self.limits.max_bytes;
        if size.bytes > most {
            let what = format!("with a copy in place of each `$ref` it takes more than {most} bytes");
            return Err(at(path, what));
        }
        Ok(size)
    }

    fn too_deep(&self, path: &[&str]) -> String {
        let most = self.limits.max_depth;
        at(path, format!("it has more than {most} levels"))
    }

    fn walk(&mut self, schema: &'a Map<String, Value>, path: &mut Vec<&'a str>) -> Result<Size, String> {
        let fail = |what: String| Err(at(path, what));
        if let Some(kinds) = schema.get("type") {
            let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
            let valid = known(kinds)
                || kinds.as_array().is_some_and(|kinds| !kinds.is_empty() && kinds.iter().all(known));
            if !valid {
                return fail(format!("{kinds} is no JSON Schema type"));
            }
        }
        if has_type(schema, "array") {
            match schema.get("items") {
                Some(Value::Object(_)) => {}
                Some(Value::Array(_)) => {
                    return fail("`items` is a list; providers take one schema only".into());
                }
                _ => {
                    return fail(
                        "an array without `items`, which providers refuse; instead of a tuple use a struct or a Vec"
                            .into(),
                    );
                }
            }
        }
        match schema.get("enum") {
            None => {}
            Some(Value::Array(values)) if !values.is_empty() => {}
            Some(_) => return fail("`enum` must be a list with at least one value".into()),
        }
        if let Some(required) = schema.get("required") {
            let strings = required.as_array().is_some_and(|names| names.iter().all(Value::is_string));
            if !strings {
                return fail("`required` must be a list of names".into());
            }
        }
        if schema.contains_key("$dynamicRef") || schema.contains_key("$recursiveRef") {
            return fail("dynamic references are refused by providers".into());
        }
        let mut size = Size { bytes: 2, depth: 0 };
        for (key, value) in schema {
            if key == "$ref" {
                size.add(self.reference(value, path)?, 1);
            } else if !["$defs", "definitions"].contains(&key.as_str()) {
                size.bytes += key.len() + 4;
                self.keyword(key, value, path, &mut size)?;
            }
        }
        Ok(size)
    }

    fn keyword(
        &mut self,
        key: &'a str,
        value: &'a Value,
        path: &mut Vec<&'a str>,
        size: &mut Size,
    ) -> Result<(), String> {
        path.push(key);
        match value {
            Value::Object(schema) if ONE.contains(&key) => size.add(self.schema(schema, path)?, 1),
            Value::Array(schemas) if LIST.contains(&key) => {
                for schema in schemas {
                    size.add(self.subschema(schema, path)?, 1);
                }
            }
            Value::Object(schemas) if MAP.contains(&key) => {
                for (name, schema) in schemas {
                    if key == "properties" {
                        check_property_name(name, path)?;
                    }
                    path.push(name);
                    size.bytes += name.len() + 4;
                    size.add(self.subschema(schema, path)?, 2);
                    path.pop();
                }
            }
            Value::Bool(_) if ONE.contains(&key) => {}
            _ if ONE.contains(&key) || LIST.contains(&key) || MAP.contains(&key) => {
                return Err(at(path, format!("{} is no schema", kind(value))));
            }
            other => size.bytes = size.bytes.saturating_add(json_len(other)),
        }
        path.pop();
        Ok(())
    }

    fn subschema(&mut self, schema: &'a Value, path: &mut Vec<&'a str>) -> Result<Size, String> {
        match schema {
            Value::Object(schema) => self.schema(schema, path),
            Value::Bool(false) => Err(at(path, "`false` accepts nothing, and providers refuse it")),
            Value::Bool(true) => Ok(Size { bytes: 4, depth: 0 }),
            other => Err(at(path, format!("{} is no schema", kind(other)))),
        }
    }

    fn reference(&mut self, reference: &'a Value, path: &mut Vec<&'a str>) -> Result<Size, String> {
        let unresolved = || at(path, format!("`$ref` {reference} leads nowhere"));
        let target = reference.as_str().ok_or_else(unresolved)?;
        if !target.starts_with('#') {
            let what = format!("`$ref` {reference} leads out of the schema; it must be complete in itself");
            return Err(at(path, what));
        }
        let schema = resolve(self.root, target).and_then(Value::as_object).ok_or_else(unresolved)?;
        path.push("$ref");
        let size = self.schema(schema, path)?;
        path.pop();
        Ok(size)
    }
}

/// Returns the schemas in the value of a keyword, with their names where they have some.
pub(super) fn subschemas<'a>(key: &str, value: &'a Value) -> Vec<(Option<&'a str>, &'a Value)> {
    match value {
        Value::Array(schemas) if LIST.contains(&key) => schemas.iter().map(|schema| (None, schema)).collect(),
        Value::Object(schemas) if MAP.contains(&key) => {
            schemas.iter().map(|(name, schema)| (Some(name.as_str()), schema)).collect()
        }
        schema if ONE.contains(&key) => vec![(None, schema)],
        _ => Vec::new(),
    }
}

/// Returns the bytes of a value's JSON, without those of escapes.
fn json_len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| json_len(item) + 1).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + 4 + json_len(value)).sum::<usize>() + 2
        }
    }
}

/// Calls `visit` with each schema that the value of this keyword holds.
pub(super) fn each_subschema_mut(key: &str, value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Array(schemas) if LIST.contains(&key) => schemas.iter_mut().for_each(visit),
        Value::Object(schemas) if MAP.contains(&key) => schemas.values_mut().for_each(visit),
        schema if ONE.contains(&key) => visit(schema),
        _ => {}
    }
}

fn check_property_name(name: &str, path: &[&str]) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=64).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    let rule = "use 1 to 64 of letters, digits, '_', '-' and '.'";
    Err(at(path, format!("providers refuse the property name {name:?}; {rule}")))
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

/// Returns the text of an error at this place in the schema.
pub(super) fn at(path: &[&str], what: impl fmt::Display) -> String {
    let place = if path.is_empty() { "the root".to_owned() } else { path.join(".") };
    format!("its schema, at `{place}`: {what}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
