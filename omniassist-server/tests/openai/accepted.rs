//! Tests of requests that the servers would refuse without a change: each of them would make a chat unusable.

use std::sync::Arc;

use omniassist_server::core::event::CallKind;
use omniassist_server::core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_server::core::{
    JsonText, LlmPayload, ModelOptions, ReasoningEffort, TranscriptItem, check_tool_name,
};
use omniassist_server::provider::openai::Vendor;
use omniassist_server::{OpenAiChatProvider, OpenAiProvider};
use serde_json::{Value, json};

fn said(text: &str) -> TranscriptItem {
    TranscriptItem::Text { text: text.into(), metadata: None }
}

fn call(id: &str, name: &str) -> TranscriptItem {
    TranscriptItem::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: JsonText::EMPTY_OBJECT,
        kind: CallKind::Function,
        metadata: None,
    })
}

fn result(id: &str) -> TranscriptItem {
    let output = JsonText::from_value(&json!(21));
    TranscriptItem::Result(ToolResult { call_id: id.into(), output, is_error: false })
}

fn file(media_type: &str, data: &str) -> UserContent {
    let url = format!("data:{media_type};base64,{data}").into();
    UserContent::File { media_type: media_type.into(), url, filename: Some("a".into()) }
}

fn chat(vendor: Vendor, model: &str, payload: &LlmPayload) -> Value {
    let provider = OpenAiChatProvider::builder().vendor(vendor).api_key("k").model(model).build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

fn responses(model: &str, payload: &LlmPayload) -> Value {
    let provider = OpenAiProvider::builder().api_key("k").model(model).build().unwrap();
    serde_json::from_slice(&provider.request_body(payload).unwrap()).unwrap()
}

/// Returns the role and the content of each message.
fn messages(vendor: Vendor, model: &str, transcript: Vec<TranscriptItem>) -> Vec<(String, Value)> {
    let body = chat(vendor, model, &LlmPayload::new(transcript));
    let messages = body["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| (message["role"].as_str().unwrap().to_owned(), message["content"].clone()))
        .collect()
}

#[test]
fn a_user_never_follows_a_result_of_a_tool_of_mistral() {
    let conversation = || {
        vec![
            TranscriptItem::user("Bern?"),
            call("a", "weather"),
            result("a"),
            TranscriptItem::user("Well?"),
            TranscriptItem::user("Hello?"),
        ]
    };
    for (vendor, model, answers) in [
        (Vendor::MISTRAL, "m", true),
        (Vendor::VLLM, "mistralai/Devstral-Small-2507", true),
        (Vendor::OPENROUTER, "mistralai/Mistral-Nemo", true),
        (Vendor::OPENAI, "gpt-test", false),
    ] {
        let found = messages(vendor, model, conversation());
        let roles: Vec<_> = found.iter().map(|(role, _)| role.as_str()).collect();
        let expected: &[&str] = match answers {
            true => &["user", "assistant", "tool", "assistant", "user"],
            false => &["user", "assistant", "tool", "user"],
        };
        assert_eq!(roles, expected, "{model}");
        assert_eq!(found.last().unwrap().1, "Well?\n\nHello?");
    }
    let answered = vec![
        TranscriptItem::user("Bern?"),
        call("a", "weather"),
        result("a"),
        said("21"),
        TranscriptItem::user("Ok"),
    ];
    assert_eq!(messages(Vendor::MISTRAL, "m", answered).len(), 5, "an answer needs no other one");
}

#[test]
fn roles_alternate_and_the_user_is_first() {
    let picture = TranscriptItem::User {
        content: vec![UserContent::Text { text: "This:".into() }, file("image/png", "QUJD")],
    };
    let lost = TranscriptItem::Reasoning { text: "Hm.".into(), metadata: None };
    let found = messages(
        Vendor::VLLM,
        "m",
        vec![
            said("Welcome!"),
            TranscriptItem::user("A"),
            lost,
            TranscriptItem::user("B"),
            said("C"),
            TranscriptItem::user("D"),
            picture,
        ],
    );
    let expected = [
        ("user", json!("(The conversation begins.)")),
        ("assistant", json!("Welcome!")),
        ("user", json!("A\n\nB")),
        ("assistant", json!("C")),
        (
            "user",
            json!([
                {"type": "text", "text": "D"},
                {"type": "text", "text": "This:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            ]),
        ),
    ];
    assert_eq!(found, expected.map(|(role, content)| (role.to_owned(), content)));
}

#[test]
fn an_invented_name_is_sent_in_a_form_that_is_accepted() {
    let names = ["multi_tool_use.parallel", "find order.x", "", "1st", &"é".repeat(80), &"x".repeat(65)];
    let mut sent = Vec::new();
    for name in names {
        let payload = LlmPayload::new([TranscriptItem::user("Q"), call("a", name), result("a")]);
        let chat = chat(Vendor::OPENAI, "gpt-test", &payload);
        let found = &chat["messages"][1]["tool_calls"][0]["function"]["name"];
        assert_eq!(responses("gpt-test", &payload)["input"][1]["name"], *found);
        let found = found.as_str().unwrap().to_owned();
        assert!(check_tool_name(&found).is_ok() && !found.starts_with('1'), "{name}: {found}");
        assert!(!sent.contains(&found), "{found}");
        sent.push(found);
    }
    assert_eq!(sent[0].strip_prefix("multi_tool_use_parallel_").map(str::len), Some(6));
}

#[test]
fn ids_of_calls_have_at_most_64_characters_in_responses() {
    let (long, fits) = ("x".repeat(65), "y".repeat(64));
    let items = [TranscriptItem::user("Q"), call(&long, "t"), call(&fits, "t"), result(&long), result(&fits)];
    let input = responses("gpt-test", &LlmPayload::new(items))["input"].clone();
    let id = |at: usize| input[at]["call_id"].as_str().unwrap().to_owned();
    assert_eq!((id(2), id(4)), (fits.clone(), fits));
    assert!(id(1).len() <= 64 && id(1) == id(3), "{input}");
}

#[test]
fn files_of_other_types_become_text() {
    let content = vec![
        file("image/jpg", "QUJD"),
        file("image/heic", "QUJD"),
        file("image/svg+xml", "QUJD"),
        file("application/zip", "QUJD"),
        file("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "QUJD"),
        file("text/csv", "QUJD"),
        file("application/pdf", "QUJD"),
    ];
    let payload = LlmPayload::new([TranscriptItem::User { content }]);
    let note = |kind: &str| format!("[The attached file \"a\" ({kind}) cannot be shown.]");
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let quoted = "[The attached file \"a\" (text/csv):]\nABC";
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        chat(Vendor::OPENAI, "gpt-test", &payload)["messages"][0]["content"],
        json!([
            {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QUJD"}},
            text(&note("image/heic")),
            text(&note("image/svg+xml")),
            text(&note("application/zip")),
            text(&note(word)),
            text(quoted),
            {"type": "file", "file": {"filename": "a", "file_data": "data:application/pdf;base64,QUJD"}},
        ])
    );
    let text = |text: &str| json!({"type": "input_text", "text": text});
    assert_eq!(
        responses("gpt-test", &payload)["input"][0]["content"],
        json!([
            {"type": "input_image", "image_url": "data:image/jpeg;base64,QUJD", "detail": "auto"},
            text(&note("image/heic")),
            text(&note("image/svg+xml")),
            text(&note("application/zip")),
            {"type": "input_file", "filename": "a", "file_data": format!("data:{word};base64,QUJD")},
            text(quoted),
            {"type": "input_file", "filename": "a", "file_data": "data:application/pdf;base64,QUJD"},
        ])
    );
}

#[test]
fn reasoning_models_get_no_sampling_parameters() {
    for (model, effort, sent) in [
        ("gpt-5-mini", None, false),
        ("gpt-5", Some("none"), false),
        ("openai/o3", None, false),
        ("o4-mini-2025-04-16", Some("low"), false),
        ("gpt-5.1", Some("low"), false),
        ("gpt-5.1", Some("none"), true),
        ("gpt-5-chat-latest", None, true),
        ("gpt-4.1", None, true),
        ("gpt-oss-20b", Some("low"), true),
        ("my-deployment", None, true),
    ] {
        let mut options = ModelOptions::default();
        (options.temperature, options.top_p) = (Some(0.5), Some(0.9));
        options.reasoning_effort = effort.map(|word| ReasoningEffort::Other(word.into()));
        let mut payload = LlmPayload::new([TranscriptItem::user("Hi")]);
        payload.options = Arc::new(options);
        for body in [responses(model, &payload), chat(Vendor::OPENAI, model, &payload)] {
            let found = (body.get("temperature").is_some(), body.get("top_p").is_some());
            assert_eq!(found, (sent, sent), "{model} {effort:?}");
        }
    }
}
