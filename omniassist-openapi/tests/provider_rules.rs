//! The rules of the providers for the tools in a request, and for the schema of an answer. Each rule names the page or the
//! error text of the API that states it.
//!
//! The pages are these, as of November 2026:
//!
//! - OpenAI: "Function calling", "Structured model outputs" (its section on supported schemas), and the API reference of Chat
//!   Completions and of Responses
//! - Anthropic: "Define tools", "Structured outputs" (its section on limitations of JSON Schema)
//! - Gemini: "Function calling", and the fields `FunctionDeclaration.parametersJsonSchema` and
//!   `GenerationConfig.responseJsonSchema` of the API reference

use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub(crate) type Schema = Map<String, Value>;

/// The tools of one request. API reference of Chat Completions, `tools`; error `array_above_max_length`.
pub(crate) const MAX_TOOLS: usize = 128;

/// Keywords that the top of a function's schema must not have. Error of OpenAI's API `invalid_function_parameters`: "must have
/// type 'object' and not have …"; Anthropic's API names the first three in a similar error.
const COMBINING: [&str; 9] = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];

/// Calls `visit` with each schema within a schema, and with the schema itself.
pub(crate) fn each(schema: &Value, visit: &mut impl FnMut(&Schema)) {
    let Value::Object(keywords) = schema else { return };
    visit(keywords);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                named.values().for_each(|schema| each(schema, visit));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| each(schema, visit));
            }
            ("items" | "additionalProperties" | "not", schema) => each(schema, visit),
            _ => {}
        }
    }
}

