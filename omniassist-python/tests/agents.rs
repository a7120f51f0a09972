//! Programs that start agents.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use omniassist_python::Python;
use omniassist_server::agents::{AgentSession, Status};
use omniassist_server::core::event::AgentStatus;
use omniassist_server::core::{RunEvent, RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Agent, Assistant};
use serde_json::{Value, json};

use crate::setup::pool;

/// The times of the requests of agents to their model.
type Requests = Arc<Mutex<Vec<Instant>>>;

/// Returns an assistant whose programs start an agent that answers after a while.
async fn assistant(model: ScriptedProvider, pause: Duration, requests: Requests) -> Assistant {
    let worker = ScriptedProvider::new().otherwise(move |payload| {
        requests.lock().unwrap().push(Instant::now());
        let task = format!("{payload:?}");
        let is_asked = |part: &&str| task.contains(&format!("\"Compare {part}\""));
        let part = ["lamps", "desks", "chairs"].into_iter().find(is_asked).unwrap_or("?");
        Turn::delay(pause).then(text(format!("about {part}")))
    });
    Assistant::builder(model)
        .agent(Agent::new("researcher", "Researches.").provider(worker))
        .tool(Python::pool(pool(1).await).fork("researcher").tool("python").unwrap())
        .build()
        .unwrap()
}

/// Runs a program. Returns its output, the states of the agents, and the times of their requests.
async fn run(code: &str, pause: Duration) -> (Value, Vec<AgentStatus>, Vec<Instant>) {
    let model = ScriptedProvider::new().turn(call("python", json!({ "code": code }))).turn(text("Done."));
    let requests = Requests::default();
    let assistant = assistant(model, pause, requests.clone()).await;
    let mut run = assistant.run(RunRequest::prompt("Go"));
    let handle = run.handle();
    let mut output = Value::Null;
    while let Some(event) = run.next().await {
        if let RunEvent::ToolOutput { output: given, .. } = event {
            output = given.to().unwrap();
        }
    }
    let requests = requests.lock().unwrap().clone();
    (output, handle.agents().iter().map(|agent| agent.status).collect(), requests)
}

#[tokio::test(flavor = "multi_thread")]
async fn three_agents_work_at_the_same_time() {
    let code = "ids = [fork('Compare ' + part) for part in ['lamps', 'desks', 'chairs']]\n\
                [wait(started)['result'] for started in ids]";
    let pause = Duration::from_millis(700);
    let (output, agents, requests) = run(code, pause).await;
    assert_eq!(output["result"], json!(["about lamps", "about desks", "about chairs"]), "{output}");
    assert_eq!(agents, [AgentStatus::Completed; 3]);
    // The last one has begun before the first one is answered.
    assert_eq!(requests.len(), 3);
    assert!(requests[2] - requests[0] < pause, "{requests:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_are_not_waited_for_stop() {
    let (output, agents, _) = run("fork('Compare lamps')\n'left'", Duration::from_secs(3_600)).await;
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
        let (output, ..) = run(code, Duration::ZERO).await;
        assert_eq!(output["error"], error, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agents_that_a_program_has_not_waited_for_are_limited() {
    // The pool allows a program 1,000 calls.
    let code = "started = 0\n\
                refused = 0\n\
                for n in range(900):\n    \
                    try:\n        fork(str(n))\n        started += 1\n    \
                    except RuntimeError:\n        refused += 1\n\
                [started, refused]";
    let (output, ..) = run(code, Duration::from_secs(3_600)).await;
    assert_eq!(output["result"], json!([256, 900 - 256]), "{output}");
}

/// The main agent of a tree runs a program, whose agents are nodes of the tree.
#[tokio::test(flavor = "multi_thread")]
async fn a5_19_the_main_agent_of_a_tree_forks_and_waits() {
    let code = "print('begun')\n\
                ids = [fork('Compare ' + part) for part in ['lamps', 'desks']]\n\
                ', '.join([wait(started)['result'] for started in ids])";
    let model = ScriptedProvider::new().otherwise(move |payload| {
        let schema = payload.options.response_schema.as_ref().map(|(name, _)| name.to_string());
        match (schema.as_deref(), payload.transcript.last()) {
            (Some("question"), _) => text(r#"{"ask": null}"#),
            (Some(_), _) => text(r#"{"questions": []}"#),
            (None, Some(TranscriptItem::Result(result))) => {
                text(result.output.to_value()["result"].as_str().unwrap().to_owned())
            }
            (None, _) => call("python", json!({ "code": code })),
        }
    });
    let session = AgentSession::new(assistant(model, Duration::ZERO, Requests::default()).await);
    let frames: Vec<_> = session.agent("Compare").map(|frame| frame.bare().to_json()).collect().await;
    assert_eq!(frames.last().unwrap(), r#"{"type":"agent-completed"}"#, "{frames:?}");
    let tree = session.get_agent_tree();
    let [root, forked @ ..] = &*tree else { panic!("{tree:?}") };
    assert_eq!(root.result.as_deref(), Some("about lamps, about desks"));
    let ran = serde_json::to_string(&root.messages).unwrap();
    assert!(ran.contains(r#""toolName":"python""#) && ran.contains(r#""stdout":"begun\n""#), "{ran}");
    let mut results: Vec<_> = forked.iter().filter_map(|agent| agent.result.as_deref()).collect();
    results.sort_unstable();
    assert_eq!(results, ["about desks", "about lamps"], "{forked:?}");
    for agent in forked {
        assert_eq!((agent.parent_id.as_ref(), agent.status), (Some(&root.agent_id), Status::Completed));
    }
}
