//! Tests of request bodies and of the provider state in them.

use std::sync::Arc;

use omniassist_server::AnthropicProvider;
use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_server::core::{
    JsonText, LlmEvent, LlmPayload, ModelOptions, ReasoningEffort, ToolChoice, ToolSpec, TranscriptItem,
};
use serde_json::{Value, json};

use super::streams::{REDACTED, SIGNATURE, thinking_and_calls};
use super::whole;

fn call(id: &str, arguments: &str, kind: CallKind) -> TranscriptItem {
    let arguments = JsonText::parse(arguments).unwrap();
    TranscriptItem::Call(ToolCall { id: id.into(), name: "weather".into(), arguments, kind, metadata: None })
}

fn result(id: &str, output: Value, is_error: bool) -> TranscriptItem {
    TranscriptItem::Result(ToolResult { call_id: id.into(), output: JsonText::from_value(&output), is_error })
}

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn thought(text: &str, field: &str, value: &str) -> TranscriptItem {
    let metadata = serde_json::from_value(json!({"anthropic": {field: value}})).unwrap();
    TranscriptItem::Reasoning { text: text.into(), metadata }
}

fn file(media_type: &str, url: &str, filename: Option<&str>) -> UserContent {
    let (media_type, url) = (media_type.into(), url.into());
    UserContent::File { media_type, url, filename: filename.map(Into::into) }
}

fn provider(model: &str) -> AnthropicProvider {
    AnthropicProvider::builder().api_key("k").model(model).build().unwrap()
}

fn body(payload: &LlmPayload, model: &str) -> Value {
    serde_json::from_slice(&provider(model).request_body(payload).unwrap()).unwrap()
}

fn payload(transcript: Vec<TranscriptItem>) -> LlmPayload {
    LlmPayload::new(transcript)
}

fn with(options: ModelOptions) -> LlmPayload {
    let mut payload = payload(vec![TranscriptItem::user("Hi")]);
    payload.options = Arc::new(options);
    payload
}

fn conversation() -> Vec<TranscriptItem> {
    vec![
        TranscriptItem::user("Weather in Bern?"),
        TranscriptItem::Reasoning { text: "foreign".into(), metadata: None },
        thought("mine", "signature", SIGNATURE),
        said("Let me look."),
        call("call:a", "{\"city\": \"Bern\"}", CallKind::Function),
        call("call.a", "\"free text\"", CallKind::Custom),
        result("call:a", json!({"t": 21}), false),
        result("call.a", json!("no such city"), true),
        said("21 °C."),
        said("  \n"),
        TranscriptItem::User {
            content: vec![
                UserContent::Text { text: "And these?".into() },
                UserContent::Text { text: "".into() },
                file("image/jpg", "data:image/jpg;base64,QUJD", None),
                file("image/png", "https://example.com/a.png", None),
                file("application/pdf", "data:application/pdf;base64,QUJD", Some("a.pdf")),
                file("application/pdf", "https://example.com/b.pdf", None),
                file("text/plain", "data:text/plain;base64,R3LDvMOfZQ==", Some("a.txt")),
                file("audio/mpeg", "data:audio/mpeg;base64,QUJD", Some("a.mp3")),
            ],
        },
        TranscriptItem::user("Hm?"),
    ]
}

