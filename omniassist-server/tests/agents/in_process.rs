//! Tests of the agents of a run, as its host sees them.

use futures_util::StreamExt;
use omniassist_server::core::RunEvent;
use omniassist_server::core::event::AgentStatus::{self, Cancelled, Completed, Running};
use omniassist_server::testing::Turn;
use omniassist_server::{RunHandle, core::event::AgentState};

use super::asked::{ask, states};
use super::*;

/// Returns the name, the depth and the status of each agent.
fn seen(handle: &RunHandle) -> Vec<(String, u32, AgentStatus)> {
    let seen = |agent: AgentState| (agent.name.to_string(), agent.depth, agent.status);
    handle.agents().into_iter().map(seen).collect()
}

/// Returns an assistant that asks a lead, which asks a worker.
fn assistant_with(worker: Turn) -> Assistant {
    let parent = ScriptedProvider::new().turn(ask("lead", "Lead")).turn(text("Done."));
    let lead = ScriptedProvider::new().turn(ask("worker", "Work")).turn(text("Led."));
    Assistant::builder(parent)
        .agent(Agent::new("lead", "Leads.").provider(lead).delegates(["worker"]))
        .agent(Agent::new("worker", "Works.").provider(ScriptedProvider::new().turn(worker)))
        .delegates(["lead"])
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_host_sees_each_agent_in_its_latest_state() {
    let mut run = assistant_with(text("Worked.")).run(RunRequest::prompt("Go"));
    let handle = run.handle();
    assert_eq!(seen(&handle), []);
    let mut steps = Vec::new();
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::AgentState(_)) {
            steps.push(seen(&handle));
        }
    }
    let agent = |name: &str, depth, status| (name.to_owned(), depth, status);
    let expected = [
        vec![agent("lead", 1, Running)],
        vec![agent("lead", 1, Running), agent("worker", 2, Running)],
        vec![agent("lead", 1, Running), agent("worker", 2, Completed)],
        vec![agent("lead", 1, Completed), agent("worker", 2, Completed)],
    ];
    assert_eq!(steps, expected);
    let agents = handle.agents();
    assert_eq!(agents[1].parent_id.as_ref(), Some(&agents[0].agent_id));
    assert_eq!(agents[1].text.as_deref(), Some("Worked."));
    assert_eq!(seen(&handle), expected[3], "also after the end");
    drop(run);
    assert_eq!(seen(&handle), []);
}

#[tokio::test]
async fn agents_of_a_run_that_was_stopped_are_cancelled() {
    let mut run = assistant_with(Turn::text("Half").then(Turn::pending())).run(RunRequest::prompt("Go"));
    let handle = run.handle();
    while seen(&handle).len() < 2 {
        run.next().await.expect("the run goes on");
    }
    handle.abort("Enough.");
    let shown = states(&run.by_ref().collect::<Vec<_>>().await);
    let shown: Vec<_> = shown.iter().map(|state| (&state["name"], &state["status"])).collect();
    let cancelled = json!("cancelled");
    assert_eq!(
        shown,
        [(&json!("worker"), &cancelled), (&json!("lead"), &cancelled)],
        "clients see both ends"
    );
    let ends: Vec<_> = seen(&handle).into_iter().map(|(_, _, status)| status).collect();
    assert_eq!(ends, [Cancelled, Cancelled]);
}

#[tokio::test]
async fn a_run_without_agents_has_none() {
    let assistant = Assistant::builder(answering()).build().unwrap();
    let mut run = assistant.run(RunRequest::prompt("Go"));
    while run.next().await.is_some() {}
    assert_eq!(seen(&run.handle()), []);
}
