//! JSON Schemas in the subset that this API accepts.

use serde_json::{Map, Value, json};

use super::circles;

/// Keywords that the API documents for JSON Schemas.
/// <https://ai.google.dev/api/generate-content#FIELDS.response_json_schema>
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

/// The maximum number of bytes of the schemas that replace references in `allOf`, for one schema. References that repeat each
/// other would take exponential time.
const MAX_REPLACED: usize = 64 * 1024;

/// Returns the schema without the keywords that the API ignores. A keyword that it refuses is replaced by an
/// equivalent: a constant by an enumeration of one value, `allOf` by one schema, `definitions` by `$defs`. Where there is
/// no equivalent, the result accepts more; a call is checked against the tool's original schema.
pub(super) fn normalised(schema: &Value) -> Value {
    let mut normalised = Walk { root: schema, open: Vec::new(), left: MAX_REPLACED }.schema(schema);
    circles::open(&mut normalised);
    normalised
}

struct Walk<'a> {
    root: &'a Value,
    /// The references that are being replaced by their targets.
    open: Vec<&'a str>,
    /// The bytes that are left of [`MAX_REPLACED`].
    left: usize,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value) -> Value {
        let Value::Object(fields) = schema else {
            // `true` and `false` are schemas too; the API accepts only objects.
            return Value::Object(Map::new());
        };
        let Some(reference) = sole_reference(fields) else {
            let mut out = self.keywords(fields);
            self.definitions(fields, &mut out);
            return Value::Object(out);
        };
        // Only `$` keywords may accompany a reference.
        let reference = match reference.strip_prefix("#/definitions/") {
            Some(name) => format!("#/$defs/{name}"),
            None => reference.to_owned(),
        };
        let mut out = Map::new();
        out.insert("$ref".to_owned(), reference.into());
        self.definitions(fields, &mut out);
        Value::Object(out)
    }

    fn keywords(&mut self, fields: &'a Map<String, Value>) -> Map<String, Value> {
        let mut out = self.joined(fields);
        required_are_properties(&mut out);
        // An alternative without a requirement accepts what all others accept.
        for keyword in ["anyOf", "oneOf"] {
            let branches = out.get(keyword).and_then(Value::as_array);
            if branches.is_some_and(|branches| branches.contains(&Value::Object(Map::new()))) {
                out.remove(keyword);
            }
        }
        texts_and_numbers(out)
    }

    /// Returns the keywords of a schema, and of the parts of its `allOf`.
    fn joined(&mut self, fields: &'a Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merge(&mut out, self.part(part));
        }
        let mut own = Map::new();
        for (keyword, value) in fields.iter().filter(|(keyword, _)| KEYWORDS.contains(&keyword.as_str())) {
            let value = match (keyword.as_str(), value) {
                ("$defs" | "$ref", _) => continue,
                ("properties", Value::Object(fields)) => Value::Object(self.each(fields)),
                ("items", _) | ("additionalProperties", Value::Object(_)) => self.schema(value),
                ("anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                    schemas.iter().map(|schema| self.schema(schema)).collect()
                }
                ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => continue,
                _ => value.clone(),
            };
            own.insert(keyword.clone(), value);
        }
        if let Some(constant) = fields.get("const").filter(|_| !own.contains_key("enum")) {
            own.insert("enum".to_owned(), Value::Array(vec![constant.clone()]));
        }
        merge(&mut out, own);
        out
    }

    /// Returns a part of `allOf` without a reference at its top. One that contains itself has no further requirements, and
    /// neither has one for which no bytes are left.
    fn part(&mut self, part: &'a Value) -> Map<String, Value> {
        let Value::Object(fields) = part else { return Map::new() };
        let Some(reference) = fields.get("$ref").and_then(Value::as_str) else {
            return self.joined(fields);
        };
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.filter(|_| !self.open.contains(&reference)) else { return Map::new() };
        if self.left == 0 {
            return Map::new();
        }
        self.left = self.left.saturating_sub(target.to_string().len());
        self.open.push(reference);
        let target = self.part(target);
        self.open.pop();
        target
    }

    fn each(&mut self, schemas: &'a Map<String, Value>) -> Map<String, Value> {
        schemas.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect()
    }

    fn definitions(&mut self, fields: &'a Map<String, Value>, out: &mut Map<String, Value>) {
        let found = ["$defs", "definitions"].into_iter().filter_map(|name| fields.get(name)?.as_object());
        let all: Map<String, Value> = found.flat_map(|schemas| self.each(schemas)).collect();
        if !all.is_empty() {
            out.insert("$defs".to_owned(), Value::Object(all));
        }
    }
}

/// Returns the reference of a schema that is a reference, or an `allOf` of one reference.
fn sole_reference(fields: &Map<String, Value>) -> Option<&str> {
    if let Some(Value::String(reference)) = fields.get("$ref") {
        return Some(reference);
    }
    let [Value::Object(part)] = fields.get("allOf")?.as_array()?.as_slice() else { return None };
    let is_note = |keyword: &String| {
        ["allOf", "description", "title"].contains(&keyword.as_str()) || !KEYWORDS.contains(&keyword.as_str())
    };
    if !fields.contains_key("const") && fields.keys().all(is_note) { sole_reference(part) } else { None }
}

/// Removes the names from `required` that are no properties. The API refuses them.
fn required_are_properties(out: &mut Map<String, Value>) {
    let Some(Value::Array(mut names)) = out.remove("required") else { return };
    let properties = out.get("properties").and_then(Value::as_object);
    names.retain(|name| {
        let name = name.as_str().unwrap_or_default();
        properties.is_some_and(|properties| properties.contains_key(name))
    });
    if !names.is_empty() {
        out.insert("required".to_owned(), names.into());
    }
}

/// Returns a schema whose enumeration has texts and numbers only, and no empty text. `null` becomes an alternative, and an
/// enumeration with other values is left out.
fn texts_and_numbers(mut out: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Array(mut values)) = out.remove("enum") else { return out };
    let count = values.len();
    values.retain(|value| !value.is_null());
    let has_null = values.len() < count;
    if values.iter().any(|value| !value.is_string() && !value.is_number()) {
        return out;
    }
    values.retain(|value| value != "");
    if has_null && values.is_empty() {
        out.insert("type".to_owned(), "null".into());
        return out;
    }
    if values.is_empty() {
        return out;
    }
    out.insert("enum".to_owned(), values.into());
    if !has_null {
        return out;
    }
    if let Some(Value::Array(kinds)) = out.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            out.insert("type".to_owned(), kind);
        }
    }
    let mut either = Map::new();
    for note in ["description", "title"] {
        either.extend(out.remove(note).map(|text| (note.to_owned(), text)));
    }
    either.insert("anyOf".to_owned(), json!([out, { "type": "null" }]));
    either
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

/// Merges one schema into another: properties and requirements are joined, and of other keywords the later one counts.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
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