#[test]
fn a_whole_body() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = [
        Arc::new(ToolSpec::new("weather", "Looks out of the window", schema.clone())),
        Arc::new(ToolSpec::new("time", "Looks at the clock", json!({}))),
    ];
    let mut options = ModelOptions::default();
    options.temperature = Some(0.5);
    options.top_p = Some(0.9);
    options.parallel_tool_calls = Some(false);
    options.extra.insert("metadata".to_owned(), json!({"user_id": "u1"}));
    let mut payload = payload(conversation());
    payload.system = Some("Be brief.".into());
    payload.tools = tools.into();
    payload.options = Arc::new(options);
    let bytes = provider("claude-sonnet-4-6").request_body(&payload).unwrap();
    assert_eq!(bytes, provider("claude-sonnet-4-6").request_body(&payload).unwrap());
    let marker = json!({"type": "ephemeral"});
    assert_eq!(
        serde_json::from_slice::<Value>(&bytes).unwrap(),
        json!({
            "model": "claude-sonnet-4-6",
            "max_tokens": 16_000,
            "stream": true,
            "temperature": 0.5,
            "tools": [
                {"name": "weather", "description": "Looks out of the window", "input_schema": schema},
                {"name": "time", "description": "Looks at the clock", "input_schema": {"type": "object"},
                 "cache_control": marker},
            ],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
            "system": [{"type": "text", "text": "Be brief.", "cache_control": marker}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Weather in Bern?"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "mine", "signature": SIGNATURE},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "call_call_a", "name": "weather", "input": {"city": "Bern"}},
                    {"type": "tool_use", "id": "call_call_a_", "name": "weather", "input": {"input": "free text"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_call_a", "content": "{\"t\":21}"},
                    {"type": "tool_result", "tool_use_id": "call_call_a_", "content": "no such city", "is_error": true},
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "21 °C.", "cache_control": marker}]},
                {"role": "user", "content": [
                    {"type": "text", "text": "And these?"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "QUJD"}},
                    {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                    {"type": "document", "title": "a.pdf",
                     "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}},
                    {"type": "document", "source": {"type": "url", "url": "https://example.com/b.pdf"}},
                    {"type": "document", "title": "a.txt",
                     "source": {"type": "text", "media_type": "text/plain", "data": "Grüße"}},
                    {"type": "text", "text": "[The attached file \"a.mp3\" (audio/mpeg) cannot be shown.]"},
                    {"type": "text", "text": "Hm?"},
                ]},
            ],
            "metadata": {"user_id": "u1"},
        })
    );
    // The body contains the arguments as the model wrote them.
    assert!(String::from_utf8_lossy(&bytes).contains(r#""input":{"city": "Bern"}"#));
}

#[test]
fn signatures_and_redacted_thinking_are_sent_back_unchanged() {
    let mut transcript = vec![TranscriptItem::user("Weather?")];
    let mut shown = String::new();
    for event in whole(&thinking_and_calls()).events {
        match event {
            LlmEvent::ReasoningDelta { delta, .. } => shown.push_str(&delta),
            LlmEvent::ReasoningEnd { metadata, .. } => {
                let text = std::mem::take(&mut shown).into();
                transcript.push(TranscriptItem::Reasoning { text, metadata });
            }
            LlmEvent::ToolCallStart { id, .. } => transcript.push(call(&id, "{}", CallKind::Function)),
            _ => {}
        }
    }
    transcript.extend([result("toolu_a", json!(1), false), result("toolu_b", json!(""), false)]);
    let body = body(&payload(transcript), "claude-opus-4-5");
    assert_eq!(
        body["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "First \"thought\"\nwith é and 🦀.", "signature": SIGNATURE},
            {"type": "redacted_thinking", "data": REDACTED},
            {"type": "tool_use", "id": "toolu_a", "name": "weather", "input": {}},
            {"type": "tool_use", "id": "toolu_b", "name": "weather", "input": {}},
        ])
    );
    // After a tool call, the last result has a cache marker too. An empty result has no content.
    assert_eq!(
        body["messages"][2]["content"][1],
        json!({"type": "tool_result", "tool_use_id": "toolu_b", "cache_control": {"type": "ephemeral"}})
    );
}

/// Checks that roles alternate from a message of the user and that each message has content. It also checks that
/// results directly follow their calls.
#[test]
fn odd_conversations_become_valid_requests() {
    let cut = || thought("cut off here", "signature", "s");
    for (transcript, model, expected) in [
        (vec![], "claude-sonnet-4-6", json!([["user", "(The conversation begins.)"]])),
        (
            vec![said("Welcome!"), TranscriptItem::user("Hi")],
            "claude-sonnet-4-6",
            json!([["user", "(The conversation begins.)"], ["assistant", "Welcome!"], ["user", "Hi"]]),
        ),
        (
            vec![TranscriptItem::user("Hi"), cut(), TranscriptItem::user("Well?")],
            "claude-sonnet-4-6",
            json!([["user", "Hi", "Well?"]]),
        ),
        (
            vec![TranscriptItem::user("Count"), said("1, 2, ")],
            "claude-sonnet-4-5",
            json!([["user", "Count"], ["assistant", "1, 2,"]]),
        ),
        (
            vec![TranscriptItem::user("Count"), said("1, 2, ")],
            "claude-sonnet-4-6",
            json!([["user", "Count"], ["assistant", "1, 2, "], ["user", "(Go on.)"]]),
        ),
    ] {
        let body = body(&payload(transcript), model);
        let found: Value = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| {
                let texts = message["content"].as_array().unwrap().iter().map(|block| block["text"].clone());
                std::iter::once(message["role"].clone()).chain(texts).collect::<Value>()
            })
            .collect();
        assert_eq!(found, expected, "{model}");
    }
}

