//! Tests of asked agents whose server stops: another one restores them from the journal of the run.

use std::sync::Arc;

use omniassist_server::core::tree::TreeLimits;
use omniassist_server::store::{MemoryStore, RunState};
use omniassist_server::testing::Turn;
use omniassist_server::tool::{Agents, ToolContext};
use tokio::sync::Notify;

use super::*;
use crate::stored::restart::{begin_and_stop, restart, stored, stuck_after};

const UNKNOWN: &str = "It is not known whether this took effect";

/// The tools of the test, which count their effects. They stop their server when `is_stuck`.
#[derive(Clone, Default)]
struct Effects {
    reached: Arc<Notify>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl Effects {
    fn tool(&self, name: &str, is_stuck: bool) -> Tool {
        let effects = self.clone();
        Tool::new(name.to_owned(), "Does something", move |call: ToolContext| {
            let effects = effects.clone();
            async move {
                effects.keys.lock().unwrap().push(call.idempotency_key());
                if is_stuck {
                    effects.reached.notify_one();
                    std::future::pending::<()>().await;
                }
                Ok::<_, ToolError>("It was done.")
            }
        })
    }

    fn count(&self) -> usize {
        self.keys.lock().unwrap().len()
    }
}

fn delegate(agent: &str) -> Turn {
    call(agent, json!({ "task": "Work" }))
}

/// Returns an assistant whose model asks the agent `worker`.
fn asking(parent: &ScriptedProvider, worker: Agent, store: &MemoryStore) -> Assistant {
    let builder = Assistant::builder(parent.clone()).store(store.clone()).agent(worker);
    builder.delegates(["worker"]).build().unwrap()
}

fn worker(model: &ScriptedProvider) -> Agent {
    Agent::new("worker", "Works.").provider(model.clone())
}

/// Returns a model that tells the report of its agent.
fn reporting() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| {
        let transcript = format!("{:?}", payload.transcript);
        text(if transcript.contains("It is so.") { "The agent: it is so." } else { "No report." })
    })
}

/// Returns what a model was sent.
fn sent(model: &ScriptedProvider) -> Vec<String> {
    model.payloads().iter().map(|payload| format!("{:?}", payload.transcript)).collect()
}

/// Returns the parts of the stored message that show agents.
fn agents_in(message: &str) -> Vec<Value> {
    let message: Value = serde_json::from_str(message).unwrap();
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter(|part| part["type"] == "data-agent").map(|part| part["data"].clone()).collect()
}

#[test]
fn an_agent_goes_on_after_its_last_complete_turn() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let notify = Arc::clone(&effects.reached);
    let first = ScriptedProvider::new().turn(text("First I look. ").then(call("note", json!({})))).turn_with(
        move |_| {
            notify.notify_one();
            Turn::text("It is n").then(Turn::pending())
        },
    );
    let parent = ScriptedProvider::new().turn(delegate("worker"));
    let agent = worker(&first).tool(effects.tool("note", false));
    begin_and_stop(asking(&parent, agent, &store), &effects.reached);
    assert_eq!(effects.count(), 1);

    let (parent, second) = (reporting(), ScriptedProvider::new().turn(text("It is so.")));
    let agent = worker(&second).tool(effects.tool("note", false));
    assert_eq!(restart(&asking(&parent, agent, &store), &store), RunState::Finished);
    assert_eq!(effects.count(), 1, "the journal has the result of the call");
    let sent = sent(&second);
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("First I look.") && sent[0].contains("It was done."), "{sent:?}");
    assert!(!sent[0].contains("It is n"), "{sent:?}");
    let kept = stored(&store);
    assert!(kept.contains("The agent: it is so."), "{kept}");
    let agents = agents_in(&kept);
    assert_eq!((agents.len(), &agents[0]["status"]), (1, &json!("completed")), "{agents:?}");
}

