//! Tests of request bodies and of the provider state in them.

use std::sync::Arc;

use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_server::core::{
    JsonText, LlmEvent, LlmPayload, ModelOptions, ReasoningEffort, ToolChoice, ToolExample, ToolSpec,
    TranscriptItem,
};
use omniassist_server::{OpenAiChatProvider, OpenAiProvider};
use serde_json::{Value, json};

use super::harness::{Api, whole};
use super::streams::reasoning_and_calls;

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

fn conversation() -> Vec<TranscriptItem> {
    vec![
        TranscriptItem::user("Weather in Bern?"),
        TranscriptItem::Reasoning { text: "foreign".into(), metadata: None },
        TranscriptItem::Text { text: "Let me ".into(), metadata: None },
        TranscriptItem::Text { text: "look.".into(), metadata: None },
        call("call_a", "{\"city\": \"Bern\"}"),
        call("call_b", "{}"),
        TranscriptItem::Result(result("call_a", json!({"t": 21}), false)),
        TranscriptItem::Result(result("call_b", json!("no such city"), true)),
        TranscriptItem::Text { text: "21 °C.".into(), metadata: None },
        TranscriptItem::User {
            content: vec![
                UserContent::Text { text: "And this?".into() },
                UserContent::File {
                    media_type: "image/png".into(),
                    url: "data:image/png;base64,QUJD".into(),
                    filename: None,
                },
                UserContent::File {
                    media_type: "application/pdf".into(),
                    url: "data:application/pdf;base64,QUJD".into(),
                    filename: Some("a.pdf".into()),
                },
                UserContent::File {
                    media_type: "application/pdf".into(),
                    url: "https://example.com/b.pdf".into(),
                    filename: Some("b.pdf".into()),
                },
            ],
        },
    ]
}

fn payload() -> LlmPayload {
    let mut tool = ToolSpec::new(
        "weather",
        "Gives the weather",
        json!({"type": "object", "properties": {"city": {"type": "string"}}}),
    );
    tool.examples = vec![ToolExample { request: "Bern?".into(), arguments: json!({"city": "Bern"}) }];
    let mut payload = LlmPayload::new(conversation());
    payload.system = Some("Be brief.".into());
    payload.tools = Arc::from([Arc::new(tool)]);
    payload
}

fn responses(payload: &LlmPayload) -> Value {
    let provider = OpenAiProvider::builder().api_key("k").model("gpt-test").build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

fn chat(payload: &LlmPayload) -> Value {
    let provider = OpenAiChatProvider::builder().api_key("k").model("gpt-test").build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

#[test]
fn a_responses_body() {
    assert_eq!(
        responses(&payload()),
        json!({
            "model": "gpt-test",
            "stream": true,
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "tools": [{
                "type": "function",
                "name": "weather",
                "description": "Gives the weather\nExamples:\n\"Bern?\" -> {\"city\":\"Bern\"}",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
                "strict": false,
            }],
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather in Bern?"}]},
                {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me ", "annotations": []}]},
                {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "look.", "annotations": []}]},
                {"type": "function_call", "call_id": "call_a", "name": "weather", "arguments": "{\"city\": \"Bern\"}", "status": "completed"},
                {"type": "function_call", "call_id": "call_b", "name": "weather", "arguments": "{}", "status": "completed"},
                {"type": "function_call_output", "call_id": "call_a", "output": "{\"t\":21}", "status": "completed"},
                {"type": "function_call_output", "call_id": "call_b", "output": "no such city", "status": "incomplete"},
                {"type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "21 °C.", "annotations": []}]},
                {"type": "message", "role": "user", "content": [
                    {"type": "input_text", "text": "And this?"},
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
                    {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"},
                    {"type": "input_file", "file_url": "https://example.com/b.pdf"},
                ]},
            ],
        })
    );
}

#[test]
fn a_chat_body() {
    assert_eq!(
        chat(&payload()),
        json!({
            "model": "gpt-test",
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {
                "name": "weather",
                "description": "Gives the weather\nExamples:\n\"Bern?\" -> {\"city\":\"Bern\"}",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            }}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Weather in Bern?"},
                {"role": "assistant", "content": "Let me look.", "tool_calls": [
                    {"type": "function", "id": "call_a", "function": {"name": "weather", "arguments": "{\"city\": \"Bern\"}"}},
                    {"type": "function", "id": "call_b", "function": {"name": "weather", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "call_a", "content": "{\"t\":21}"},
                {"role": "tool", "tool_call_id": "call_b", "content": "no such city"},
                {"role": "assistant", "content": "21 °C."},
                {"role": "user", "content": [
                    {"type": "text", "text": "And this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                    {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
                    {"type": "text", "text": "[attached b.pdf (application/pdf): https://example.com/b.pdf]"},
                ]},
            ],
        })
    );
}

#[test]
fn options_and_extra_fields() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    options.max_output_tokens = Some(100);
    options.reasoning_effort = Some(ReasoningEffort::Low);
    options.parallel_tool_calls = Some(false);
    options.response_schema = Some(("answer".into(), closed.clone()));
    options.extra.insert("temperature".to_owned(), json!(1));
    options.extra.insert("service_tier".to_owned(), json!("flex"));
    let mut payload = payload();
    payload.options = Arc::new(options);
    payload.tool_choice = ToolChoice::Tool("weather".into());
    payload.model = Some("gpt-4.1".into());

    let body = responses(&payload);
    assert_eq!(body["model"], "gpt-4.1");
    assert_eq!(body.get("include"), None, "this model has no reasoning");
    assert_eq!((&body["temperature"], &body["service_tier"]), (&json!(1), &json!("flex")));
    assert_eq!(body["max_output_tokens"], 100);
    assert_eq!(body["reasoning"], json!({"effort": "low"}));
    assert_eq!(body["parallel_tool_calls"], false);
    assert_eq!(body["tool_choice"], json!({"type": "function", "name": "weather"}));
    assert_eq!(
        body["text"],
        json!({"format": {"type": "json_schema", "name": "answer", "schema": closed, "strict": true}})
    );

    let body = chat(&payload);
    assert_eq!((&body["temperature"], &body["service_tier"]), (&json!(1), &json!("flex")));
    assert_eq!((&body["max_completion_tokens"], body.get("max_tokens")), (&json!(100), None));
    assert_eq!(body["reasoning_effort"], "low");
    assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "weather"}}));
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
    let local = OpenAiChatProvider::builder().base_url("http://127.0.0.1:1/v1").build().unwrap();
    let body: Value = serde_json::from_slice(&local.request_body(&payload).unwrap()).unwrap();
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(100), None));
}

