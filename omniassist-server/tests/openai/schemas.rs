//! Tests of tool schemas and call ids in requests to each server.

use std::collections::HashSet;
use std::sync::Arc;

use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::ToolCall;
use omniassist_server::core::{JsonText, Limits, LlmPayload, ToolSpec, TranscriptItem};
use omniassist_server::provider::openai::Vendor;
use omniassist_server::{OpenAiChatProvider, Result};
use serde_json::{Map, Value, json};

/// Returns the tool schemas of a request to this vendor. `None` is a server of an unknown vendor.
fn sent_within(bytes: usize, vendor: Option<Vendor>, tools: &[(&str, &Value)]) -> Result<Vec<Value>> {
    let mut limits = Limits::default();
    limits.max_inlined_schema_bytes = bytes;
    let builder = OpenAiChatProvider::builder().api_key("k").model("m").limits(limits);
    let builder = match vendor {
        Some(vendor) => builder.vendor(vendor),
        None => builder.base_url("https://gateway.example/v1"),
    };
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools =
        tools.iter().map(|(name, schema)| Arc::new(ToolSpec::new(*name, "d", (*schema).clone()))).collect();
    let body: Value = serde_json::from_slice(&builder.build()?.request_body(&payload)?).unwrap();
    let tools = body["tools"].as_array().unwrap();
    Ok(tools.iter().map(|tool| tool["function"]["parameters"].clone()).collect())
}

fn sent(vendor: Option<Vendor>, schema: &Value) -> Value {
    sent_within(1 << 20, vendor, &[("t", schema)]).unwrap().remove(0)
}

#[test]
fn a_supported_schema_is_sent_unchanged() {
    let schema = json!({"type": "object", "properties": {}, "anyOf": [{}], "$defs": {}});
    assert_eq!(sent(None, &schema), schema);
    assert_eq!(sent(None, &json!({})), json!({"type": "object", "properties": {}}));
}

#[test]
fn references_are_replaced_by_their_targets() {
    let schema = json!({
        "type": "object",
        "properties": {
            "from": {"$ref": "#/$defs/Place", "description": "Start"},
            "via": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
            "$ref": {"type": "string"},
            "tree": {"$ref": "#/$defs/Tree"},
        },
        "$defs": {
            "Place": {"type": "object", "properties": {"city": {"type": "string"}}},
            "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}},
        },
    });
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let mut from = place.clone();
    from["description"] = json!("Start");
    assert_eq!(
        sent(Some(Vendor::OLLAMA), &schema),
        json!({"type": "object", "properties": {
            "from": from,
            "via": {"type": "array", "items": place},
            "$ref": {"type": "string"},
            "tree": {"type": "object", "properties": {"next": {}}},
        }})
    );
}

