//! A scripted model, so that the example needs no key: slow words, a slow tool, and a tool that needs an approval.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use omniassist_axum::core::event::CallKind;
use omniassist_axum::core::{FinishReason, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_axum::tool::{Approval, ToolContext};
use omniassist_axum::{LlmProvider, LlmStream, Tool, ToolError};
use serde_json::json;

/// The time between two words.
const PACE: Duration = Duration::from_millis(200);

/// The provider. The question decides what it says.
#[derive(Debug)]
pub(crate) struct Demo;

impl LlmProvider for Demo {
    fn name(&self) -> &str {
        "demo"
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        Box::pin(stream::iter(answer(&payload)).then(|event| async {
            tokio::time::sleep(PACE).await;
            Ok(event)
        }))
    }
}

fn answer(payload: &LlmPayload) -> Vec<LlmEvent> {
    let is_question = |item: &TranscriptItem| matches!(item, TranscriptItem::User { .. });
    let asked = payload.transcript.iter().rposition(is_question).unwrap_or(0);
    let since = payload.transcript.get(asked..).unwrap_or_default();
    let question = format!("{:?}", since.first()).to_lowercase();
    if since.iter().any(|item| matches!(item, TranscriptItem::Result(_))) {
        return said(
            "That is done. The call ran once, on whichever server it was, and another one may have written this.",
        );
    }
    match ["refund", "export"].into_iter().find(|tool| question.contains(tool)) {
        // A call needs an id of its own in the conversation.
        Some(tool) => called(tool, format!("{tool}-{}", payload.transcript.len())),
        None => {
            let numbers = (1..=80).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
            said(&format!("Kill the server that writes this while I count: {numbers}. That is all."))
        }
    }
}

fn said(text: &str) -> Vec<LlmEvent> {
    let delta = |word: &str| LlmEvent::TextDelta { block: 0, delta: word.into() };
    let end = [LlmEvent::TextEnd { block: 0, metadata: None }, finish(FinishReason::Stop)];
    text.split_inclusive(' ').map(delta).chain(end).collect()
}

fn called(tool: &str, id: String) -> Vec<LlmEvent> {
    vec![
        LlmEvent::ToolCallStart { call: 0, id: id.into(), name: tool.into(), kind: CallKind::Function },
        LlmEvent::ToolCallEnd { call: 0, arguments: "{}".into(), metadata: None },
        finish(FinishReason::ToolCalls),
    ]
}

fn finish(reason: FinishReason) -> LlmEvent {
    LlmEvent::Finish { reason, raw: None, truncated: false }
}

/// Returns the tools: a refund, which waits for an approval, and an export, which takes ten seconds.
pub(crate) fn tools() -> [Tool; 2] {
    let refund = || async { Ok::<_, ToolError>("20 EUR were refunded.") };
    [
        Tool::new("refund", "Refund the last order", refund)
            .requires_approval(Approval::always().message("Give 20 EUR back?")),
        // It only reads, so the next server runs it again if its server dies.
        Tool::new("export", "Export the sales report", export).read_only(),
    ]
}

async fn export(call: ToolContext) -> Result<&'static str, ToolError> {
    for month in 1..=10 {
        call.progress(json!({ "month": month, "of": 10 }));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok("The report has ten months.")
}
