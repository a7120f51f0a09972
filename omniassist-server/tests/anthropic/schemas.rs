//! Tests of schemas, files and thinking in requests to Anthropic.

use std::sync::Arc;

use omniassist_server::AnthropicProvider;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{LlmPayload, ModelOptions, ReasoningEffort, ToolSpec, TranscriptItem};
use serde_json::{Value, json};

fn body(model: &str, payload: &LlmPayload) -> Value {
    let provider = AnthropicProvider::builder().api_key("k").model(model).build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

fn with(options: ModelOptions) -> LlmPayload {
    let mut payload = LlmPayload::new([TranscriptItem::user("Hi")]);
    payload.options = Arc::new(options);
    payload
}

#[test]
fn refused_keywords_are_removed_from_the_schema_of_an_answer() {
    let mut options = ModelOptions::default();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "properties": {
            "minimum": {"type": "integer", "minimum": 0, "format": "uint32"},
            "at": {"type": "string", "format": "date-time", "maxLength": 40},
            "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 1},
            "word": {"enum": ["minimum", "b"]},
        },
        "$defs": {"Item": {"oneOf": [{"type": "object", "properties": {}}, {"type": "null"}]}},
    });
    options.response_schema = Some(("answer".into(), schema));
    assert_eq!(
        body("claude-sonnet-4-6", &with(options))["output_config"]["format"]["schema"],
        json!({
            "type": "object",
            "properties": {
                "minimum": {"type": "integer"},
                "at": {"type": "string", "format": "date-time"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "word": {"enum": ["minimum", "b"]},
            },
            "$defs": {"Item": {"anyOf": [
                {"type": "object", "properties": {}, "additionalProperties": false}, {"type": "null"},
            ]}},
            "additionalProperties": false,
        })
    );
}

/// The API closes every object, so a map could only be answered as `{}`.
#[test]
fn the_schema_of_an_answer_with_a_map_is_prompted() {
    let with_rest = |rest: Value| {
        let map = json!({"type": "object", "additionalProperties": rest});
        json!({"type": "object", "properties": {"prices": map}})
    };
    for (rest, stated) in
        [(json!({"type": "number"}), false), (json!(true), false), (json!({}), false), (json!(false), true)]
    {
        let schema = with_rest(rest);
        let mut options = ModelOptions::default();
        options.response_schema = Some(("answer".into(), schema.clone()));
        options.reasoning_effort = Some(ReasoningEffort::Low);
        let mut payload = with(options);
        payload.system = Some("Be brief.".into());
        let body = body("claude-sonnet-4-6", &payload);
        assert_eq!(body["output_config"].get("format").is_some(), stated, "{schema}");
        assert_eq!(body["output_config"]["effort"], "low");
        let prompt = format!("Be brief.\n\nAnswer with JSON that follows this schema:\n{schema}");
        let prompt = if stated { "Be brief." } else { &prompt };
        assert_eq!(body["system"][0]["text"], prompt);
    }
}

/// The API refuses recursive schemas, `allOf` with a reference, and lists and objects in `enum`.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>
#[test]
fn the_schema_of_an_answer_that_the_api_refuses_is_prompted() {
    let defined = |name: &str, properties: Value, defs: Value| json!({"type": "object", "properties": {name: properties}, "$defs": defs});
    let leaf = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let list_of = |name: &str| json!({"type": "array", "items": {"$ref": format!("#/$defs/{name}")}});
    let node = |name: &str| json!({"type": "object", "properties": {"next": list_of(name)}});
    for (schema, is_stated) in [
        (defined("replies", json!({"type": "array", "items": {"$ref": "#"}}), json!({})), false),
        (defined("root", json!({"$ref": "#/$defs/A"}), json!({"A": node("A")})), false),
        (defined("root", list_of("A"), json!({"A": node("B"), "B": node("A")})), false),
        (defined("all", json!({"allOf": [{"$ref": "#/$defs/A"}]}), json!({"A": leaf})), false),
        (defined("choice", json!({"enum": [{"a": 1}, "b"]}), json!({})), false),
        (defined("choice", json!({"enum": [["a"], "b"]}), json!({})), false),
        (defined("far", json!({"$ref": "https://example.com/schema.json"}), json!({})), false),
        // A definition that is used twice is no circle.
        (
            defined(
                "pair",
                json!({"anyOf": [list_of("A"), list_of("B"), list_of("A")]}),
                json!({"A": leaf, "B": node("A")}),
            ),
            true,
        ),
        (defined("all", json!({"allOf": [leaf.clone()]}), json!({})), true),
        (defined("enum", json!({"enum": ["a", 1, true, null]}), json!({})), true),
    ] {
        let mut options = ModelOptions::default();
        options.response_schema = Some(("answer".into(), schema.clone()));
        let body = body("claude-sonnet-4-6", &with(options));
        assert_eq!(body["output_config"].get("format").is_some(), is_stated, "{schema}");
        let prompt = format!("Answer with JSON that follows this schema:\n{schema}");
        assert_eq!(body["system"][0]["text"] == prompt, !is_stated, "{schema}");
    }
}

