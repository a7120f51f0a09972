//! Comparison of what the viewers saw, the ledger, and what is stored.

use std::time::{Duration, Instant};

use omniassist_server::core::RunEvent;
use omniassist_server::core::journal::{self, Content};
use omniassist_server::store::{ConversationStore, RunState, RunStore, TailOf, Which, Window};
use omniassist_sqlite::SqliteStore;
use serde_json::Value;

use crate::child::{CHAT, scope};
use crate::ledger::Effect;
use crate::next;
use crate::shape::Shape;

type Lines = [(Instant, String)];

fn events(lines: &Lines) -> impl Iterator<Item = (Instant, Value)> {
    lines
        .iter()
        .filter_map(|(at, line)| Some((*at, serde_json::from_str(line.strip_prefix("data: ")?).ok()?)))
}

/// Returns the time of the text that the last viewer saw, and the journal does not have.
pub(crate) async fn lost_text(store: &SqliteStore, lines: &Lines) -> Option<Duration> {
    let deltas: Vec<_> = events(lines).filter(|(_, event)| event["type"] == "text-delta").collect();
    let (last, _) = deltas.last()?;
    let head = store.find(&scope(), Which::Chat(CHAT)).await.ok()??;
    if head.state.is_ended() {
        return Some(Duration::ZERO);
    }
    let tails = store.read(&[TailOf::new(scope(), head.run, 0)], usize::MAX).await.ok()?;
    let mut kept = 0;
    for segment in &tails.first()?.as_ref()?.segments {
        // The mark of a claim has no data.
        for record in journal::read(&segment.data).unwrap_or_default() {
            let text = match &record.content {
                Content::Event(RunEvent::TextDelta { delta, .. }) => delta.to_string(),
                Content::Event(RunEvent::StepReset) => {
                    kept = 0;
                    continue;
                }
                Content::Deltas(deltas) => match deltas.merged() {
                    RunEvent::TextDelta { delta, .. } => delta.to_string(),
                    _ => continue,
                },
                _ => continue,
            };
            kept += text.matches('w').count();
        }
    }
    let Some((seen, _)) = kept.checked_sub(1).and_then(|at| deltas.get(at)) else {
        // Nothing was written yet.
        return deltas.first().map(|(first, _)| last.duration_since(*first));
    };
    Some(last.saturating_duration_since(*seen))
}

/// Returns the violations of a case that has ended.
pub(crate) async fn violations(
    store: &SqliteStore,
    shape: Shape,
    lines: &Lines,
    effects: &[Effect],
    deaths: u32,
    ledger: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    let head = store.find(&scope(), Which::Chat(CHAT)).await.unwrap();
    let state = head.map(|head| head.state);
    let is_given_up = state == Some(RunState::Interrupted) && deaths >= 3;
    if state != Some(RunState::Finished) && !is_given_up {
        found.push(format!("the run ended as {state:?} after {deaths} deaths"));
    }
    let conversation = store.load(&scope(), CHAT, &Window::default()).await.unwrap();
    let bodies = conversation.map(|conversation| conversation.messages).unwrap_or_default();
    let messages: Vec<Value> =
        bodies.iter().map(|message| serde_json::from_slice(&message.body).unwrap()).collect();
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    if roles != ["user", "assistant"] && !is_given_up {
        found.push(format!("the messages are {roles:?}"));
    }
    let stored = messages.last().cloned().unwrap_or_default();
    let calls: Vec<&Value> = stored["parts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|part| part["toolCallId"].is_string())
        .collect();
    check_effects(effects, &calls, is_given_up, &mut found);
    if !is_given_up {
        check_calls(shape, &calls, &mut found);
    }
    let text = stored.to_string();
    for (_, event) in events(lines) {
        let shown = match event["type"].as_str() {
            Some("tool-output-available") => &event["output"],
            Some("tool-approval-request") => &event["toolCallId"],
            _ => continue,
        };
        if shown.as_str().is_some_and(|shown| !text.contains(shown)) {
            found.push(format!("a viewer saw {shown}, and it is not stored"));
        }
    }
    for (_, line) in lines.iter().filter(|(_, line)| line.starts_with("@status")) {
        found.push(format!("a post was refused: {line}"));
    }
    found.extend(next::faults(store, ledger).await);
    if !found.is_empty() {
        found.push(format!("effects {effects:?}, stored {text}"));
    }
    found
}

/// Checks the effects of tools against the stored calls. A run that was given up runs no call again, so that its idempotent
/// calls can be of unknown outcome too.
fn check_effects(effects: &[Effect], calls: &[&Value], is_given_up: bool, found: &mut Vec<String>) {
    for effect in effects {
        let same: Vec<_> = effects.iter().filter(|other| other.order == effect.order).collect();
        let mut of_order = calls.iter().filter(|call| call["input"]["order"] == effect.order.as_str());
        let Some(call) = of_order.next_back() else {
            found.push(format!("the effect {effect:?} has no stored call"));
            continue;
        };
        let is_idempotent = call["type"] == "tool-charge";
        if same.len() > 1 && !is_idempotent {
            found.push(format!("two effects: {same:?}"));
        }
        if same.iter().any(|other| other.key != effect.key) {
            found.push(format!("two keys: {same:?}"));
        }
        let output = &call["output"];
        let is_told = same.iter().any(|other| output == other.receipt.as_str());
        let is_unknown = call["errorText"].as_str().is_some_and(|text| text.contains("not known"));
        if !is_told && ((is_idempotent && !is_given_up) || !is_unknown) {
            found.push(format!("the result of {effect:?} is lost: {call}"));
        }
    }
}

/// Checks that each call of the shape is stored once, with an outcome.
fn check_calls(shape: Shape, calls: &[&Value], found: &mut Vec<String>) {
    let wanted: usize = shape.steps().iter().map(|step| step.len()).sum();
    let settled = calls
        .iter()
        .filter(|call| matches!(call["state"].as_str(), Some("output-available" | "output-error")));
    if calls.len() != wanted || settled.count() != wanted {
        found.push(format!("{wanted} calls are expected, and stored are {calls:?}"));
    }
}
