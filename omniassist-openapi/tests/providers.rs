//! The tools of documents in the requests of each provider, as the encoders write them, by the rules of
//! [`provider_rules`](crate::provider_rules).

use std::sync::{Arc, LazyLock};

use omniassist_openapi::{OpenApi, OpenApiTools};
use omniassist_server::core::{Limits, LlmPayload, ModelOptions, ToolSpec, TranscriptItem};
use omniassist_server::provider::openai::Vendor;
use omniassist_server::tool::{StateMap, Tools};
use omniassist_server::{AnthropicProvider, GeminiProvider, OpenAiChatProvider, OpenAiProvider};
use serde_json::{Value, json};

use crate::hub::{OPERATIONS, text};
use crate::provider_rules::{
    MAX_TOOLS, check_anthropic, check_anthropic_answer, check_gemini, check_gemini_schema, check_openai,
    each, strict_fault,
};
use crate::server::document;

type Specs = Vec<Arc<ToolSpec>>;

fn specs(tools: OpenApiTools) -> Specs {
    let registry = Tools::new(StateMap::new(), Limits::default());
    registry.attach(tools).unwrap();
    registry.snapshot().specs().to_vec()
}

/// The tools of a large document, and of one with the schemas that providers refuse most often, in both versions.
static DOCUMENTS: LazyLock<Vec<Specs>> = LazyLock::new(|| {
    let open = |name: &str, text: &str| {
        let tools = OpenApi::from_json(name, text).unwrap().server("https://api.test").tools().unwrap();
        assert!(tools.skipped().is_empty() && tools.loosened().is_empty(), "{:?}", tools.skipped());
        specs(tools)
    };
    let hub = open("hub", &text());
    assert_eq!(hub.len(), OPERATIONS);
    vec![hub, open("v30", &traps("3.0.3").to_string()), open("v31", &traps("3.1.0").to_string())]
});

/// Returns a document whose bodies have the schemas that at least one provider refuses.
fn traps(version: &str) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let long = "l".repeat(100);
    let mut bodies = vec![
        ("inherits", reference("Dog")),
        (
            "described",
            json!({ "type": "object", "required": ["dog"], "properties": {
            "dog": { "allOf": [reference("Pet")], "description": "The dog" }, "next": { "$ref": "#/components/schemas/Pet", "description": "d" },
        } }),
        ),
        (
            "oneOfTwo",
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
            "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        ),
        (
            "needsUnknown",
            json!({ "type": "object", "properties": { "o": { "type": "object", "required": ["gone"] } } }),
        ),
        (
            "tree",
            json!({ "type": "object", "required": ["root", "filter", "value", "many"], "properties": {
            "root": reference("Node"), "filter": reference("Filter"), "value": reference("Json"), "many": reference("Many"),
        } }),
        ),
        (
            "choices",
            json!({ "type": "object", "properties": {
            "text": { "type": "string", "enum": ["a", ""] }, "flag": { "type": "boolean", "enum": [true] },
            "count": { "type": "integer", "enum": [1, 2] }, "mixed": { "enum": ["a", 1, true, null, { "x": 1 }] },
            "none": { "type": "string", "enum": [] },
        } }),
        ),
        (
            "names",
            json!({ "type": "object", "required": ["inner"], "properties": {
            "filter[name]": { "type": "string" }, "größe": { "type": "string" }, &long: { "type": "string" },
            "inner": { "type": "object", "required": ["@odata.type"], "properties": { "@odata.type": { "type": "string" }, "+1": {}, &long: {} } },
        } }),
        ),
        (
            "variants",
            json!({ "oneOf": [reference("Dog"), reference("Pet")],
            "discriminator": { "propertyName": "kind", "mapping": { "dog": "#/components/schemas/Dog" } } }),
        ),
        ("lists", json!({ "type": "array", "minItems": 1 })),
    ];
    if version == "3.0.3" {
        bodies.push((
            "nullable",
            json!({ "type": "object", "properties": {
            "state": { "type": "string", "nullable": true, "enum": ["open", "closed", null] },
            "dog": { "nullable": true, "allOf": [reference("Dog")] },
            "count": { "type": "integer", "minimum": 0, "exclusiveMinimum": true },
        } }),
        ));
    } else {
        bodies.push(("nullable", json!({ "type": "object", "properties": {
            "state": { "type": ["string", "null"], "enum": ["open", "closed", null] },
            "dog": { "anyOf": [reference("Dog"), { "type": "null" }] }, "any": { "anyOf": [{}, { "type": "null" }] },
            "count": { "type": "integer", "exclusiveMinimum": 0 }, "kind": { "const": "a" }, "nothing": { "const": null },
            "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }], "items": false },
            "list": { "type": "array", "items": true }, "own": { "$ref": "#/components/schemas/Own/$defs/part" },
        } })));
    }
    let paths = bodies.into_iter().map(|(id, schema)| {
        let body = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        (format!("/{id}"), json!({ "post": { "operationId": id, "requestBody": body } }))
    });
    let mut document = document(version, &Value::Object(paths.collect()));
    document["components"] = json!({ "schemas": {
        "Pet": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" }, "name": { "type": "string" } } },
        "Dog": { "allOf": [{ "required": ["name"] }, reference("Pet"), { "type": "object", "required": ["bark"], "properties": { "bark": { "type": "string" } } }] },
        "Node": { "type": "object", "required": ["left", "right"], "properties": {
            "left": reference("Node"), "right": { "allOf": [reference("Node")], "description": "The other" } } },
        "Filter": { "anyOf": [{ "type": "string" }, { "type": "object", "required": ["and"], "properties": { "and": reference("Both") } }] },
        "Both": { "type": "object", "required": ["one"], "properties": { "one": reference("Filter") } },
        "Json": { "anyOf": [{ "type": "string" }, { "type": "array", "items": reference("Json") },
            { "type": "object", "additionalProperties": reference("Json") }] },
        "Many": { "type": "array", "minItems": 1, "items": reference("Many") },
        "Own": { "type": "object", "$defs": { "part": { "type": "string" } } },
    } });
    document
}