#[test]
fn reasoning_effort_becomes_thinking() {
    let ask = |effort: ReasoningEffort, tokens: Option<u32>, model: &str| {
        let mut options = ModelOptions::default();
        options.reasoning_effort = Some(effort);
        options.max_output_tokens = tokens;
        options.temperature = Some(0.2);
        let body = body(&with(options), model);
        (
            body["thinking"].clone(),
            body["output_config"]["effort"].clone(),
            body["max_tokens"].clone(),
            body["temperature"].clone(),
        )
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    let (new, old) = ("claude-opus-4-7", "claude-sonnet-4-5");
    assert_eq!(
        ask(ReasoningEffort::Minimal, None, new),
        (adaptive.clone(), json!("low"), json!(16_000), Value::Null)
    );
    let max = ReasoningEffort::Other("max".into());
    assert_eq!(ask(max, Some(900), new), (adaptive, json!("max"), json!(900), Value::Null));
    assert_eq!(
        ask(ReasoningEffort::High, None, old),
        (budget(16_000), Value::Null, json!(32_000), Value::Null)
    );
    assert_eq!(
        ask(ReasoningEffort::Medium, Some(4_000), old),
        (budget(3_000), Value::Null, json!(4_000), Value::Null)
    );
    // The token limit is too low for the smallest budget.
    assert_eq!(
        ask(ReasoningEffort::Low, Some(1_024), old),
        (Value::Null, Value::Null, json!(1_024), json!(0.2))
    );
    let none = || ReasoningEffort::Other("none".into());
    let disabled = json!({"type": "disabled"});
    assert_eq!(ask(none(), None, old), (disabled.clone(), Value::Null, json!(16_000), json!(0.2)));
    assert_eq!(ask(none(), None, new), (disabled, Value::Null, json!(16_000), Value::Null));
}

#[test]
fn thinking_is_omitted_if_the_api_would_refuse_it() {
    let mut options = ModelOptions::default();
    options.reasoning_effort = Some(ReasoningEffort::Low);
    let options = Arc::new(options);
    let tools: Arc<[Arc<ToolSpec>]> = [Arc::new(ToolSpec::new("weather", "", json!({})))].into();
    for (model, effort) in [("claude-sonnet-4-5", Value::Null), ("claude-sonnet-4-6", json!("low"))] {
        let mut forced = payload(vec![TranscriptItem::user("Hi")]);
        forced.tools = tools.clone();
        forced.tool_choice = ToolChoice::Required;
        forced.options = options.clone();
        let body = body(&forced, model);
        assert_eq!((&body["thinking"], &body["output_config"]["effort"]), (&Value::Null, &effort));
        assert_eq!(body["tool_choice"], json!({"type": "any"}));
    }
    // A turn that began without thinking continues without it. A new turn can use thinking again.
    let mut turn =
        vec![TranscriptItem::user("Hi"), call("a", "{}", CallKind::Function), result("a", json!(1), false)];
    let thinking = |turn: &[TranscriptItem]| {
        let mut payload = LlmPayload::new(turn);
        payload.options = options.clone();
        body(&payload, "claude-opus-4-1")["thinking"]["type"].clone()
    };
    assert_eq!(thinking(&turn), Value::Null);
    turn.push(TranscriptItem::user("And now?"));
    assert_eq!(thinking(&turn), "enabled");
    turn.extend([thought("", "redactedData", "x"), call("b", "{}", CallKind::Function)]);
    turn.push(result("b", json!(1), false));
    assert_eq!(thinking(&turn), "enabled");
}

#[test]
fn choices_schemas_and_extra_fields() {
    let tools: Arc<[Arc<ToolSpec>]> = [Arc::new(ToolSpec::new("weather", "", json!({})))].into();
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"type": "none"})),
        (ToolChoice::Tool("weather".into()), json!({"type": "tool", "name": "weather"})),
    ] {
        let mut payload = payload(vec![]);
        payload.tools = tools.clone();
        payload.tool_choice = choice;
        assert_eq!(body(&payload, "claude-sonnet-4-6")["tool_choice"], expected);
    }
    let mut options = ModelOptions::default();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}});
    options.response_schema = Some(("answer".into(), schema));
    options.extra.insert("max_tokens".to_owned(), json!(7));
    let body = body(&with(options), "claude-sonnet-4-6");
    let closed =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false});
    assert_eq!(body["output_config"], json!({"format": {"type": "json_schema", "schema": closed}}));
    assert_eq!(body["max_tokens"], 7);
    assert!(body.get("tools").is_none() && body.get("system").is_none());
}

