//! The shapes of runs: what the model says, and the tools that it calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use omniassist_server::core::{LlmPayload, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, Turn};
use omniassist_server::tool::{Tool, ToolContext, ToolError};
use omniassist_server::{Approval, failpoint};
use serde_json::{Value, json};

use crate::ledger;

/// The delay between two words.
const PACE: Duration = Duration::from_millis(4);

/// The number of words of a long answer.
pub(crate) const WORDS: usize = 50;

/// A shape of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A long answer.
    Text,
    /// A call between two texts.
    Call,
    /// Three calls at once.
    Parallel,
    /// A call that may run again, with the same key.
    Idempotent,
    /// A call that somebody approves.
    Approval,
    /// A call in each of two steps.
    Steps,
}

impl Shape {
    pub(crate) const ALL: [Self; 6] =
        [Self::Text, Self::Call, Self::Parallel, Self::Idempotent, Self::Approval, Self::Steps];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Call => "call",
            Self::Parallel => "parallel",
            Self::Idempotent => "idempotent",
            Self::Approval => "approval",
            Self::Steps => "steps",
        }
    }

    /// Returns the calls of each step: tools and orders.
    pub(crate) const fn steps(self) -> &'static [&'static [(&'static str, &'static str)]] {
        match self {
            Self::Text => &[],
            Self::Call => &[&[("refund", "a")]],
            Self::Parallel => &[&[("refund", "a"), ("refund", "b"), ("charge", "c")]],
            Self::Idempotent => &[&[("charge", "a")]],
            Self::Approval => &[&[("pay", "a")]],
            Self::Steps => &[&[("refund", "a")], &[("refund", "b")]],
        }
    }
}

/// Creates the model. It answers by the last message of the user, and the results after it.
pub(crate) fn model() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(answer)
}

fn answer(payload: &LlmPayload) -> Turn {
    // A model that is asked again gives its calls other ids.
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let is_user = |item: &TranscriptItem| matches!(item, TranscriptItem::User { .. });
    let last = payload.transcript.iter().rposition(is_user).unwrap_or(0);
    let question = format!("{:?}", payload.transcript.get(last));
    let shape = Shape::ALL.into_iter().find(|shape| question.contains(&format!("shape-{}", shape.name())));
    let Some(shape) = shape else { return Turn::text("Yes.") };
    let done =
        payload.transcript[last..].iter().filter(|item| matches!(item, TranscriptItem::Result(_))).count();
    let mut before = 0;
    for calls in shape.steps() {
        before += calls.len();
        if done < before {
            let mut turn = Turn::text("Let me").then(Turn::text(" see."));
            for (tool, order) in *calls {
                let id = format!("call_{}_{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed));
                turn = turn.then(Turn::call_with_id(id, *tool, json!({ "order": order })));
            }
            return turn;
        }
    }
    let words = if shape == Shape::Text { WORDS } else { 4 };
    let mut turn = Turn::new();
    for word in 0..words {
        turn = turn.then(Turn::text(format!("w{word} "))).then(Turn::delay(PACE));
    }
    turn
}

/// Creates the tools. Each takes effect in the ledger, and returns the receipt.
pub(crate) fn tools(ledger: &str, case: &str) -> Vec<Tool> {
    let tool = |name: &'static str| {
        let (ledger, case) = (ledger.to_owned(), case.to_owned());
        let schema = json!({
            "type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"],
        });
        Tool::from_fn_with_schema(
            name,
            "Acts on an order",
            schema,
            move |arguments: Value, context: ToolContext| {
                let (ledger, case) = (ledger.clone(), case.clone());
                async move {
                    failpoint::hit("tool.called");
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..4))).await;
                    let order = arguments["order"].as_str().unwrap_or_default();
                    let receipt = ledger::effect(&ledger, &case, order, &context.idempotency_key());
                    failpoint::hit("tool.effect");
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..4))).await;
                    receipt.map_err(|error| ToolError::new(error.to_string()))
                }
            },
        )
    };
    vec![tool("refund"), tool("charge").idempotent(), tool("pay").requires_approval(Approval::always())]
}
