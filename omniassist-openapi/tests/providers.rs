//! The schemas of a large document in the requests of each provider, by the rules that the providers document:
//!
//! - OpenAI: <https://platform.openai.com/docs/guides/function-calling> and
//!   <https://platform.openai.com/docs/guides/structured-outputs>
//! - Anthropic: <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>
//! - Gemini: <https://ai.google.dev/api/caching#FunctionDeclaration>

use std::sync::Arc;

use omniassist_openapi::OpenApi;
use omniassist_server::core::{Limits, LlmPayload, ModelOptions, ToolSpec, TranscriptItem};
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{AnthropicProvider, GeminiProvider, OpenAiChatProvider, OpenAiProvider};
use serde_json::{Map, Value};

use crate::hub::{OPERATIONS, text};

type Schema = Map<String, Value>;

/// Keywords that combine schemas, which no provider takes at the top.
const COMBINING: [&str; 9] = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];

/// The keywords that Gemini documents for `parametersJsonSchema`.
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

const GEMINI_FORMATS: [&str; 8] = ["date", "date-time", "double", "enum", "float", "int32", "int64", "time"];

fn specs() -> Arc<[Arc<ToolSpec>]> {
    let tools = OpenApi::from_json("hub", &text()).unwrap().server("https://api.test").tools().unwrap();
    let registry = Tools::new(StateMap::new(), Limits::default());
    registry.attach(tools).unwrap();
    registry.snapshot().specs()
}

/// Calls `visit` with each schema within a schema, and with the schema itself.
fn each(schema: &Value, visit: &mut impl FnMut(&Schema)) {
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

/// Checks what all providers require of the schema of a function's arguments.
fn check_common(name: &str, schema: &Value) {
    jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(schema["type"], "object", "{name}");
    let top = schema.as_object().unwrap();
    assert!(COMBINING.iter().all(|keyword| !top.contains_key(*keyword)), "{name}: {schema}");
    each(schema, &mut |keywords| {
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(
                pointer.starts_with("/$defs/") && schema.pointer(pointer).is_some(),
                "{name}: {reference}"
            );
        }
        let Some(properties) = keywords.get("properties").and_then(Value::as_object) else { return };
        for needed in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(properties.contains_key(needed.as_str().unwrap()), "{name}: {needed} is no property");
        }
    });
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// Returns the fields of each function in a request.
fn functions<'a>(
    body: &'a Value,
    tools: &str,
    function: &str,
    schema: &str,
) -> Vec<(&'a str, &'a Value, &'a Value)> {
    let tools = body.pointer(tools).and_then(Value::as_array).unwrap();
    assert_eq!(tools.len(), OPERATIONS);
    let read = |tool: &'a Value| {
        let function = tool.pointer(function).unwrap();
        let name = function["name"].as_str().unwrap();
        assert!(is_name(name), "{name}");
        let description = function["description"].as_str().unwrap();
        assert!((1..=1024).contains(&description.chars().count()), "{name}");
        check_common(name, &function[schema]);
        (name, function, &function[schema])
    };
    tools.iter().map(read).collect()
}

fn parsed(body: omniassist_server::Result<bytes::Bytes>) -> Value {
    serde_json::from_slice(&body.unwrap()).unwrap()
}

#[test]
fn every_schema_of_a_large_document_follows_the_rules_of_openai() {
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools = specs();
    let chat = OpenAiChatProvider::builder().api_key("k").model("m").build().unwrap();
    let responses = OpenAiProvider::builder().api_key("k").model("m").build().unwrap();
    let body = parsed(chat.request_body(&payload));
    for (name, function, _) in functions(&body, "/tools", "/function", "parameters") {
        assert!(function.get("strict").is_none(), "{name}");
    }
    let body = parsed(responses.request_body(&payload));
    for (name, function, _) in functions(&body, "/tools", "", "parameters") {
        // Without the field, this API takes a schema for a strict one.
        assert_eq!(function["strict"], false, "{name}");
    }
}

/// Returns `true` if each object is closed and requires all its properties.
fn is_strict(schema: &Value) -> bool {
    let mut holds = true;
    each(schema, &mut |keywords| {
        let is_object = keywords.get("type") == Some(&"object".into()) || keywords.contains_key("properties");
        let required = keywords.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        let all = keywords.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        holds &=
            !is_object || (keywords.get("additionalProperties") == Some(&false.into()) && required == all);
    });
    holds
}

#[test]
fn a_schema_of_a_large_document_is_strict_for_openai_only_by_its_rules() {
    let chat = OpenAiChatProvider::builder().api_key("k").model("m").build().unwrap();
    let responses = OpenAiProvider::builder().api_key("k").model("m").build().unwrap();
    let closed = serde_json::json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"],
        "additionalProperties": false });
    let schemas = specs().iter().map(|spec| spec.input_schema.clone()).chain([closed]).collect::<Vec<_>>();
    let mut strict = 0;
    for schema in schemas {
        let mut options = ModelOptions::default();
        let expected = is_strict(&schema);
        options.response_schema = Some(("answer".into(), schema));
        let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
        payload.options = options.into();
        let chat = parsed(chat.request_body(&payload));
        assert_eq!(chat["response_format"]["json_schema"]["strict"], expected, "{chat}");
        let responses = parsed(responses.request_body(&payload));
        assert_eq!(responses["text"]["format"]["strict"], expected, "{responses}");
        strict += usize::from(expected);
    }
    println!("{strict} strict schemas");
    assert!(strict >= 1);
}

#[test]
fn every_schema_of_a_large_document_follows_the_rules_of_anthropic() {
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools = specs();
    let provider = AnthropicProvider::builder().api_key("k").model("m").build().unwrap();
    let body = parsed(provider.request_body(&payload));
    for (name, _, schema) in functions(&body, "/tools", "", "input_schema") {
        let properties = schema["properties"].as_object().unwrap();
        let is_key = |key: &String| is_name(&key.replace('.', "_"));
        assert!(properties.keys().all(is_key), "{name}: {schema}");
    }
}

#[test]
fn every_schema_of_a_large_document_follows_the_rules_of_gemini() {
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools = specs();
    let provider = GeminiProvider::builder().api_key("k").model("m").build().unwrap();
    let body = parsed(provider.request_body(&payload));
    for (name, _, schema) in functions(&body, "/tools/0/functionDeclarations", "", "parametersJsonSchema") {
        assert!(name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'), "{name}");
        each(schema, &mut |keywords| {
            let unknown = keywords.keys().find(|keyword| !GEMINI.contains(&keyword.as_str()));
            assert_eq!(unknown, None, "{name}");
            if keywords.contains_key("$ref") {
                assert!(keywords.keys().all(|keyword| keyword.starts_with('$')), "{name}: {keywords:?}");
            }
            let format = keywords.get("format").and_then(Value::as_str);
            assert!(format.is_none_or(|format| GEMINI_FORMATS.contains(&format)), "{name}: {format:?}");
        });
    }
}
