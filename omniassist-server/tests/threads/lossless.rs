//! Stored messages are the posted ones, whatever they contain.

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::AssistantBuilder;
use omniassist_server::core::dialect::ag_ui;
use omniassist_server::core::message::{
    Approval, DataPart, Decision, FilePart, Message, Part, ProviderMetadata, ReasoningPart, Role, TextPart,
    ToolPart, ToolState, read,
};
use omniassist_server::core::{JsonText, Limits, Text};
use omniassist_server::http::AssistantService;
use omniassist_server::store::Window;
use omniassist_server::testing::{ScriptedProvider, text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Site;

// The strategies are boxed: the frames of an unoptimized build would not fit the stack of a test.

/// Texts with all kinds of characters, and those that databases and escapes treat in a special way.
fn texts() -> BoxedStrategy<Text> {
    let special = prop_oneof![
        Just("\0"),
        Just("a\0b"),
        Just("\u{2028}\u{feff}\u{fffd}"),
        Just("\"\\\n\r\u{7f}"),
        Just("🙂👩‍👩‍👧é\u{301}")
    ];
    prop_oneof![any::<String>().prop_map(Text::from), special.prop_map(Text::from)].boxed()
}

/// JSON of tools, with numbers that no double has.
fn values() -> BoxedStrategy<JsonText> {
    let number = prop_oneof![
        Just("123456789012345678901234567890"),
        Just("-9007199254740993"),
        Just("18446744073709551616"),
        Just("0.10000000000000000000000001"),
        Just("1e400"),
        Just("-0.0"),
    ];
    let leaf = prop_oneof![
        number.prop_map(str::to_owned),
        texts().prop_map(|text| serde_json::to_string(text.as_str()).unwrap()),
        Just(r#""\u0000\ud83d\ude42""#.to_owned()),
        Just("null".to_owned()),
    ];
    let field = (texts(), leaf).prop_map(|(name, value)| {
        format!(r#"{{{}:{value},"list":[{value}]}}"#, serde_json::to_string(name.as_str()).unwrap())
    });
    field.prop_map(|json| JsonText::parse(json).unwrap()).boxed()
}

fn metadata() -> BoxedStrategy<Option<ProviderMetadata>> {
    proptest::option::of((prop_oneof![Just("openai"), Just("x")], texts()).prop_map(|(provider, text)| {
        let state = json!({"itemId": text.as_str(), "n": u64::MAX, "nested": {"a": [null, "\0"]}});
        ProviderMetadata::of(provider, state.as_object().cloned().unwrap())
    }))
    .boxed()
}

fn files() -> BoxedStrategy<Part> {
    (proptest::option::of(texts()), metadata())
        .prop_map(|(filename, metadata)| {
            let url = "data:text/plain;base64,aGVsbG8=".into();
            Part::File(FilePart { media_type: "text/plain".into(), url, filename, metadata })
        })
        .boxed()
}

fn states() -> BoxedStrategy<ToolState> {
    let output = (values(), values()).prop_map(|(input, output)| ToolState::OutputAvailable {
        input,
        output,
        preliminary: false,
    });
    let error = (values(), texts())
        .prop_map(|(input, error_text)| ToolState::OutputError { input: Some(input), error_text });
    let denied = (values(), texts()).prop_map(|(input, reason)| {
        let decision = Decision { approved: false, reason: Some(reason) };
        ToolState::OutputDenied { input, approval: Approval::new("a").decided(decision) }
    });
    prop_oneof![output, error, denied].boxed()
}

fn parts() -> BoxedStrategy<Part> {
    prop_oneof![
        (texts(), metadata()).prop_map(|(text, metadata)| Part::Text(TextPart { text, metadata })),
        (texts(), metadata()).prop_map(|(text, metadata)| Part::Reasoning(ReasoningPart { text, metadata })),
        files(),
        (states(), metadata(), any::<bool>()).prop_map(|(state, metadata, dynamic)| {
            // The ids are set afterwards.
            let (call_id, name) = (Text::new(), "look".into());
            Part::Tool(ToolPart { call_id, name, dynamic, provider_executed: false, state, metadata })
        }),
        values().prop_map(|data| Part::Data(DataPart { name: "chart".into(), id: Some("d".into()), data })),
        Just(Part::StepStart),
    ]
    .boxed()
}

/// Turns of a question and an answer, and a last question.
fn conversations() -> impl Strategy<Value = Vec<Message>> {
    vec((texts(), vec(parts(), 1..6)), 1..4).prop_map(|turns| {
        let mut messages = Vec::new();
        for (turn, (question, mut parts)) in turns.into_iter().enumerate() {
            for (at, part) in parts.iter_mut().enumerate() {
                if let Part::Tool(part) = part {
                    part.call_id = format!("call-{turn}-{at}").into();
                }
            }
            messages.push(Message::user(format!("u{turn}"), format!("?{question}")));
            let id = format!("a{turn}").into();
            messages.push(Message { id, role: Role::Assistant, parts, metadata: None });
        }
        messages.push(Message::user("last", "And now?"));
        messages
    })
}

/// Posts a conversation that the store does not know. Returns what the application loads, a page gets, and an export has.
fn kept(path: &'static str, body: String) -> [Vec<Message>; 3] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(post(path, body))
}

async fn post(path: &str, body: String) -> [Vec<Message>; 3] {
    let model = ScriptedProvider::new().otherwise(|_| text("Yes."));
    let site = Site::with(model, AssistantBuilder::trust_client_history);
    let mut request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(site.user.clone());
    let request = request.body(Full::<Bytes>::from(body)).unwrap();
    let response = AssistantService::new(site.assistant.clone()).handle(request).await;
    let status = response.status();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, StatusCode::OK, "{answer:?}");
    let conversations = site.assistant.conversations().unwrap();
    let loaded = conversations.load(&site.user, "c", &Window::default()).await.unwrap().unwrap();
    let loaded = loaded.messages.into_iter().map(|loaded| loaded.message).collect();
    let line = conversations.export(&site.user).next().await.unwrap().unwrap();
    let page = site.get("/threads/c/messages").await;
    assert_eq!(page.status, StatusCode::OK, "{page:?}");
    [loaded, messages_of(&page.body), messages_of(&line)]
}

/// Reads the messages of a page or of a line of an export.
fn messages_of(line: &str) -> Vec<Message> {
    #[derive(serde::Deserialize)]
    struct Line {
        messages: Box<RawValue>,
    }
    let line: Line = serde_json::from_str(line).unwrap();
    let messages = Text::from(line.messages.get().to_owned());
    read::messages(&messages, &Limits::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_of_ai_sdk_clients_are_kept(messages in conversations()) {
        let body = format!(r#"{{"id":"c","messages":{}}}"#, serde_json::to_string(&messages).unwrap());
        let [loaded, page, exported] = kept("/", body);
        prop_assert_eq!(&loaded[..messages.len()], &messages[..]);
        prop_assert_eq!(&page, &loaded);
        prop_assert_eq!(exported, loaded);
    }

    #[test]
    fn messages_of_ag_ui_clients_are_kept(
        turns in vec((texts(), texts(), values(), values()), 1..4),
    ) {
        let mut messages: Vec<Value> = Vec::new();
        for (turn, (question, said, input, output)) in turns.iter().enumerate() {
            let call = json!({
                "id": format!("call-{turn}"), "type": "function",
                "function": {"name": "look", "arguments": input.as_str()},
            });
            messages.push(json!({"id": format!("u{turn}"), "role": "user", "content": format!("?{question}")}));
            messages.push(json!({"id": format!("a{turn}"), "role": "assistant", "content": said.as_str(), "toolCalls": [call]}));
            messages.push(json!({
                "id": format!("t{turn}"), "role": "tool", "toolCallId": format!("call-{turn}"), "content": output.as_str(),
            }));
        }
        messages.push(json!({"id": "last", "role": "user", "content": "And now?"}));
        let body = json!({
            "threadId": "c", "runId": "r", "state": {}, "messages": messages, "tools": [], "context": [],
            "forwardedProps": {},
        });
        let body = body.to_string();
        let posted = ag_ui::read_request(Bytes::from(body.clone()), &Limits::default()).unwrap();
        let posted = posted.request.messages;
        let [loaded, page, exported] = kept("/ag-ui", body);
        prop_assert_eq!(&loaded[..posted.len()], &posted[..]);
        prop_assert_eq!(&page, &loaded);
        prop_assert_eq!(exported, loaded);
    }
}
