use serde_json::{Map, Value};

/// Levels of schemas within schemas. Nothing that a model can fill comes near it.
pub(super) const MAX_DEPTH: usize = 32;

/// Keywords whose value is one schema.
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
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["oneOf", "anyOf", "allOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const MAP: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// What is worth a warning in an acceptable schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// It refers to itself, which not every provider can follow.
    pub(crate) recursive: bool,
}

/// Checks a schema against what providers refuse. An error says what, where, and what to do about it.
pub(crate) fn lint(schema: &Value) -> Result<Findings, String> {
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
    let mut lint = Lint { root: schema, findings: Findings::default() };
    lint.schema(root, &mut Vec::new(), &mut Vec::new())?;
    Ok(lint.findings)
}

struct Lint<'a> {
    root: &'a Value,
    findings: Findings,
}

impl<'a> Lint<'a> {
    /// `path` says where the schema stands; `open` holds the references that are being followed.
    fn schema(
        &mut self,
        schema: &'a Map<String, Value>,
        path: &mut Vec<&'a str>,
        open: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        if path.len() > 2 * MAX_DEPTH {
            return Err(format!("its schema has more than {MAX_DEPTH} levels"));
        }
        let fail = |what: String| Err(format!("its schema, at `{}`: {what}", at(path)));
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
        if let Some(reference) = schema.get("$ref") {
            self.reference(reference, path, open)?;
        }
        for (key, value) in schema {
            if !["$defs", "definitions"].contains(&key.as_str()) {
                self.keyword(key, value, path, open)?;
            }
        }
        Ok(())
    }

    fn keyword(
        &mut self,
        key: &'a str,
        value: &'a Value,
        path: &mut Vec<&'a str>,
        open: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        path.push(key);
        match value {
            Value::Object(schema) if ONE.contains(&key) => self.schema(schema, path, open)?,
            Value::Array(schemas) if LIST.contains(&key) => {
                for schema in schemas {
                    self.subschema(schema, path, open)?;
                }
            }
            Value::Object(schemas) if MAP.contains(&key) => {
                for (name, schema) in schemas {
                    if key == "properties" {
                        check_property_name(name, path)?;
                    }
                    path.push(name);
                    self.subschema(schema, path, open)?;
                    path.pop();
                }
            }
            Value::Bool(_) if ONE.contains(&key) => {}
            _ if ONE.contains(&key) || LIST.contains(&key) || MAP.contains(&key) => {
                return Err(format!("its schema, at `{}`: {} is no schema", at(path), kind(value)));
            }
            _ => {}
        }
        path.pop();
        Ok(())
    }

    fn subschema(
        &mut self,
        schema: &'a Value,
        path: &mut Vec<&'a str>,
        open: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        match schema {
            Value::Object(schema) => self.schema(schema, path, open),
            Value::Bool(false) => Err(format!(
                "its schema, at `{}`: `false` accepts nothing, and providers refuse it",
                at(path)
            )),
            Value::Bool(true) => Ok(()),
            other => Err(format!("its schema, at `{}`: {} is no schema", at(path), kind(other))),
        }
    }

    fn reference(
        &mut self,
        reference: &'a Value,
        path: &mut Vec<&'a str>,
        open: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        let unresolved = || format!("its schema, at `{}`: `$ref` {reference} leads nowhere", at(path));
        let target = reference.as_str().ok_or_else(unresolved)?;
        let pointer = target.strip_prefix('#').ok_or_else(|| {
            format!(
                "its schema, at `{}`: `$ref` {reference} leads out of the schema; \
                 it must be complete in itself",
                at(path)
            )
        })?;
        let schema = self.root.pointer(pointer).and_then(Value::as_object).ok_or_else(unresolved)?;
        if pointer.is_empty() || open.contains(&target) {
            self.findings.recursive = true;
            return Ok(());
        }
        open.push(target);
        self.schema(schema, path, open)?;
        open.pop();
        Ok(())
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
    Err(format!(
        "its schema, at `{}`: providers refuse the property name {name:?}; \
         use 1 to 64 of letters, digits, '_', '-' and '.'",
        at(path)
    ))
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

fn at(path: &[&str]) -> String {
    if path.is_empty() { "the root".to_owned() } else { path.join(".") }
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
