//! Tests of request bodies and of the provider state in them.

use std::sync::Arc;

use omniassist_server::GeminiProvider;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_server::core::{
    JsonText, LlmEvent, LlmPayload, ModelOptions, ReasoningEffort, ToolChoice, ToolSpec, TranscriptItem,
};
use serde_json::{Value, json};

use super::streams::{last, parts, sse, thoughts_and_calls};
use super::whole;

fn call(id: &str, arguments: &str) -> TranscriptItem {
    TranscriptItem::Call(ToolCall {
        id: id.into(),
        name: "weather".into(),
        arguments: JsonText::parse(arguments).unwrap(),
        kind: CallKind::Function,
        metadata: None,
    })
}

fn result(id: &str, output: Value, is_error: bool) -> ToolResult {
    ToolResult { call_id: id.into(), output: JsonText::from_value(&output), is_error }
}

fn file(media_type: &str, url: &str) -> UserContent {
    UserContent::File { media_type: media_type.into(), url: url.into(), filename: None }
}

fn conversation() -> Vec<TranscriptItem> {
    vec![
        TranscriptItem::user("Weather in Bern?"),
        TranscriptItem::Reasoning { text: "foreign".into(), metadata: None },
        TranscriptItem::Text { text: "Let me look.".into(), metadata: None },
        call("call_a", "{\"city\": \"Bern\"}"),
        call("gemini_x_1", "{}"),
        TranscriptItem::Result(result("call_a", json!({"t": 21}), false)),
        TranscriptItem::Result(result("gemini_x_1", json!("no such city"), true)),
        TranscriptItem::Text { text: "21 °C.".into(), metadata: None },
        TranscriptItem::Text { text: "".into(), metadata: None },
        TranscriptItem::User {
            content: vec![
                UserContent::Text { text: "And this?".into() },
                file("image/png", "data:image/png;base64,QUJD"),
                file("application/pdf", "https://example.com/b.pdf"),
                file("text/plain", "data:text/plain,plain"),
            ],
        },
        TranscriptItem::user("Well?"),
    ]
}

fn payload() -> LlmPayload {
    let schema = json!({"$schema": "x", "type": "object", "properties": {"city": {"type": "string"}},
                        "additionalProperties": false});
    let bare = json!({"type": "object", "properties": {}});
    let mut payload = LlmPayload::new(conversation());
    payload.system = Some("Be brief.".into());
    payload.tools = Arc::from([
        Arc::new(ToolSpec::new("weather", "Gives the weather", schema)),
        Arc::new(ToolSpec::new("time", "Gives the time", bare)),
    ]);
    payload
}