#[test]
fn the_schema_of_a_tool_has_the_type_object() {
    let whole = json!({"type": "object", "properties": {"n": {"minimum": 1}}});
    for (schema, sent) in [
        (json!(true), json!({"type": "object"})),
        (json!({"$ref": "#"}), json!({"$ref": "#", "type": "object"})),
        (whole.clone(), whole),
    ] {
        let mut payload = with(ModelOptions::default());
        payload.tools = Arc::from([Arc::new(ToolSpec::new("t", "d", schema))]);
        assert_eq!(body("claude-sonnet-4-6", &payload)["tools"][0]["input_schema"], sent);
    }
}

#[test]
fn attached_text_is_decoded_from_both_base64_alphabets_with_or_without_padding() {
    let sent = |data: &str| {
        let file = UserContent::File {
            media_type: "text/plain".into(),
            url: format!("data:text/plain;charset=utf-8;base64,{data}").into(),
            filename: None,
        };
        let payload = LlmPayload::new([TranscriptItem::User { content: vec![file] }]);
        body("claude-sonnet-4-6", &payload)["messages"][0]["content"][0].take()
    };
    for data in ["Pz4/Pg==", "Pz4/Pg", "Pz4_Pg==", "Pz4_Pg"] {
        assert_eq!(sent(data)["source"]["data"], "?>?>", "{data}");
    }
    for wrong in ["Z", "Z===", "Zm9v!m9v", "Zm9v m9v", "====", "/w=="] {
        assert!(sent(wrong)["text"].as_str().unwrap().contains("cannot be shown"), "{wrong}");
    }
}

/// Older models take a thinking budget, and newer models choose it. The newest models also refuse sampling parameters.
#[test]
fn the_model_name_selects_the_thinking_parameters() {
    let asked = |model: &str| {
        let mut thinking = ModelOptions::default();
        thinking.reasoning_effort = Some(ReasoningEffort::Low);
        let mut sampling = ModelOptions::default();
        sampling.temperature = Some(0.5);
        let kind = body(model, &with(thinking))["thinking"]["type"].take();
        (kind, body(model, &with(sampling)).get("temperature").is_some())
    };
    for (kind, samples, models) in [
        (
            "enabled",
            true,
            [
                "claude-3-7-sonnet-latest",
                "claude-opus-4-20250514",
                "anthropic/claude-sonnet-4.5",
                "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
                "claude-sonnet-4@20250514",
                "MiniMax-M2",
            ],
        ),
        (
            "adaptive",
            true,
            [
                "claude-sonnet-4-6",
                "claude-opus-4-6",
                "anthropic/claude-opus-4.6",
                "us.anthropic.claude-sonnet-4-6",
                "claude-opus-4-6@default",
                "claude-opus-4-6-v1",
            ],
        ),
        (
            "adaptive",
            false,
            [
                "claude-opus-4-7",
                "claude-opus-4.8",
                "claude-sonnet-5",
                "claude-fable-5",
                "claude-opus-5",
                "claude-haiku-5",
            ],
        ),
    ] {
        for model in models {
            assert_eq!(asked(model), (json!(kind), samples), "{model}");
        }
    }
}