/// Checks that a longer conversation begins with the bytes of the shorter one, except for the cache markers.
#[test]
fn the_body_before_the_last_user_message_is_byte_stable() {
    let mut short = conversation();
    short.push(said("No."));
    let mut long = short.clone();
    short.push(TranscriptItem::user("context of the one\nWhy?"));
    long.push(TranscriptItem::user("context of the other\nWhy not?"));
    let marked = |transcript: &[TranscriptItem]| {
        let body = provider("claude-sonnet-4-6").request_body(&LlmPayload::new(transcript)).unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    };
    let (one, other) = (marked(&short), marked(&long));
    let at = one.find("context of").unwrap();
    assert_eq!(one.as_bytes()[..at], other.as_bytes()[..at]);
    assert_eq!(one.matches("cache_control").count(), 1);

    long.extend([said("Because."), TranscriptItem::user("I see.")]);
    let plain = |text: &str| text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    let longer = plain(&marked(&long));
    let end = plain(&other);
    assert!(longer.starts_with(end.strip_suffix("]}").unwrap()));
    let uncached = AnthropicProvider::builder().api_key("k").prompt_caching(false).build().unwrap();
    let body = uncached.request_body(&LlmPayload::new(long)).unwrap();
    assert!(!String::from_utf8_lossy(&body).contains("cache_control"));
}

/// The API has refused conversations with calls that declare no tools.
#[test]
fn tools_of_earlier_calls_are_declared_if_no_tool_is_offered() {
    let earlier = [call("call_1", "{}", CallKind::Function), result("call_1", json!("Sun"), false)];
    let mut conversation = vec![TranscriptItem::user("Weather?")];
    conversation.extend(earlier.clone());
    conversation.push(call("call_2", "{}", CallKind::Function));
    conversation.push(result("call_2", json!("Sun"), false));
    let sent = body(&payload(conversation.clone()), "claude-test");
    assert_eq!(sent["tools"], json!([{"name": "weather", "input_schema": {"type": "object"}}]));
    assert_eq!(sent["tool_choice"], json!({"type": "none"}));

    let without_calls = body(&payload(vec![TranscriptItem::user("Hi")]), "claude-test");
    assert_eq!((without_calls.get("tools"), without_calls.get("tool_choice")), (None, None));
}

/// A model may call a tool that does not exist, by a name for which the API refuses each later request.
#[test]
fn an_invented_name_is_sent_in_a_form_that_is_accepted() {
    let mut invented = call("call_1", "{}", CallKind::Function);
    if let TranscriptItem::Call(call) = &mut invented {
        call.name = "find order.x".into();
    }
    let conversation = vec![TranscriptItem::user("Q"), invented, result("call_1", json!("none"), true)];
    let sent = body(&payload(conversation), "claude-test");
    let name = sent["messages"][1]["content"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("find_order_x_") && name.len() == 19, "{name}");
    assert_eq!(sent["tools"][0]["name"], name);
}

#[test]
fn the_result_of_a_call_that_failed_is_never_empty() {
    for text in ["", " \n"] {
        let transcript = vec![
            TranscriptItem::user("Hi"),
            call("a", "{}", CallKind::Function),
            call("b", "{}", CallKind::Function),
            result("a", json!(text), true),
            result("b", json!(""), false),
        ];
        assert_eq!(
            body(&payload(transcript), "claude-sonnet-4-6")["messages"][2]["content"],
            json!([
                {"type": "tool_result", "tool_use_id": "a", "content": "The call failed.", "is_error": true},
                {"type": "tool_result", "tool_use_id": "b", "cache_control": {"type": "ephemeral"}},
            ]),
            "{text:?}"
        );
    }
}

#[test]
fn the_title_of_a_document_has_1_to_500_characters() {
    let long = "ü".repeat(501);
    for (name, title) in [("", None), ("a.pdf", Some("a.pdf")), (&long, long.get(..1_000))] {
        let content = vec![file("application/pdf", "data:application/pdf;base64,QUJD", Some(name))];
        let body = body(&payload(vec![TranscriptItem::User { content }]), "claude-sonnet-4-6");
        assert_eq!(body["messages"][0]["content"][0].get("title"), title.map(Value::from).as_ref(), "{name}");
    }
}
