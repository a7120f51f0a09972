//! Tests of schemas and settings in requests to each Gemini model.

use std::sync::Arc;

use omniassist_server::GeminiProvider;
use omniassist_server::core::{LlmPayload, ModelOptions, ReasoningEffort, ToolSpec, TranscriptItem};
use serde_json::{Value, json};

fn hello() -> LlmPayload {
    LlmPayload::new([TranscriptItem::user("Hello")])
}

fn body(provider: &GeminiProvider, payload: &LlmPayload) -> Value {
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

/// Returns the sent parameters of a tool with this schema.
fn parameters(schema: &Value) -> Value {
    let mut payload = hello();
    payload.tools = Arc::from([Arc::new(ToolSpec::new("t", "d", schema.clone()))]);
    let provider = GeminiProvider::new("k").unwrap();
    body(&provider, &payload)["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"].take()
}

#[test]
fn unsupported_keywords_are_dropped_or_translated() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "count": {"type": "integer", "format": "uint32", "minimum": 0, "exclusiveMaximum": 9, "default": 1},
            "when": {"type": "string", "format": "date-time", "pattern": "x"},
            "kind": {"const": "a"},
            "place": {"$ref": "#/definitions/Place", "description": "where"},
            "const": {"type": ["string", "null"]},
            "any": true,
            "list": {"type": "array", "items": {"type": "string", "minLength": 1}},
        },
        "required": ["count"],
        "additionalProperties": false,
        "definitions": {"Place": {"type": "object", "allOf": [
            {"properties": {"x": {"type": "number"}}, "required": ["x"]},
            {"properties": {"y": {"type": "number"}}, "required": ["y", "x"]},
        ]}},
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0},
            "when": {"type": "string", "format": "date-time"},
            "kind": {"enum": ["a"]},
            "place": {"$ref": "#/$defs/Place"},
            "const": {"type": ["string", "null"]},
            "any": {},
            "list": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["count"],
        "additionalProperties": false,
        "$defs": {"Place": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
            "required": ["x", "y"],
        }},
    });
    assert_eq!(parameters(&schema), expected);
    assert_eq!(parameters(&expected), expected, "a translated schema must not change again");
}

#[test]
fn empty_parameters_are_omitted() {
    let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(parameters(&nothing), Value::Null);
    assert_ne!(parameters(&json!({"type": "object", "properties": {"a": {}}})), Value::Null);
    assert_ne!(parameters(&json!({"$ref": "#/$defs/A"})), Value::Null);
}

#[test]
fn a_model_name_cannot_change_the_url() {
    let build = |model: &str| GeminiProvider::builder().api_key("k").model(model).build();
    let (longest, longer) = ("a".repeat(128), "a".repeat(129));
    for good in ["gemini-2.5-flash", "models/gemini-2.5-flash", "tunedModels/my-model_1", &longest] {
        assert!(build(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        ".",
        "..",
        "../x",
        "models/..",
        "models/",
        "a/b",
        "models/a/b",
        "a?b",
        "a#b",
        "a:b",
        "a%2e",
        "a b",
        "a\nb",
        "a\\b",
        "é",
        &longer,
    ] {
        assert!(build(bad).unwrap_err().is_configuration(), "{bad}");
    }
}

#[test]
fn effort_becomes_a_budget_or_a_level() {
    let sent = |model: &str, effort: Option<ReasoningEffort>, thoughts: bool| {
        let provider = GeminiProvider::builder().api_key("k").model(model).include_thoughts(thoughts);
        let mut options = ModelOptions::default();
        options.reasoning_effort = effort;
        let mut payload = hello();
        payload.options = Arc::new(options);
        body(&provider.build().unwrap(), &payload)["generationConfig"]["thinkingConfig"].take()
    };
    let word = |word: &'static str| ReasoningEffort::Other(word.into());
    for (model, effort, expected) in [
        ("gemini-2.5-flash", ReasoningEffort::Minimal, json!({"thinkingBudget": 1024})),
        ("models/gemini-2.5-pro", ReasoningEffort::High, json!({"thinkingBudget": 24576})),
        ("gemini-2.5-flash", word("none"), json!({"thinkingBudget": 0})),
        ("gemini-2.5-pro", word("none"), json!({"thinkingBudget": 128})),
        ("gemini-2.5-flash", word("512"), json!({"thinkingBudget": 512})),
        ("gemini-2.5-flash", word("odd"), Value::Null),
        ("gemini-2.0-flash", ReasoningEffort::High, Value::Null),
        ("gemini-3-flash-preview", ReasoningEffort::Minimal, json!({"thinkingLevel": "minimal"})),
        ("gemini-3.1-pro-preview", ReasoningEffort::Minimal, json!({"thinkingLevel": "low"})),
        ("gemini-flash-latest", ReasoningEffort::Medium, json!({"thinkingLevel": "medium"})),
        ("gemini-flash-latest", word("none"), json!({"thinkingLevel": "minimal"})),
    ] {
        assert_eq!(sent(model, Some(effort.clone()), false), expected, "{model} {effort:?}");
    }
    assert_eq!(sent("gemini-3-flash", None, false), Value::Null);
    assert_eq!(sent("gemini-3-flash", None, true), json!({"includeThoughts": true}));
}