fn names(keywords: &Schema, keyword: &str) -> Vec<String> {
    let names = keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn properties(keywords: &Schema) -> impl Iterator<Item = (&String, &Value)> {
    keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn has_type(keywords: &Schema, name: &str) -> bool {
    match &keywords.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        kind => kind.is_some_and(|kind| kind == name),
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// The rules of all: OpenAI "Function calling" and Anthropic "Define tools" state the names (`^[a-zA-Z0-9_-]{1,64}$`) and the
/// type of the schema.
fn check_common(name: &str, description: &str, schema: &Value) {
    assert!(is_name(name), "{name}");
    assert!(!description.is_empty(), "{name}");
    // Anthropic's API: "JSON schema is invalid. It must match JSON Schema draft 2020-12".
    jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(schema["type"], "object", "{name}");
    let top = schema.as_object().unwrap();
    assert!(COMBINING.iter().all(|keyword| !top.contains_key(*keyword)), "{name}: {schema}");
    each(schema, &mut |keywords| {
        let Some(reference) = keywords.get("$ref").and_then(Value::as_str) else { return };
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(pointer.starts_with("/$defs/") && schema.pointer(pointer).is_some(), "{name}: {reference}");
    });
}

/// OpenAI's rules without strict mode.
pub(crate) fn check_openai(name: &str, description: &str, schema: &Value) {
    check_common(name, description, schema);
    // Error `string_above_max_length` of `tools[].function.description`.
    assert!(description.chars().count() <= 1024, "{name}");
    each(schema, &mut |keywords| {
        // Error `invalid_function_parameters`: "array schema missing items".
        let has_items = keywords.get("items").is_some_and(Value::is_object);
        assert!(!has_type(keywords, "array") || has_items, "{name}: {keywords:?}");
        // "[] should be non-empty" for an enumeration.
        assert!(keywords.get("enum").is_none_or(|values| values != &serde_json::json!([])), "{name}");
    });
}

/// The keywords of strict mode ("Structured model outputs", supported schemas). Errors: "'oneOf' is not permitted", "'allOf' is
/// not permitted", "'default' is not permitted", "'maxLength' is not permitted".
const STRICT: [&str; 21] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// The formats of strings in strict mode, from the same page. Error: "'uri' is not a valid format".
const STRICT_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Returns the rule of OpenAI's strict mode that a schema breaks. All of them are in "Structured model outputs", supported
/// schemas, unless an error is quoted.
pub(crate) fn strict_fault(schema: &Value) -> Option<String> {
    let mut faults = Vec::new();
    let (mut count, mut choices, mut text) = (0, 0, 0);
    if schema["type"] != "object" || schema.get("anyOf").is_some() {
        faults.push("the root is no object".to_owned());
    }
    if depth(schema) > 10 {
        faults.push("more than 10 levels".to_owned());
    }
    each(schema, &mut |keywords| {
        let mut fault = |fault: &str| faults.push(format!("{fault}: {keywords:?}"));
        if keywords.contains_key("$ref") {
            // Error: "$ref cannot have keywords {'description'}".
            if keywords.keys().any(|key| key != "$ref" && key != "$defs") {
                fault("a keyword beside a reference");
            }
            return;
        }
        if keywords.keys().any(|key| !STRICT.contains(&key.as_str())) {
            fault("a keyword that is not known");
        }
        // Error: "schema must have a 'type' key".
        if !keywords.contains_key("type") && !keywords.contains_key("anyOf") {
            fault("no type");
        }
        let required = names(keywords, "required");
        let is_object = has_type(keywords, "object") || keywords.contains_key("properties");
        if is_object && keywords.get("additionalProperties") != Some(&false.into()) {
            fault("an open object");
        }
        if properties(keywords).any(|(name, _)| !required.contains(name)) {
            fault("an optional property");
        }
        let format = keywords.get("format").and_then(Value::as_str);
        if has_type(keywords, "string") && format.is_some_and(|format| !STRICT_FORMATS.contains(&format)) {
            fault("a format that is not known");
        }
        let values = keywords.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        let length: usize = values.iter().filter_map(Value::as_str).map(str::len).sum();
        if values.len() > 250 && length > 15_000 {
            fault("an enumeration of too much text");
        }
        count += properties(keywords).count();
        choices += values.len();
        text += length + properties(keywords).map(|(name, _)| name.len()).sum::<usize>();
    });
    if count > 5_000 || choices > 1_000 || text > 120_000 {
        faults.push(format!("{count} properties, {choices} choices, {text} characters"));
    }
    faults.into_iter().next()
}

/// Returns the number of objects within objects.
fn depth(schema: &Value) -> usize {
    let inner = match schema {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(values) => values.iter().map(depth).max(),
        _ => None,
    };
    inner.unwrap_or(0) + usize::from(schema.get("properties").is_some_and(Value::is_object))
}

/// Anthropic's rules without strict mode.
pub(crate) fn check_anthropic(name: &str, description: &str, schema: &Value) {
    check_common(name, description, schema);
    each(schema, &mut |keywords| {
        // "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", an error of the API.
        assert!(properties(keywords).all(|(key, _)| is_name(&key.replace('.', "_"))), "{name}: {keywords:?}");
    });
}

/// Anthropic's rules for the schema of an answer, which is always strict: "Structured outputs", limitations.
pub(crate) fn check_anthropic_answer(schema: &Value) {
    const REFUSED: [&str; 12] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minProperties",
        "maxProperties",
    ];
    each(schema, &mut |keywords| {
        assert!(REFUSED.iter().all(|keyword| !keywords.contains_key(*keyword)), "{keywords:?}");
        assert!(!keywords.contains_key("oneOf"), "{keywords:?}");
        let is_closed = keywords.get("additionalProperties") == Some(&false.into());
        assert!(!has_type(keywords, "object") || is_closed, "{keywords:?}");
    });
}

/// The keywords of `parametersJsonSchema` and `responseJsonSchema`, from the second field's description.
const GEMINI: [&str; 21] = [
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

/// From "Structured output", the formats of strings and numbers.
const GEMINI_FORMATS: [&str; 8] = ["date", "date-time", "double", "enum", "float", "int32", "int64", "time"];

/// Gemini's rules for a function.
pub(crate) fn check_gemini(name: &str, description: &str, schema: &Value) {
    check_common(name, description, schema);
    // `FunctionDeclaration.name`; "Must start with a letter or an underscore", an error of the API.
    assert!(name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'), "{name}");
    check_gemini_schema(name, schema);
}

/// Gemini's rules for a schema.
pub(crate) fn check_gemini_schema(name: &str, schema: &Value) {
    each(schema, &mut |keywords| {
        let unknown = keywords.keys().find(|keyword| !GEMINI.contains(&keyword.as_str()));
        assert_eq!(unknown, None, "{name}: {keywords:?}");
        // `responseJsonSchema`: beside a reference, only keywords that start with `$`.
        if keywords.contains_key("$ref") {
            assert!(keywords.keys().all(|keyword| keyword.starts_with('$')), "{name}: {keywords:?}");
        }
        // `responseJsonSchema`: an enumeration is for strings and numbers. "enum[0]: cannot be empty", an error of the API.
        for value in keywords.get("enum").and_then(Value::as_array).into_iter().flatten() {
            assert!((value.is_string() && value != "") || value.is_number(), "{name}: {keywords:?}");
        }
        // "required[0]: property is not defined", an error of the API.
        let known: BTreeSet<&String> = properties(keywords).map(|(name, _)| name).collect();
        let required = names(keywords, "required");
        assert!(required.iter().all(|name| known.contains(name)), "{name}: {keywords:?}");
        // "items: missing field", an error of the API.
        let has_items = keywords.get("items").is_some_and(Value::is_object);
        assert!(!has_type(keywords, "array") || has_items, "{name}: {keywords:?}");
        let format = keywords.get("format").and_then(Value::as_str);
        assert!(format.is_none_or(|format| GEMINI_FORMATS.contains(&format)), "{name}: {format:?}");
    });
    // "ref loops are only supported if they include optional or nullable property values, or a potentially-zero-length array",
    // an error of the API. The page says that a nullable property is not sufficient.
    for (definition, inner) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        let target = format!("#/$defs/{definition}");
        assert!(!is_forced(inner, &target, schema, &mut BTreeSet::new()), "{name}: {definition} has no end");
    }
}

/// Returns `true` if each value of the schema must have one of the target within it.
fn is_forced<'a>(schema: &'a Value, target: &str, root: &'a Value, seen: &mut BTreeSet<&'a str>) -> bool {
    let Value::Object(keywords) = schema else { return false };
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let next = root.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        return reference == target || (seen.insert(reference) && is_forced(next, target, root, seen));
    }
    let required = names(keywords, "required");
    let is_filled = keywords.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0);
    let mut forced: Vec<&Value> =
        properties(keywords).filter(|(name, _)| required.contains(name)).map(|(_, schema)| schema).collect();
    for list in ["anyOf", "oneOf", "prefixItems"] {
        let counts = list != "prefixItems" || is_filled;
        let schemas = keywords.get(list).and_then(Value::as_array).filter(|_| counts);
        forced.extend(schemas.into_iter().flatten());
    }
    forced.extend(keywords.get("items").filter(|_| is_filled));
    forced.into_iter().any(|schema| is_forced(schema, target, root, seen))
}
