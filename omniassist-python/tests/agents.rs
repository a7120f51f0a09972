//! Programs that start agents.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use omniassist_python::Python;
use omniassist_server::core::event::AgentStatus;
use omniassist_server::core::{RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Agent, Assistant};
use serde_json::{Value, json};

use crate::setup::pool;

/// Runs a program in an assistant with an agent that answers after a while. Returns its output, and the names and states of
/// the agents.
async fn run(code: &str, pause: Duration) -> (Value, Vec<AgentStatus>) {
    let model = ScriptedProvider::new().turn(call("python", json!({ "code": code }))).turn(text("Done."));
    let worker = ScriptedProvider::new().otherwise(move |payload| {
        let task = format!("{payload:?}");
        let part = ["lamps", "desks", "chairs"].into_iter().find(|part| task.contains(part)).unwrap_or("?");
        Turn::delay(pause).then(text(format!("about {part}")))
    });
    let assistant = Assistant::builder(model)
        .agent(Agent::new("researcher", "Researches.").provider(worker))
        .tool(Python::pool(pool(1).await).fork("researcher").tool("python").unwrap())
        .build()
        .unwrap();
    let mut run = assistant.run(RunRequest::prompt("Go"));
    let handle = run.handle();
    let mut output = Value::Null;
    while let Some(event) = run.next().await {
        if let RunEvent::ToolOutput { output: given, .. } = event {
            output = given.to().unwrap();
        }
    }
    (output, handle.agents().iter().map(|agent| agent.status).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn three_agents_work_at_the_same_time() {
    let code = "ids = [fork('Compare ' + part) for part in ['lamps', 'desks', 'chairs']]\n\
                [wait(started)['result'] for started in ids]";
    let begun = Instant::now();
    let (output, agents) = run(code, Duration::from_millis(700)).await;
    println!("three agents of 700 ms: {:?}", begun.elapsed());
    assert_eq!(output["result"], json!(["about lamps", "about desks", "about chairs"]), "{output}");
    assert_eq!(agents, [AgentStatus::Completed; 3]);
    assert!(begun.elapsed() < Duration::from_millis(2_000), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_are_not_waited_for_stop() {
    let (output, agents) = run("fork('Compare lamps')\n'left'", Duration::from_secs(3_600)).await;
    assert_eq!(output["result"], "left", "{output}");
    assert!(agents.iter().all(|status| *status == AgentStatus::Cancelled), "{agents:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_waited_for_once() {
    for (code, error) in [
        ("wait(7)", "RuntimeError: There is no agent 7 to wait for."),
        ("id = fork('lamps')\nwait(id)\nwait(id)", "RuntimeError: There is no agent 1 to wait for."),
        ("fork()", "RuntimeError: fork takes one argument."),
    ] {
        let (output, _) = run(code, Duration::ZERO).await;
        assert_eq!(output["error"], error, "{code}");
    }
}