#[test]
fn a_request_without_tools_has_no_tool_fields() {
    let mut bare = LlmPayload::new([TranscriptItem::user("Hi")]);
    bare.tool_choice = ToolChoice::Required;
    for body in [responses(&bare), chat(&bare)] {
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    }
}

/// Checks that the bytes before the last user message stay the same. Otherwise, the provider's prompt cache is lost.
#[test]
fn the_body_before_the_last_user_message_is_byte_stable() {
    let with = |last: &str| {
        let mut items = conversation();
        items.pop();
        items.push(TranscriptItem::user(last));
        let mut payload = payload();
        payload.transcript = items.into();
        payload
    };
    let openai = OpenAiProvider::new("k").unwrap();
    let local = OpenAiChatProvider::new("k").unwrap();
    type Encode<'a> = Box<dyn Fn(&LlmPayload) -> Vec<u8> + 'a>;
    let encoders: [Encode<'_>; 2] = [
        Box::new(|payload| openai.request_body(payload).unwrap().to_vec()),
        Box::new(|payload| local.request_body(payload).unwrap().to_vec()),
    ];
    for encode in encoders {
        let (plain, context) = (encode(&with("Hello")), encode(&with("<context>x</context>Hello")));
        let same = plain.iter().zip(&context).take_while(|(a, b)| a == b).count();
        let text = String::from_utf8(plain.clone()).unwrap();
        assert_eq!(same, text.find("Hello").unwrap());
        assert_eq!(plain, encode(&with("Hello")));
    }
}

/// Returns the model's output as entries of the next request.
fn items_of(events: &[LlmEvent]) -> Vec<TranscriptItem> {
    let mut items = Vec::new();
    let mut texts = std::collections::HashMap::<u32, String>::new();
    let mut heads = Vec::new();
    for event in events {
        match event {
            LlmEvent::TextDelta { block, delta } | LlmEvent::ReasoningDelta { block, delta } => {
                texts.entry(*block).or_default().push_str(delta);
            }
            LlmEvent::TextEnd { block, metadata } => {
                let text = texts.remove(block).unwrap_or_default().into();
                items.push(TranscriptItem::Text { text, metadata: metadata.clone() });
            }
            LlmEvent::ReasoningEnd { block, metadata } => {
                let text = texts.remove(block).unwrap_or_default().into();
                items.push(TranscriptItem::Reasoning { text, metadata: metadata.clone() });
            }
            LlmEvent::ToolCallStart { id, name, kind, .. } => heads.push((id.clone(), name.clone(), *kind)),
            LlmEvent::ToolCallEnd { call, arguments, metadata } => {
                let (id, name, kind) = heads[*call as usize].clone();
                let arguments = JsonText::parse(arguments.clone()).unwrap();
                items.push(TranscriptItem::Call(ToolCall {
                    id,
                    name,
                    arguments,
                    kind,
                    metadata: metadata.clone(),
                }));
            }
            _ => {}
        }
    }
    items
}

#[test]
fn sealed_reasoning_and_ids_are_sent_back_unchanged() {
    let events = whole(Api::Responses, &reasoning_and_calls()).events;
    let mut items = vec![TranscriptItem::user("Q")];
    items.extend(items_of(&events));
    let payload = LlmPayload::new(items)
        .with_results([result("call_a", json!(1), false), result("call_b", json!(2), false)]);
    let input = responses(&payload)["input"].clone();
    assert_eq!(
        input.as_array().unwrap()[1..5],
        [
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAA+/sealed==", "summary": [
                {"type": "summary_text", "text": "First thought."},
                {"type": "summary_text", "text": "Second \"thought\"\nwith é and 🦀."},
            ]}),
            json!({"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "commentary",
               "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]}),
            json!({"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "weather", "arguments": "{\"city\":\"Zürich\"}", "status": "completed"}),
            json!({"type": "function_call", "id": "fc_2", "call_id": "call_b", "name": "time", "arguments": "{\"zone\":\"CET\"}", "status": "completed"}),
        ]
    );
    assert_eq!(input[5]["type"], "function_call_output");

    // Without the reasoning, the ids that depend on it are omitted.
    let lost: Vec<_> = payload
        .transcript
        .iter()
        .filter(|item| !matches!(item, TranscriptItem::Reasoning { .. }))
        .cloned()
        .collect();
    let input = responses(&LlmPayload::new(lost))["input"].clone();
    assert!(input.as_array().unwrap().iter().all(|item| item.get("id").is_none()), "{input}");

    let azure = OpenAiProvider::builder()
        .api_key("k")
        .base_url("https://x.openai.azure.com/openai/v1")
        .build()
        .unwrap();
    let body = String::from_utf8(azure.request_body(&payload).unwrap().to_vec()).unwrap();
    assert!(body.contains("gAAAA+/sealed==") && !body.contains("rs_1") && !body.contains("msg_1"));
}