/// Calls `check` with the name, the description and the schema of each tool in the requests of a provider.
fn sent(
    specs: &Specs,
    encode: impl Fn(&LlmPayload) -> Value,
    [tools, function, schema]: [&str; 3],
    check: impl Fn(&str, &str, &Value),
) {
    let mut count = 0;
    for some in specs.chunks(MAX_TOOLS) {
        let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
        payload.tools = some.into();
        let body = encode(&payload);
        for tool in body.pointer(tools).and_then(Value::as_array).unwrap() {
            let function = tool.pointer(function).unwrap();
            let text = |field: &str| function[field].as_str().unwrap();
            check(text("name"), text("description"), &function[schema]);
            count += 1;
        }
    }
    assert_eq!(count, specs.len());
}

fn parsed(body: omniassist_server::Result<bytes::Bytes>) -> Value {
    serde_json::from_slice(&body.unwrap()).unwrap()
}

fn chat(vendor: Vendor) -> impl Fn(&LlmPayload) -> Value {
    let chat = OpenAiChatProvider::builder().vendor(vendor).api_key("k").model("m").build().unwrap();
    move |payload| parsed(chat.request_body(payload))
}

fn responses() -> impl Fn(&LlmPayload) -> Value {
    let responses = OpenAiProvider::builder().api_key("k").model("m").build().unwrap();
    move |payload| parsed(responses.request_body(payload))
}

fn anthropic() -> impl Fn(&LlmPayload) -> Value {
    let anthropic = AnthropicProvider::builder().api_key("k").model("m").build().unwrap();
    move |payload| parsed(anthropic.request_body(payload))
}

fn gemini() -> impl Fn(&LlmPayload) -> Value {
    let gemini = GeminiProvider::builder().api_key("k").model("m").build().unwrap();
    move |payload| parsed(gemini.request_body(payload))
}

const CHAT: [&str; 3] = ["/tools", "/function", "parameters"];
const GEMINI: [&str; 3] = ["/tools/0/functionDeclarations", "", "parametersJsonSchema"];

#[test]
fn every_tool_follows_the_rules_of_openai() {
    for specs in &*DOCUMENTS {
        sent(specs, chat(Vendor::OPENAI), CHAT, check_openai);
        sent(specs, responses(), ["/tools", "", "parameters"], check_openai);
    }
    // Responses takes a schema without the field for a strict one, and Chat Completions does not.
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools = DOCUMENTS[1].clone().into();
    assert_eq!(responses()(&payload)["tools"][0]["strict"], false);
    assert_eq!(chat(Vendor::OPENAI)(&payload)["tools"][0]["function"].get("strict"), None);
}

#[test]
fn every_tool_follows_the_rules_of_anthropic() {
    for specs in &*DOCUMENTS {
        sent(specs, anthropic(), ["/tools", "", "input_schema"], check_anthropic);
    }
}

#[test]
fn every_tool_follows_the_rules_of_gemini() {
    for specs in &*DOCUMENTS {
        sent(specs, gemini(), GEMINI, check_gemini);
    }
}

