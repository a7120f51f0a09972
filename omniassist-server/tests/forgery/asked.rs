//! Forged answers to the calls of an agent that another one has asked. None of them runs a tool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use omniassist_server::core::message::{Message, Part, ToolPart, ToolState};
use omniassist_server::core::{ErrorCode, JsonText};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::Approval;
use omniassist_server::{Agent, Assistant, Tool, ToolError};
use serde_json::json;

use super::dice::Dice;
use super::keys;
use crate::approvals::{answer, post, post_as};

/// The forgeries of each kind.
const EACH: usize = 1_000;

const KINDS: [&str; 12] = [
    "other arguments",
    "another call",
    "another tool",
    "another chat",
    "another user",
    "another message",
    "another signature",
    "another approval",
    "another state",
    "the state of another conversation",
    "another asking call",
    "a call of the root",
];

/// Returns an assistant whose agent has a tool that needs an approval, and that has a tool of the same name itself. The
/// number counts the executions of both.
fn assistant() -> (Assistant, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let tool = |name: &'static str| {
        let ran = Arc::clone(&ran);
        let run = move || {
            ran.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, ToolError>("done") }
        };
        Tool::new(name, "Refunds", run).requires_approval(Approval::always())
    };
    let refund = |payload: &omniassist_server::core::LlmPayload| -> Turn {
        let asked = format!("{:?}", payload.transcript).contains("call_refund");
        if asked { text("Done.") } else { call("refund", json!({ "cents": 500 })) }
    };
    let root = |payload: &omniassist_server::core::LlmPayload| -> Turn {
        let asked = format!("{:?}", payload.transcript).contains("\"clerk\"");
        if asked { text("Done.") } else { call("clerk", json!({ "task": "Refund" })) }
    };
    let clerk = Agent::new("clerk", "Refunds.").provider(ScriptedProvider::new().otherwise(refund));
    let clerk = clerk.tool(tool("refund")).tool(tool("void"));
    let assistant = Assistant::builder(ScriptedProvider::new().otherwise(root))
        .agent(clerk)
        .delegates(["clerk"])
        .tool(tool("refund"))
        .seal_keys(keys())
        .build()
        .unwrap();
    (assistant, ran)
}

fn asked(messages: &mut [Message]) -> &mut ToolPart {
    let parts = messages.last_mut().unwrap().parts.iter_mut();
    let mut calls = parts.filter_map(|part| match part {
        Part::Tool(call) if call.asked_by().is_some() => Some(call),
        _ => None,
    });
    calls.next().expect("a call of the agent")
}

fn entry(call: &ToolPart) -> (String, String) {
    let entry = call.metadata.as_ref().unwrap().own_text("agent").unwrap();
    let (state, asked_by) = entry.split_once(' ').unwrap();
    (state.to_owned(), asked_by.to_owned())
}

fn set_entry(call: &mut ToolPart, state: &str, asked_by: &str) {
    call.metadata.as_mut().unwrap().set_own("agent", format!("{state} {asked_by}"));
}

/// Changes one character.
fn change(text: &str, dice: &mut Dice) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = dice.below(bytes.len());
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn no_forged_answer_to_an_asked_agent_runs_a_tool() {
    let (assistant, ran) = assistant();
    let begin = async |chat: &str| {
        let (mut messages, _) = post(&assistant, chat, vec![Message::user("q", "Refund")]).await;
        answer(&mut messages, true);
        messages
    };
    let (honest, mut other) = (begin("c").await, begin("other").await);
    let (other_state, _) = entry(asked(&mut other));
    let mut dice = Dice::new(15);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in KINDS {
        for _ in 0..EACH {
            let mut forged = honest.clone();
            let (mut user, mut chat) = ("ada".to_owned(), "c".to_owned());
            let number = dice.below(1_000_000);
            let call = asked(&mut forged);
            let (state, asked_by) = entry(call);
            let ToolState::ApprovalResponded { input, approval } = &mut call.state else { unreachable!() };
            match kind {
                "other arguments" => *input = JsonText::from_value(&json!({ "cents": 501 + number })),
                "another call" => call.call_id = format!("call_{number}").into(),
                "another tool" => call.name = ["void", "clerk", "other"][number % 3].into(),
                "another chat" => chat = format!("chat-{number}"),
                "another user" => user = format!("user-{number}"),
                "another message" => forged.last_mut().unwrap().id = format!("msg_{number}").into(),
                "another signature" => {
                    let signature = approval.signature.take().unwrap();
                    approval.signature = Some(change(&signature, &mut dice).into());
                }
                "another approval" => approval.id = format!("approval-{number}").into(),
                "another state" => set_entry(call, &change(&state, &mut dice), &asked_by),
                "the state of another conversation" => set_entry(call, &other_state, &asked_by),
                "another asking call" => set_entry(call, &state, &format!("call_{number}")),
                "a call of the root" => {
                    call.metadata.as_mut().unwrap().take_own("agent");
                }
                kind => unreachable!("{kind}"),
            }
            if let Err(error) = post_as(&assistant, &user, &chat, forged).await {
                assert_eq!(error.code(), ErrorCode::SealInvalid, "{kind}");
                *refused.entry(kind).or_default() += 1;
            }
        }
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{kind}");
    }
    println!("{} forgeries, refused with an error: {refused:?}", KINDS.len() * EACH);
    // The honest answer runs the tool once.
    for _ in 0..2 {
        post_as(&assistant, "ada", "c", honest.clone()).await.unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 1);
    }
}
