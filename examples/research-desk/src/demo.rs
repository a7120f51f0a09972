use std::time::Duration;

use futures_util::{StreamExt, stream};
use omniassist_axum::core::transcript::UserContent;
use omniassist_axum::core::{FinishReason, LlmEvent, LlmPayload, TranscriptItem};
use omniassist_axum::{LlmProvider, LlmStream};
use serde_json::json;

/// Rules that answer in place of a model, so that the page works without a key. It waits for `pace` before each word.
#[derive(Debug, Clone)]
pub(crate) struct Demo {
    pub(crate) pace: Duration,
}

impl LlmProvider for Demo {
    fn name(&self) -> &str {
        "demo"
    }

    fn stream(&self, payload: LlmPayload) -> LlmStream {
        let pace = self.pace;
        Box::pin(stream::iter(events(&answer(&payload))).then(move |event| async move {
            tokio::time::sleep(pace).await;
            Ok(event)
        }))
    }
}

/// Returns the events of a turn with this text, word by word.
fn events(text: &str) -> Vec<LlmEvent> {
    let mut events = vec![LlmEvent::Start { id: None, model: None }];
    let words = text.split_inclusive(' ');
    events.extend(words.map(|word| LlmEvent::TextDelta { block: 0, delta: word.into() }));
    events.push(LlmEvent::TextEnd { block: 0, metadata: None });
    events.push(LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false });
    events
}

fn answer(payload: &LlmPayload) -> String {
    let prompt = prompt(payload);
    let task = prompt.split("Task:\n").nth(1).unwrap_or_default();
    let task = task.split("\n\n").next().unwrap_or_default();
    let schema = payload.options.response_schema.as_ref().map(|(name, _)| name.as_str());
    match schema {
        Some("question") => {
            let compares = prompt.starts_with("Decide if there is one thing") && task.starts_with("Compare");
            json!({ "ask": compares.then_some("What matters most to you?") }).to_string()
        }
        Some("questions") => json!({ "questions": parts(task) }).to_string(),
        _ if prompt.starts_with("Write the answer") => {
            let results = prompt.split("Result for ").skip(1).filter_map(|result| result.split_once(":\n"));
            let list: Vec<_> = results.map(|(_, result)| format!("- {}", result.trim())).collect();
            format!("In short, about \u{201c}{task}\u{201d}:\n{}", list.join("\n"))
        }
        _ => format!("The demo knows no facts, but it has thought about \u{201c}{task}\u{201d}."),
    }
}

/// Returns the parts of "Compare … and …".
fn parts(task: &str) -> Vec<String> {
    let Some(things) = task.strip_prefix("Compare ") else { return Vec::new() };
    let things = things.split(" and ").flat_map(|part| part.split(", "));
    things.map(|thing| format!("What speaks for {}?", thing.trim_end_matches(['.', '?']))).take(4).collect()
}

fn prompt(payload: &LlmPayload) -> String {
    let last = payload.transcript.iter().rev().find_map(|item| match item {
        TranscriptItem::User { content } => match content.last() {
            Some(UserContent::Text { text }) => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    });
    last.unwrap_or_default()
}