#[test]
fn every_tool_follows_the_rules_of_compatible_servers() {
    let specs = &DOCUMENTS[0];
    sent(specs, chat(Vendor::MISTRAL), CHAT, check_openai);
    sent(specs, chat(Vendor::OLLAMA), CHAT, |name, description, schema| {
        check_openai(name, description, schema);
        // Its templates do not follow references.
        assert!(!schema.to_string().contains("$ref"), "{name}");
    });
    sent(specs, chat(Vendor::LLAMA_CPP), CHAT, |name, description, schema| {
        check_openai(name, description, schema);
        // A grammar needs patterns with both anchors.
        each(schema, &mut |keywords| {
            let pattern = keywords.get("pattern").and_then(Value::as_str).unwrap_or("^$");
            assert!(pattern.starts_with('^') && pattern.ends_with('$'), "{name}: {pattern}");
        });
    });
}

/// Returns the schemas of all tools, as those of an answer, and some that strict mode takes.
fn answers() -> Vec<Value> {
    let closed = |property: Value| json!({ "type": "object", "properties": { "a": property }, "required": ["a"], "additionalProperties": false });
    let strict = [
        json!({ "type": "string", "format": "uuid", "description": "d" }),
        json!({ "type": ["integer", "null"], "minimum": 1, "format": "int64" }),
        json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "maxItems": 3 }),
        closed(json!({ "anyOf": [closed(json!({ "type": "boolean" })), { "type": "null" }] })),
    ];
    let refused = [
        json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] }),
        json!({ "allOf": [{ "type": "string" }] }),
        json!({ "type": "string", "maxLength": 3 }),
        json!({ "type": "string", "format": "uri" }),
        json!({ "type": "string", "default": "a" }),
        json!({ "type": ["object", "null"] }),
        json!({ "description": "anything" }),
        json!({ "type": "string", "enum": (0..1_001).map(|choice| choice.to_string()).collect::<Vec<_>>() }),
        (0..10).fold(json!({ "type": "string" }), |inner, _| closed(inner)),
    ];
    let all = strict.into_iter().chain(refused).map(closed);
    DOCUMENTS.iter().flatten().map(|spec| spec.input_schema.clone()).chain(all).collect()
}

fn answering(schema: &Value) -> LlmPayload {
    let mut options = ModelOptions::default();
    options.response_schema = Some(("answer".into(), schema.clone()));
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.options = options.into();
    payload
}

#[test]
fn an_answer_is_strict_for_openai_exactly_if_its_schema_follows_the_rules() {
    let (chat, responses) = (chat(Vendor::OPENAI), responses());
    let mut strict = 0;
    for schema in answers() {
        let expected = strict_fault(&schema);
        let chat = chat(&answering(&schema));
        assert_eq!(
            chat["response_format"]["json_schema"]["strict"],
            expected.is_none(),
            "{expected:?} {schema}"
        );
        let responses = responses(&answering(&schema));
        assert_eq!(responses["text"]["format"]["strict"], expected.is_none(), "{expected:?} {schema}");
        strict += usize::from(expected.is_none());
    }
    println!("{strict} strict schemas");
    assert!(strict >= 4);
}

#[test]
fn an_answer_follows_the_strict_rules_of_anthropic_and_gemini() {
    let (anthropic, gemini) = (anthropic(), gemini());
    for schema in answers() {
        check_anthropic_answer(&anthropic(&answering(&schema))["output_config"]["format"]["schema"]);
        check_gemini_schema("answer", &gemini(&answering(&schema))["generationConfig"]["responseJsonSchema"]);
    }
}

#[test]
fn what_a_provider_takes_still_describes_the_arguments() {
    let mut payload = LlmPayload::new([TranscriptItem::user("Hello")]);
    payload.tools = DOCUMENTS[1].clone().into();
    let body = gemini()(&payload);
    let schema = |name: &str| {
        let tools = body.pointer(GEMINI[0]).and_then(Value::as_array).unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"));
        tool["parametersJsonSchema"].clone()
    };
    // The properties of both parts.
    let dog = &schema("v30_inherits")["properties"]["body"];
    let dog = dog.get("$ref").map_or(dog.clone(), |_| schema("v30_inherits")["$defs"]["Dog"].clone());
    assert_eq!(dog["required"], json!(["name", "kind", "bark"]));
    assert_eq!(dog["properties"].as_object().unwrap().len(), 3);
    assert_eq!(schema("v30_described")["properties"]["dog"], json!({ "$ref": "#/$defs/Pet" }));
    assert_eq!(
        schema("v30_nullable")["properties"]["state"],
        json!({ "anyOf": [{ "type": "string", "enum": ["open", "closed"] }, { "type": "null" }] })
    );
    // A circle gets an end, and its properties stay.
    let node = &schema("v30_tree")["$defs"]["Node"];
    assert_eq!(node.get("required"), None);
    assert_eq!(node["properties"]["left"], json!({ "$ref": "#/$defs/Node" }));
    assert_eq!(schema("v30_tree")["required"], json!(["filter", "many", "root", "value"]));
    assert_eq!(schema("v30_choices")["properties"]["count"], json!({ "type": "integer", "enum": [1, 2] }));
}