#[test]
fn a_tool_of_an_agent_under_way_does_not_run_again() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let first = ScriptedProvider::new().turn(call("refund", json!({})));
    let parent = ScriptedProvider::new().turn(delegate("worker"));
    begin_and_stop(
        asking(&parent, worker(&first).tool(effects.tool("refund", true)), &store),
        &effects.reached,
    );

    let (parent, second) = (reporting(), ScriptedProvider::new().turn(text("It is so.")));
    let agent = worker(&second).tool(effects.tool("refund", false));
    assert_eq!(restart(&asking(&parent, agent, &store), &store), RunState::Finished);
    assert_eq!(effects.count(), 1);
    let sent = sent(&second);
    assert!(sent.len() == 1 && sent[0].contains(UNKNOWN), "{sent:?}");
    assert!(stored(&store).contains("The agent: it is so."));
}

#[test]
fn an_idempotent_tool_of_an_agent_runs_again_with_the_same_key() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let first = ScriptedProvider::new().turn(call("refund", json!({})));
    let parent = ScriptedProvider::new().turn(delegate("worker"));
    let agent = worker(&first).tool(effects.tool("refund", true).idempotent());
    begin_and_stop(asking(&parent, agent, &store), &effects.reached);

    let (parent, second) = (reporting(), ScriptedProvider::new().turn(text("It is so.")));
    let agent = worker(&second).tool(effects.tool("refund", false).idempotent());
    assert_eq!(restart(&asking(&parent, agent, &store), &store), RunState::Finished);
    let keys = effects.keys.lock().unwrap();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
}

#[test]
fn an_agent_of_an_agent_goes_on_too() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let build =
        |parent: &ScriptedProvider, worker: &ScriptedProvider, helper: &ScriptedProvider, is_stuck| {
            let tool = effects.tool("refund", is_stuck);
            let helper = Agent::new("helper", "Helps.").provider(helper.clone()).tool(tool);
            let worker = Agent::new("worker", "Works.").provider(worker.clone()).delegates(["helper"]);
            let builder = Assistant::builder(parent.clone()).store(store.clone()).agent(worker).agent(helper);
            builder.delegates(["worker"]).build().unwrap()
        };
    let parent = ScriptedProvider::new().turn(delegate("worker"));
    let middle = ScriptedProvider::new().turn(delegate("helper"));
    let leaf = ScriptedProvider::new().turn(call("refund", json!({})));
    begin_and_stop(build(&parent, &middle, &leaf, true), &effects.reached);

    let (parent, leaf) = (reporting(), ScriptedProvider::new().turn(text("Perhaps.")));
    let middle = ScriptedProvider::new().turn(text("It is so."));
    assert_eq!(restart(&build(&parent, &middle, &leaf, false), &store), RunState::Finished);
    assert_eq!(effects.count(), 1);
    let (of_leaf, of_middle) = (sent(&leaf), sent(&middle));
    assert!(of_leaf.len() == 1 && of_leaf[0].contains(UNKNOWN), "{of_leaf:?}");
    assert!(of_middle.len() == 1 && of_middle[0].contains("Perhaps."), "{of_middle:?}");
    let kept = stored(&store);
    let agents = agents_in(&kept);
    let ends: Vec<_> = agents.iter().map(|agent| (&agent["name"], &agent["status"])).collect();
    assert_eq!(ends.len(), 2, "{agents:?}");
    assert!(ends.iter().all(|(_, status)| **status == "completed"), "{agents:?}");
    let of = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap();
    assert_eq!(of("helper")["parentId"], of("worker")["agentId"]);
}

