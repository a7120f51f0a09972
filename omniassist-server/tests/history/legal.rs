//! Tests that each window is a valid request for all four APIs.

use std::sync::Arc;

use omniassist_server::core::event::CallKind;
use omniassist_server::core::history::{TokenRate, Window, estimate};
use omniassist_server::core::message::{
    Approval, Decision, FilePart, Message, Part, ProviderMetadata, ReasoningPart, Role, TextPart, ToolPart,
    ToolState,
};
use omniassist_server::core::{JsonText, LlmPayload, Text, ToolSpec};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::recorded::apis::APIS;

fn state(provider: &str, state: &Value) -> Option<ProviderMetadata> {
    Some(ProviderMetadata::of(provider, state.as_object().cloned().unwrap_or_default()))
}

/// Returns a part of an assistant's message. `number` makes its ids unique.
fn said(kind: u8, number: usize, length: usize) -> Part {
    let words = Text::from("word ".repeat(length % 60 + 1));
    let tool = |state: ToolState| {
        Part::Tool(ToolPart {
            call_id: format!("call-{number}").into(),
            name: "look".into(),
            dynamic: false,
            provider_executed: kind == 9,
            state,
            metadata: None,
        })
    };
    let input = JsonText::parse(r#"{"id":7}"#).unwrap();
    let approval = Approval::new("a").decided(Decision { approved: false, reason: None });
    let output = JsonText::from_str_value(&words);
    match kind {
        0 => Part::StepStart,
        1 => Part::Reasoning(ReasoningPart {
            text: words,
            metadata: state(
                "openai",
                &json!({"itemId": format!("rs_{number}"), "reasoningEncryptedContent": "sealed"}),
            ),
        }),
        2 => Part::Reasoning(ReasoningPart {
            text: words,
            metadata: state("anthropic", &json!({"signature": "sealed"})),
        }),
        3 => Part::Reasoning(ReasoningPart { text: words, metadata: None }),
        4 => tool(ToolState::InputAvailable { input }),
        5 => tool(ToolState::OutputError { input: None, error_text: words }),
        6 => tool(ToolState::OutputDenied { input, approval }),
        7 => tool(ToolState::InputStreaming),
        8 | 9 => tool(ToolState::OutputAvailable { input, output, preliminary: false }),
        _ => Part::Text(TextPart { text: words, metadata: None }),
    }
}

fn file(kind: u8) -> Part {
    let (media_type, url) = match kind {
        0 => ("image/png", "data:image/png;base64,iVBORw0KGgo="),
        1 => ("application/pdf", "https://files.example.com/a.pdf"),
        _ => ("text/plain", "data:text/plain;base64,aGVsbG8="),
    };
    Part::File(FilePart { media_type: media_type.into(), url: url.into(), filename: None, metadata: None })
}

/// The choices for a random message: its role, its parts by kind and length, and a file.
type Draw = (u8, Vec<(u8, usize)>, Option<u8>);

fn conversations() -> impl Strategy<Value = Vec<Message>> {
    let parts = vec((0u8..13, 0usize..100), 0..7);
    let files = proptest::option::weighted(0.1, 0u8..3);
    vec((0u8..5, parts, files), 1..30).prop_map(|turns| {
        let mut number = 0;
        let message = |(at, (role, parts, with)): (usize, Draw)| {
            let role = match role {
                0 | 1 => Role::User,
                2 => Role::System,
                _ => Role::Assistant,
            };
            let parts = match role {
                Role::Assistant => parts
                    .into_iter()
                    .map(|(kind, length)| {
                        number += 1;
                        said(kind, number, length)
                    })
                    .collect(),
                _ => with
                    .map(file)
                    .into_iter()
                    .chain(parts.into_iter().map(|(_, length)| said(12, 0, length)))
                    .collect(),
            };
            Message { id: format!("m{at}").into(), role, parts, metadata: None }
        };
        let mut messages: Vec<_> = turns.into_iter().enumerate().map(message).collect();
        messages.push(Message::user("last", "And now?"));
        messages
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_window_is_a_legal_request(
        messages in conversations(),
        budget in 1u64..1_500,
        pins in any::<u64>(),
        summarised in any::<bool>(),
    ) {
        let is_pinned = move |message: &Message| {
            pins % 3 == 0 && message.id[1..].parse::<u32>().is_ok_and(|at| pins >> (at % 64) & 1 == 1)
        };
        let reserve = if summarised { 64 } else { 0 };
        let window = Window::fit(budget).pin(is_pinned).reserve(reserve);
        let mut view = window.view(&messages, 0, TokenRate::default());
        if summarised && view.left_out() > 0 {
            view = view.with_summary("They spoke about the weather.");
        }
        let transcript = view.transcript(&messages);
        let is_last_turn = view.left_out() + 1 == messages.len();
        prop_assert!(is_last_turn || estimate(&transcript) <= budget, "{} of {budget}", estimate(&transcript));
        let mut payload = LlmPayload::new(transcript);
        payload.model = Some("m".into());
        payload.tools = Arc::from([Arc::new(ToolSpec::new("look", "Looks", json!({"type": "object"})))]);
        for api in APIS {
            let body: Value = serde_json::from_slice(&(api.request)(&payload)).unwrap();
            let faults = (api.faults)(&body);
            prop_assert!(faults.is_empty(), "{}: {faults:?}\n{body}", api.name);
        }
    }
}

/// Checks that the property test detects a window that separates a call from its result.
#[test]
fn a_split_pair_is_detected() {
    let parts = vec![said(8, 1, 1)];
    let answer = Message { parts, ..Message::assistant("a", "") };
    let mut items = omniassist_server::core::transcript::from_messages(&[
        Message::user("u", "Go"),
        answer,
        Message::user("v", "And?"),
    ]);
    items.retain(|item| item.as_call().is_none_or(|call| call.kind != CallKind::Function));
    let payload = LlmPayload::new(Arc::from(items));
    for api in APIS {
        let body: Value = serde_json::from_slice(&(api.request)(&payload)).unwrap();
        assert!(!(api.faults)(&body).is_empty(), "{}", api.name);
    }
}