fn body_of(model: &str, payload: &LlmPayload) -> Value {
    let provider = GeminiProvider::builder().api_key("k").model(model).build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

#[test]
fn a_body() {
    assert_eq!(
        body_of("gemini-2.5-flash", &payload()),
        json!({
            "tools": [{"functionDeclarations": [
                {"name": "weather", "description": "Gives the weather", "parametersJsonSchema": {
                    "type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false}},
                {"name": "time", "description": "Gives the time"},
            ]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Weather in Bern?"}]},
                {"role": "model", "parts": [
                    {"text": "Let me look."},
                    {"functionCall": {"id": "call_a", "name": "weather", "args": {"city": "Bern"}}},
                    {"functionCall": {"name": "weather", "args": {}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "call_a", "name": "weather", "response": {"output": {"t": 21}}}},
                    {"functionResponse": {"name": "weather", "response": {"error": "no such city"}}},
                ]},
                {"role": "model", "parts": [{"text": "21 °C."}]},
                {"role": "user", "parts": [
                    {"text": "And this?"},
                    {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
                    {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.com/b.pdf"}},
                    {"text": "[The attached file (text/plain) cannot be shown.]"},
                    {"text": "Well?"},
                ]},
            ],
        })
    );
}

#[test]
fn options_and_extra_fields() {
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    options.top_p = Some(0.9);
    options.max_output_tokens = Some(100);
    options.reasoning_effort = Some(ReasoningEffort::Low);
    options.response_schema = Some(("answer".into(), json!({"type": "object", "$schema": "x"})));
    options.extra.insert("safetySettings".to_owned(), json!([]));
    let mut payload = payload();
    payload.options = Arc::new(options);
    payload.model = Some("gemini-3-flash-preview".into());
    let body = body_of("gemini-2.5-flash", &payload);
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    assert_eq!(
        body["generationConfig"],
        json!({"temperature": 0.5, "topP": 0.9, "maxOutputTokens": 100, "responseMimeType": "application/json",
               "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinkingLevel": "low"}})
    );
    assert_eq!((body.get("toolConfig"), &body["safetySettings"]), (None, &json!([])));
    for (choice, config) in [
        (ToolChoice::None, json!({"mode": "NONE"})),
        (ToolChoice::Required, json!({"mode": "ANY"})),
        (ToolChoice::Tool("time".into()), json!({"mode": "ANY", "allowedFunctionNames": ["time"]})),
    ] {
        payload.tool_choice = choice;
        assert_eq!(body_of("m", &payload)["toolConfig"], json!({"functionCallingConfig": config}));
    }
    let mut bare = LlmPayload::new([TranscriptItem::user("Hi")]);
    bare.tool_choice = ToolChoice::Required;
    let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
    assert_eq!(body_of("m", &bare), json!({"contents": contents}));
    let provider = GeminiProvider::builder().api_key("k").include_thoughts(true).build().unwrap();
    let body: Value = serde_json::from_slice(&provider.request_body(&bare).unwrap()).unwrap();
    assert_eq!(body["generationConfig"], json!({"thinkingConfig": {"includeThoughts": true}}));
}

/// Models before Gemini 3 refuse a request with tools that states the form of its answer.
#[test]
fn the_form_of_an_answer_is_prompted_beside_tools() {
    let mut options = ModelOptions::default();
    options.response_schema = Some(("answer".into(), json!({"type": "object"})));
    let mut with_tools = payload();
    with_tools.options = Arc::new(options);
    let mut alone = with_tools.clone();
    alone.tools = Arc::from([]);
    for (model, payload, stated) in [
        ("gemini-2.5-flash", &with_tools, false),
        ("gemini-2.0-flash", &with_tools, false),
        ("gemini-2.5-flash", &alone, true),
        ("gemini-3-flash-preview", &with_tools, true),
    ] {
        let body = body_of(model, payload);
        let config = &body["generationConfig"];
        assert_eq!(config.get("responseMimeType").is_some(), stated, "{model}");
        assert_eq!(config.get("responseJsonSchema").is_some(), stated, "{model}");
        let prompt = "Be brief.\n\nAnswer with JSON that follows this schema:\n{\"type\":\"object\"}";
        let prompt = if stated { "Be brief." } else { prompt };
        assert_eq!(body["systemInstruction"], json!({"parts": [{"text": prompt}]}), "{model}");
    }
}

#[test]
fn files_of_other_types_become_text() {
    let inline = |kind: &str| file(kind, &format!("data:{kind};base64,QUJD"));
    let content = vec![
        inline("image/jpg"),
        inline("image/heic"),
        inline("image/gif"),
        inline("image/svg+xml"),
        inline("application/zip"),
        inline("application/json"),
        inline("text/csv"),
        inline("video/mp4"),
        file("application/zip", "https://example.com/b.zip"),
    ];
    let blob = |kind: &str| json!({"inlineData": {"mimeType": kind, "data": "QUJD"}});
    let note = |kind: &str| json!({"text": format!("[The attached file ({kind}) cannot be shown.]")});
    assert_eq!(
        body_of("gemini-2.5-flash", &LlmPayload::new([TranscriptItem::User { content }]))["contents"][0]["parts"],
        json!([
            blob("image/jpeg"),
            blob("image/heic"),
            note("image/gif"),
            note("image/svg+xml"),
            note("application/zip"),
            {"text": "[The attached file (application/json):]\nABC"},
            blob("text/csv"),
            blob("video/mp4"),
            note("application/zip"),
        ])
    );
}

#[test]
fn an_invented_name_is_sent_in_a_form_that_is_accepted() {
    let mut invented = call("a", "{}");
    if let TranscriptItem::Call(call) = &mut invented {
        call.name = "find order.x".into();
    }
    let items =
        [TranscriptItem::user("Q"), invented, TranscriptItem::Result(result("a", json!("none"), true))];
    let contents = body_of("gemini-2.5-flash", &LlmPayload::new(items))["contents"].clone();
    let name = contents[1]["parts"][0]["functionCall"]["name"].as_str().unwrap();
    assert!(name.starts_with("find_order_x_") && name.len() == 19, "{name}");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["name"], name);
}

/// Checks that the bytes before the last user message stay the same. Otherwise, the provider's prompt cache is lost.
#[test]
fn the_body_before_the_last_user_message_is_byte_stable() {
    let provider = GeminiProvider::new("k").unwrap();
    let with = |last: &str| {
        let mut payload = payload();
        let items = conversation().into_iter().chain([TranscriptItem::user(last)]);
        payload.transcript = items.collect();
        provider.request_body(&payload).unwrap()
    };
    let (plain, context) = (with("Hello"), with("<context>x</context>Hello"));
    let same = plain.iter().zip(&context).take_while(|(a, b)| a == b).count();
    let text = String::from_utf8(plain.to_vec()).unwrap();
    assert_eq!(same, text.find("Hello").unwrap());
    assert_eq!(plain, with("Hello"));
}

/// Returns the model's output as entries of the next request, in the order in which it began.
fn items_of(events: &[LlmEvent]) -> Vec<TranscriptItem> {
    let mut items = Vec::new();
    let mut text = String::new();
    let mut calls = std::collections::HashMap::new();
    for event in events {
        match event {
            LlmEvent::TextDelta { delta, .. } | LlmEvent::ReasoningDelta { delta, .. } => {
                text.push_str(delta);
            }
            LlmEvent::TextEnd { metadata, .. } => {
                let text = std::mem::take(&mut text).into();
                items.push(TranscriptItem::Text { text, metadata: metadata.clone() });
            }
            LlmEvent::ReasoningEnd { metadata, .. } => {
                let text = std::mem::take(&mut text).into();
                items.push(TranscriptItem::Reasoning { text, metadata: metadata.clone() });
            }
            LlmEvent::ToolCallStart { call, id, name, kind } => {
                calls.insert(*call, items.len());
                items.push(TranscriptItem::Call(ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: JsonText::EMPTY_OBJECT,
                    kind: *kind,
                    metadata: None,
                }));
            }
            LlmEvent::ToolCallEnd { call, arguments, metadata } => {
                let TranscriptItem::Call(item) = &mut items[calls[call]] else { panic!("expected a call") };
                item.arguments = JsonText::parse(arguments.clone()).unwrap();
                item.metadata.clone_from(metadata);
            }
            _ => {}
        }
    }
    items
}

#[test]
fn signatures_are_sent_back_unchanged() {
    let mut items = vec![TranscriptItem::user("Q")];
    items.extend(items_of(&whole(&thoughts_and_calls()).events));
    let payload = LlmPayload::new(items)
        .with_results([result("gemini_test_0", json!(1), false), result("gemini_test_1", json!(2), false)]);
    for model in ["gemini-2.5-flash", "gemini-3-flash-preview"] {
        assert_eq!(
            body_of(model, &payload)["contents"][1]["parts"],
            json!([
                {"text": "Let me think \"hard\"\n🦀.", "thought": true, "thoughtSignature": "thought+/sig=="},
                {"text": "I look."},
                {"functionCall": {"name": "weather", "args": {"city": "Zürich", "days": [1, 2]}},
                 "thoughtSignature": "call+/sig=="},
                {"functionCall": {"name": "time", "args": {}}},
                {"text": "", "thoughtSignature": "last+/sig=="},
            ])
        );
    }
    // The signature of an empty part moves to the text before it, if there is any.
    let signed = sse(&[
        parts(json!([{"text": "Hi"}])),
        last(json!([{"text": "", "thoughtSignature": "s+/=="}]), "STOP"),
    ]);
    let payload = LlmPayload::new(items_of(&whole(&signed).events));
    let opening = json!({"role": "user", "parts": [{"text": "(The conversation begins.)"}]});
    let expected =
        json!([opening, {"role": "model", "parts": [{"text": "Hi", "thoughtSignature": "s+/=="}]}]);
    assert_eq!(body_of("m", &payload)["contents"], expected);
}

#[test]
fn calls_of_other_models_carry_a_placeholder_if_signatures_are_required() {
    let signatures = |model: &str| {
        let body = body_of(model, &payload());
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part.get("thoughtSignature").cloned()).collect::<Vec<_>>()
    };
    assert_eq!(signatures("gemini-2.5-flash"), [None, None, None]);
    assert_eq!(signatures("gemini-3-flash"), [None, Some(json!("skip_thought_signature_validator")), None]);
}

#[test]
fn references_in_all_of_cost_a_bounded_time_and_size() {
    let reference = |name: String| json!({"$ref": format!("#/$defs/{name}")});
    // Each schema contains all others: the paths through them are as many as their orders.
    let all: Vec<Value> = (0..14).map(|number| reference(format!("M{number}"))).collect();
    let defs: serde_json::Map<_, _> =
        (0..14).map(|number| (format!("M{number}"), json!({"allOf": all, "type": "object"}))).collect();
    let circles = json!({"type": "object", "properties": {"p": all[0]}, "$defs": defs});
    // Each schema contains the next one twice, and nothing refers to the first one.
    let twice = |number: usize| vec![reference(format!("L{}", number + 1)); 2];
    let defs: serde_json::Map<_, _> =
        (0..40).map(|number| (format!("L{number}"), json!({"allOf": twice(number)}))).collect();
    let unused = json!({"type": "object", "properties": {"p": {"type": "string"}}, "$defs": defs});
    for schema in [circles, unused] {
        let mut payload = LlmPayload::new(vec![TranscriptItem::user("Hi")]);
        payload.tools = Arc::from([Arc::new(ToolSpec::new("open", "Opens", schema.clone()))]);
        let length = body_of("gemini-2.5-flash", &payload).to_string().len();
        assert!(length < 128 * 1024 + schema.to_string().len(), "{length}");
    }
}

/// The API refuses a part with an empty text.
#[test]
fn a_blank_system_prompt_is_not_sent() {
    for blank in ["", " \n"] {
        let mut payload = LlmPayload::new([TranscriptItem::user("Hi")]);
        payload.system = Some(blank.into());
        assert_eq!(body_of("m", &payload).get("systemInstruction"), None, "{blank:?}");
    }
}