/// Returns a schema in which each level refers to the next level twice.
fn doubling(levels: usize, description: &str) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        defs.insert(format!("d{level}"), json!({"properties": {"a": next, "b": next}}));
    }
    defs.insert(format!("d{levels}"), json!({"description": description}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
}

#[test]
fn the_bytes_of_all_inlined_schemas_are_bounded() {
    let schema = doubling(3, "a place");
    let within = |bytes, tools: &[_]| sent_within(bytes, Some(Vendor::OLLAMA), tools);
    let whole = sent(Some(Vendor::OLLAMA), &schema).to_string().len();
    assert!(within(whole, &[("find", &schema)]).is_ok());
    let error = within(whole - 1, &[("find", &schema)]).unwrap_err();
    assert!(error.is_configuration() && error.to_string().contains("\"find\""), "{error}");
    let two = [("first", &schema), ("second", &schema)];
    assert!(within(2 * whole, &two).is_ok());
    assert!(within(2 * whole - 1, &two).unwrap_err().to_string().contains("\"second\""));
}

#[test]
fn a_long_description_with_many_references_is_refused() {
    let within = |schema: &Value| sent_within(1 << 20, Some(Vendor::OLLAMA), &[("t", schema)]);
    let error = within(&doubling(10, &"x".repeat(230_000))).unwrap_err();
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
    assert!(within(&doubling(40, "")).is_err());
}

#[test]
fn a_long_chain_of_references_is_refused() {
    let chain = |length: usize| {
        let links = (0..length).map(|at| (format!("d{at}"), json!({"$ref": format!("#/$defs/d{}", at + 1)})));
        json!({"properties": {}, "items": {"$ref": "#/$defs/d0"}, "$defs": links.collect::<Map<_, _>>()})
    };
    let within = |schema: &Value| sent_within(1 << 20, Some(Vendor::OLLAMA), &[("t", schema)]);
    assert!(within(&chain(100)).is_ok());
    assert!(within(&chain(20_000)).is_err());
}

#[test]
fn patterns_that_a_grammar_cannot_express_are_omitted() {
    let with = |pattern: &str| json!({"type": "object", "properties": {"pattern": {"type": "string", "pattern": pattern}}});
    for kept in ["^[a-z]+$", "^a{2,4}$"] {
        assert_eq!(sent(Some(Vendor::LLAMA_CPP), &with(kept)), with(kept));
    }
    for gone in ["[a-z]+", r"^\S+$", "^(?=x).*$", "^"] {
        let bare = json!({"type": "object", "properties": {"pattern": {"type": "string"}}});
        assert_eq!(sent(Some(Vendor::LLAMA_CPP), &with(gone)), bare, "{gone}");
    }
}

#[test]
fn combinations_are_omitted_at_the_top_level_only() {
    let schema = json!({"anyOf": [{"required": ["a"]}], "properties": {"a": {"anyOf": [{"type": "null"}]}}});
    assert_eq!(
        sent(Some(Vendor::OPENAI), &schema),
        json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}]}}})
    );
}

/// Returns the ids of the calls in a request to this vendor.
fn sent_ids<'a>(vendor: Vendor, ids: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let call = |id: &str| {
        let (arguments, kind, metadata) = (JsonText::EMPTY_OBJECT, CallKind::Function, None);
        TranscriptItem::Call(ToolCall { id: id.into(), name: "t".into(), arguments, kind, metadata })
    };
    let payload = LlmPayload::new(ids.into_iter().map(call).collect::<Vec<_>>());
    let provider = OpenAiChatProvider::builder().vendor(vendor).api_key("k").model("m").build().unwrap();
    let body: Value = serde_json::from_slice(&provider.request_body(&payload).unwrap()).unwrap();
    let calls = body["messages"][1]["tool_calls"].as_array().unwrap();
    calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect()
}

fn is_nine(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[test]
fn call_ids_of_another_format_are_replaced() {
    let (longest, longer) = ("x".repeat(40), "x".repeat(41));
    let ids = ["abcDEF123", "call_1", &longest, &longer];
    assert_eq!(sent_ids(Vendor::VLLM, ids), ids);
    let bounded = sent_ids(Vendor::OPENAI, ids);
    assert_eq!(bounded[..3], ids[..3]);
    let nine = sent_ids(Vendor::MISTRAL, ids);
    assert_eq!((&nine[0], &nine[3]), (&ids[0].to_owned(), &bounded[3]));
    assert!(nine.iter().all(|id| is_nine(id)), "{nine:?}");
}

#[test]
fn replaced_ids_are_unique_and_stable_in_a_longer_conversation() {
    let taken = sent_ids(Vendor::MISTRAL, ["call_1"]).remove(0);
    let both = sent_ids(Vendor::MISTRAL, ["call_1", &taken]);
    assert!(both[1] == taken && both[0] != taken, "{both:?}");
    let many: Vec<String> = (0..500).map(|n| format!("call_{n}")).collect();
    let later = sent_ids(Vendor::MISTRAL, many.iter().map(String::as_str));
    assert_eq!(later.iter().collect::<HashSet<_>>().len(), 500);
    assert_eq!(sent_ids(Vendor::MISTRAL, many[..250].iter().map(String::as_str)), later[..250]);
}
