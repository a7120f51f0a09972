//! Comparison of the events that a client has accepted with the log of the run.

use serde_json::Value;

/// Events that a reset may take back: text, a call whose arguments are not complete, and the end of a step without calls.
const RETRACTABLE: [&str; 9] = [
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-start",
    "reasoning-delta",
    "reasoning-end",
    "tool-input-start",
    "tool-input-delta",
    "finish-step",
];

/// The number of events that are shown before and after the first difference.
const BEFORE: usize = 4;
const AFTER: usize = 8;

/// Applies the resets among events and the states of agents that begin anew, and joins the deltas of a block. Resets that take
/// back more than text are violations.
pub(crate) fn settled(events: &[Value], found: &mut Vec<String>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for event in events {
        match kind(event) {
            "reset-step" => {
                let from = kept.iter().rposition(|event| kind(event) == "start-step").map_or(0, |at| at + 1);
                let fixed = kept.drain(from..).find(|event| !RETRACTABLE.contains(&kind(event)));
                found.extend(fixed.map(|event| format!("a reset takes back {event}")));
            }
            "text-delta" => match kept.last_mut() {
                Some(last) if kind(last) == "text-delta" && last["id"] == event["id"] => {
                    let text =
                        [&last["delta"], &event["delta"]].map(|delta| delta.as_str().unwrap_or_default());
                    last["delta"] = text.concat().into();
                }
                _ => kept.push(event.clone()),
            },
            "data-agent" if withdraws(&event["data"]) => {
                let is_of_agent = |kept: &Value| kept["data"]["agentId"] == event["data"]["agentId"];
                kept.retain(|kept| !(kind(kept).starts_with("data-agent") && is_of_agent(kept)));
                kept.push(event.clone());
            }
            _ => kept.push(event.clone()),
        }
    }
    kept
}

/// Returns `true` for a state that withdraws what an agent has shown: it begins anew, or its server stopped.
fn withdraws(state: &Value) -> bool {
    state["status"] == "running" || state["reason"] == "interrupted"
}

/// Checks that a client that read to the end has what the log has, and that the log ends once.
pub(crate) fn check(accepted: &[Value], log: &[Value], found: &mut Vec<String>) {
    let (mine, logged) = (settled(accepted, found), settled(log, found));
    if let Some(at) = (0..mine.len().max(logged.len())).find(|at| mine.get(*at) != logged.get(*at)) {
        let around = |events: &[Value]| {
            let (from, to) = (at.saturating_sub(BEFORE).min(events.len()), events.len().min(at + AFTER));
            format!("{}", Value::from(&events[from..to]))
        };
        found.push(format!("the client has {} where the log has {}", around(&mine), around(&logged)));
    }
    let ends = |event: &&Value| matches!(kind(event), "finish" | "error" | "abort");
    let is_final = |event: &&Value| ends(event) && event["finishReason"] != "tool-calls";
    // The AI SDK's format has a `finish` after `abort` and `error`.
    let finals = logged.iter().filter(is_final).count();
    if finals != 1 || logged.last().is_none_or(|last| !ends(&last)) {
        found.push(format!("the log has {finals} ends, and ends with {:?}", logged.last()));
    }
}

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}
