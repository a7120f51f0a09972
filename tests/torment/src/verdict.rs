//! Comparison of what the viewers saw, the ledger, and what is stored.

use omniassist_server::store::{RunState, Window};
use serde_json::Value;

use crate::child::CHAT;
use crate::killed::Case;
use crate::ledger::Effect;
use crate::shape::Shape;
use crate::store::{Store, runs, scope};
use crate::{agents, answers, next, plain_text};

/// Returns the violations of a case that has ended.
pub(crate) async fn violations<S: Store>(
    store: &S,
    case: Case<'_>,
    lines: &[String],
    effects: &[Effect],
    deaths: u32,
) -> Vec<String> {
    let mut found = Vec::new();
    let runs = runs(store, case.shape).await;
    let states: Vec<_> = runs.iter().map(|head| head.as_ref().map(|head| head.state)).collect();
    let is_given_up = deaths >= 3 && states.contains(&Some(RunState::Interrupted));
    if !is_given_up && states.iter().any(|state| *state != Some(RunState::Finished)) {
        found.push(format!("the runs ended as {states:?} after {deaths} deaths"));
    }
    let conversation = store.load(&scope(), CHAT, &Window::default()).await.unwrap();
    let bodies = conversation.map(|conversation| conversation.messages).unwrap_or_default();
    let messages: Vec<Value> =
        bodies.iter().map(|message| serde_json::from_slice(&message.body).unwrap()).collect();
    let calls = calls(&messages);
    let data = lines.iter().filter_map(|line| line.strip_prefix("data: "));
    let shown: Vec<Value> = data.filter_map(|data| serde_json::from_str(data).ok()).collect();
    check_effects(&agents::by_agents(case.shape, effects).1, &calls, is_given_up, &mut found);
    agents::check(case.shape, &messages, effects, shown.iter(), is_given_up, &mut found);
    if !is_given_up {
        answers::check(case.shape, &messages, &mut found);
        check_calls(case.shape, &calls, &mut found);
        plain_text::check(case.path.parent().unwrap(), &messages, case.is_encrypted, &mut found);
    }
    let text = Value::from(messages.clone()).to_string();
    for event in &shown {
        let shown = match event["type"].as_str() {
            Some("tool-output-available") => &event["output"],
            Some("tool-approval-request") => &event["toolCallId"],
            _ => continue,
        };
        if shown.as_str().is_some_and(|shown| !text.contains(shown)) {
            found.push(format!("a viewer saw {shown}, and it is not stored"));
        }
    }
    for line in lines.iter().filter(|line| line.starts_with("@status")) {
        found.push(format!("a post was refused: {line}"));
    }
    found.extend(next::faults(store, case.ledger).await);
    if !found.is_empty() {
        found.push(format!("effects {effects:?}, stored {text}"));
    }
    found
}

/// Returns the calls of messages.
pub(crate) fn calls(messages: &[Value]) -> Vec<&Value> {
    let parts = messages.iter().filter_map(|message| message["parts"].as_array()).flatten();
    parts.filter(|part| part["toolCallId"].is_string()).collect()
}

/// Checks the effects of tools against the stored calls. A run that was given up runs no call again, so that its idempotent
/// calls can be of unknown outcome too.
pub(crate) fn check_effects(
    effects: &[Effect],
    calls: &[&Value],
    is_given_up: bool,
    found: &mut Vec<String>,
) {
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
        let is_reported = same.iter().any(|other| output == other.receipt.as_str());
        let is_unknown = call["errorText"].as_str().is_some_and(|text| text.contains("not known"));
        if !is_reported && ((is_idempotent && !is_given_up) || !is_unknown) {
            found.push(format!("the result of {effect:?} is lost: {call}"));
        }
    }
}

/// Checks that each call of the shape is stored once, with an outcome.
pub(crate) fn check_calls(shape: Shape, calls: &[&Value], found: &mut Vec<String>) {
    let of_run: usize = shape.steps().iter().map(|step| step.len()).sum();
    let wanted = of_run + usize::from(shape == Shape::Asked);
    let settled = calls
        .iter()
        .filter(|call| matches!(call["state"].as_str(), Some("output-available" | "output-error")));
    if calls.len() != wanted || settled.count() != wanted {
        found.push(format!("{wanted} calls are expected, and stored are {calls:?}"));
    }
}