#[test]
fn several_agents_go_on_and_one_that_had_ended_is_not_asked_again() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let build = |parent: &ScriptedProvider, quick: &ScriptedProvider, slow: &ScriptedProvider, is_stuck| {
        let quick = Agent::new("quick", "Is quick.").provider(quick.clone());
        let slow =
            Agent::new("slow", "Is slow.").provider(slow.clone()).tool(effects.tool("refund", is_stuck));
        let builder = Assistant::builder(parent.clone()).store(store.clone()).agent(quick).agent(slow);
        builder.delegates(["quick", "slow"]).build().unwrap()
    };
    let parent = ScriptedProvider::new().turn(delegate("quick").then(delegate("slow")));
    let quick = ScriptedProvider::new().turn(text("I was quick."));
    let slow = ScriptedProvider::new().turn(call("refund", json!({})));
    begin_and_stop(build(&parent, &quick, &slow, true), &effects.reached);

    let (parent, quick) = (reporting(), ScriptedProvider::new());
    let slow = ScriptedProvider::new().turn(text("It is so."));
    assert_eq!(restart(&build(&parent, &quick, &slow, false), &store), RunState::Finished);
    assert_eq!((effects.count(), quick.payloads().len(), slow.payloads().len()), (1, 0, 1));
    assert!(sent(&parent).iter().any(|sent| sent.contains("I was quick.") && sent.contains("It is so.")));
    let agents = agents_in(&stored(&store));
    assert!(agents.len() == 2 && agents.iter().all(|agent| agent["status"] == "completed"), "{agents:?}");
}

#[test]
fn an_agent_that_a_tool_of_the_host_asked_does_not_go_on() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    let build = |parent: &ScriptedProvider, model: &ScriptedProvider| {
        let tool = Tool::new("plan", "Plans", |agents: Agents| async move {
            agents.ask("worker", "Work").await.map(|report| report.result.to_string())
        });
        let builder = Assistant::builder(parent.clone()).store(store.clone()).agent(worker(model));
        builder.tool(tool).build().unwrap()
    };
    let (parent, model) =
        (ScriptedProvider::new().turn(call("plan", json!({}))), stuck_after("Half", &reached));
    begin_and_stop(build(&parent, &model), &reached);

    let (parent, model) = (ScriptedProvider::new().otherwise(|_| text("I do not know.")), answering());
    assert_eq!(restart(&build(&parent, &model), &store), RunState::Finished);
    assert!(model.payloads().is_empty(), "the tool may have acted");
    assert!(sent(&parent).iter().any(|sent| sent.contains(UNKNOWN)));
    let agents = agents_in(&stored(&store));
    assert_eq!((agents.len(), &agents[0]["status"]), (1, &json!("cancelled")), "{agents:?}");
    assert_eq!(agents[0]["reason"], "interrupted");
}

#[test]
fn the_limits_of_a_tree_count_what_was_used_before() {
    let (store, effects) = (MemoryStore::new(), Effects::default());
    let build = |parent: &ScriptedProvider, model: &ScriptedProvider| {
        // Three calls: one for the agent's call of the tool, one for its answer, and the answer of the run.
        let limits = TreeLimits::default().model_calls(4);
        let agent = worker(model).tool(effects.tool("refund", true));
        let builder = Assistant::builder(parent.clone()).store(store.clone()).agent(agent);
        builder.delegates(["worker"]).tree(limits).build().unwrap()
    };
    let parent = ScriptedProvider::new().turn(delegate("worker"));
    let model = ScriptedProvider::new().turn(call("refund", json!({})));
    begin_and_stop(build(&parent, &model), &effects.reached);

    // Each further call asks for another one.
    let model = ScriptedProvider::new().otherwise(|payload| match payload.tool_choice {
        omniassist_server::core::ToolChoice::None => text("It is so."),
        _ => call("refund", json!({ "again": true })),
    });
    let parent = reporting();
    assert_eq!(restart(&build(&parent, &model), &store), RunState::Finished);
    assert_eq!(model.payloads().len(), 1, "the limit has room for the answer only");
    let agents = agents_in(&stored(&store));
    assert_eq!(agents[0]["status"], "incomplete", "{agents:?}");
    assert_eq!(agents[0]["reason"], "model_calls", "{agents:?}");
}
