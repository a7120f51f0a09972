//! The rules of strict mode, in which the API guarantees that an answer matches its schema.
//! <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>

use serde_json::{Map, Value};

/// The keywords that strict mode takes. It refuses the request for any other.
const KEYWORDS: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
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

/// The formats of strings.
const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The maximum number of objects within objects.
const MAX_DEPTH: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_CHOICES: usize = 1_000;
/// The maximum number of characters of names and of the values of enumerations.
const MAX_TEXT: usize = 120_000;
/// The number of values from which [`MAX_LONG_TEXT`] holds for an enumeration of strings.
const LONG: usize = 250;
const MAX_LONG_TEXT: usize = 15_000;

/// Returns `true` if a schema follows the rules of strict mode: every object is closed and requires all its properties,
/// and there are only the keywords that the mode knows.
pub(super) fn is_strict(schema: &Value) -> bool {
    let mut size = Size::default();
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object && schema.get("anyOf").is_none() && size.takes(schema, 0) && size.is_bounded()
}

#[derive(Default)]
struct Size {
    properties: usize,
    choices: usize,
    text: usize,
}

impl Size {
    fn is_bounded(&self) -> bool {
        self.properties <= MAX_PROPERTIES && self.choices <= MAX_CHOICES && self.text <= MAX_TEXT
    }

    /// Returns `true` if the mode takes a schema, and adds up its size. `depth` counts the objects around it.
    fn takes(&mut self, schema: &Value, depth: usize) -> bool {
        let Value::Object(fields) = schema else { return false };
        if fields.contains_key("$ref") {
            // Nothing but definitions may accompany a reference.
            let is_definitions = |key: &str| key == "$defs" || key == "definitions";
            return fields.keys().all(|key| key == "$ref" || is_definitions(key))
                && self.named(fields, "$defs", depth)
                && self.named(fields, "definitions", depth);
        }
        let is_typed = fields.contains_key("type") || fields.contains_key("anyOf");
        let depth = depth + usize::from(fields.contains_key("properties"));
        is_typed
            && depth <= MAX_DEPTH
            && fields.keys().all(|key| KEYWORDS.contains(&key.as_str()))
            && is_closed(fields)
            && has_format(fields)
            && self.has_choices(fields)
            && self.named(fields, "properties", depth)
            && self.named(fields, "$defs", depth)
            && self.named(fields, "definitions", depth)
            && fields.get("items").is_none_or(|items| self.takes(items, depth))
            && fields.get("anyOf").is_none_or(|all| self.all(all, depth))
    }

    fn all(&mut self, schemas: &Value, depth: usize) -> bool {
        schemas.as_array().is_some_and(|schemas| schemas.iter().all(|schema| self.takes(schema, depth)))
    }

    fn named(&mut self, fields: &Map<String, Value>, keyword: &str, depth: usize) -> bool {
        let Some(schemas) = fields.get(keyword) else { return true };
        let Value::Object(schemas) = schemas else { return false };
        schemas.iter().all(|(name, schema)| {
            self.properties += usize::from(keyword == "properties");
            self.text += name.chars().count();
            self.takes(schema, depth)
        })
    }

    fn has_choices(&mut self, fields: &Map<String, Value>) -> bool {
        let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
        self.text += fields.get("const").map_or(0, length);
        let Some(choices) = fields.get("enum") else { return true };
        let Value::Array(choices) = choices else { return false };
        let text: usize = choices.iter().map(length).sum();
        self.text += text;
        self.choices += choices.len();
        choices.len() <= LONG || text <= MAX_LONG_TEXT
    }
}

fn is_closed(fields: &Map<String, Value>) -> bool {
    let is_object = match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        kind => kind.is_some_and(|kind| kind == "object"),
    };
    let properties = fields.get("properties").and_then(Value::as_object);
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    let has_all = properties.is_none_or(|properties| properties.keys().all(is_required));
    let is_shut = fields.get("additionalProperties") == Some(&Value::Bool(false));
    match (is_object, properties) {
        (false, None) => !fields.contains_key("additionalProperties"),
        (false, Some(_)) => false,
        (true, _) => is_shut && has_all,
    }
}

/// Returns `true` for a format that the mode knows. Those of numbers are notes.
fn has_format(fields: &Map<String, Value>) -> bool {
    let is_text = match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        kind => kind.is_some_and(|kind| kind == "string"),
    };
    !is_text || fields.get("format").and_then(Value::as_str).is_none_or(|format| FORMATS.contains(&format))
}
