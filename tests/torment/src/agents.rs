//! The agents of a case: each is stored once, with its end, and reports the effects of its tools.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::ledger::Effect;
use crate::shape::{IDEMPOTENT_ORDER, Shape};

/// Checks the agents of a case that has ended, and the effects of their calls. `shown` are the events that viewers saw.
pub(crate) fn check<'v>(
    shape: Shape,
    messages: &[Value],
    effects: &[Effect],
    shown: impl Iterator<Item = &'v Value>,
    is_given_up: bool,
    found: &mut Vec<String>,
) {
    let parts = messages.iter().filter_map(|message| message["parts"].as_array()).flatten();
    let agents: Vec<&Value> =
        parts.filter(|part| part["type"] == "data-agent").map(|part| &part["data"]).collect();
    let names: BTreeMap<&str, &str> =
        agents.iter().map(|agent| (word(agent, "agentId"), word(agent, "name"))).collect();
    let mut tree: Vec<(&str, Option<&str>)> = agents
        .iter()
        .map(|agent| {
            (word(agent, "name"), agent["parentId"].as_str().map(|id| *names.get(id).unwrap_or(&"?")))
        })
        .collect();
    tree.sort_unstable();
    if names.len() != agents.len() || (!is_given_up && tree != shape.agents()) {
        found.push(format!("the agents are {tree:?}, with the ids {:?}", names.keys()));
    }
    let left: Vec<_> = agents
        .iter()
        .filter(|agent| agent["status"] == "running" || (!is_given_up && agent["status"] != "completed"))
        .collect();
    if !left.is_empty() {
        found.push(format!("agents have not ended: {left:?}"));
    }
    let shown: BTreeSet<&str> = shown
        .filter(|event| event["type"] == "data-agent")
        .map(|event| word(&event["data"], "agentId"))
        .collect();
    for id in shown.into_iter().filter(|id| !names.contains_key(id)) {
        found.push(format!("a viewer saw the agent {id}, and it is not stored"));
    }
    let (effects, _) = by_agents(shape, effects);
    let stored = Value::from(messages.to_vec()).to_string();
    let is_unknown = stored.contains("not known whether");
    for order in shape.orders_of_agents() {
        let same: Vec<_> = effects.iter().filter(|effect| effect.order == *order).collect();
        let is_idempotent = *order == IDEMPOTENT_ORDER;
        if same.len() > 1 && !is_idempotent {
            found.push(format!("two effects: {same:?}"));
        }
        if same.windows(2).any(|pair| pair[0].key != pair[1].key) {
            found.push(format!("two keys: {same:?}"));
        }
        let is_reported = same.iter().any(|effect| stored.contains(&effect.receipt));
        if !is_given_up && !is_reported && (is_idempotent || !is_unknown) {
            found.push(format!("the result of the order {order} is lost: {same:?}"));
        }
    }
}

/// Separates the effects of calls that are not stored from those of the others.
pub(crate) fn by_agents(shape: Shape, effects: &[Effect]) -> (Vec<Effect>, Vec<Effect>) {
    effects.iter().cloned().partition(|effect| shape.orders_of_agents().contains(&&*effect.order))
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}
