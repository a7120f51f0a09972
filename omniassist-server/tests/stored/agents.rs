//! The agents that work for a stored run: `GET /{chat}/agents`, and the stop of one, on any server.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use omniassist_server::{Agent, Recovery};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::elsewhere::{get, read, read_until};
use super::outage::Unsteady;
use super::restart::{begin_and_stop, runtime, stuck_after};
use super::*;

/// Returns an assistant whose model asks the agents `lead` and `idle`, and then answers. The lead asks `worker`.
fn asking<S: RunStore + ConversationStore>(store: S, worker: ScriptedProvider) -> Assistant {
    let both = call("lead", json!({ "task": "Lead" })).then(call("idle", json!({ "task": "Idle" })));
    let model = ScriptedProvider::new().turn(both).turn(text("Done."));
    // The worker begins after the last commit of the others.
    let ask = Turn::delay(Duration::from_millis(30)).then(call("worker", json!({ "task": "Work" })));
    let lead = ScriptedProvider::new().turn(ask).turn(text("Led."));
    let lead = Agent::new("lead", "Leads.").provider(lead).delegates(["worker"]);
    let idle = Agent::new("idle", "Is idle.").provider(ScriptedProvider::new().turn(text("Nothing.")));
    let builder = Assistant::builder(model).store(store).agent(lead).agent(idle);
    builder
        .agent(Agent::new("worker", "Works.").provider(worker))
        .delegates(["lead", "idle"])
        .build()
        .unwrap()
}

fn stuck() -> ScriptedProvider {
    ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()))
}

/// Returns an assistant that drives none of the runs.
fn other<S: RunStore + ConversationStore>(store: S) -> Assistant {
    Assistant::builder(ScriptedProvider::new()).store(store).build().unwrap()
}

async fn answer(assistant: &Assistant, user: &str, method: Method, uri: &str) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(uri);
    request.extensions_mut().unwrap().insert(Principal::new(user));
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8(body.into()).unwrap())
}

async fn agents(assistant: &Assistant) -> Vec<Value> {
    let body: Value = serde_json::from_str(&read(get(assistant, "/c/agents").await).await).unwrap();
    body["agents"].as_array().unwrap().clone()
}

async fn stop(assistant: &Assistant, agent: &Value) -> String {
    let uri = format!("/c/agents/{}/stop", agent["agentId"].as_str().unwrap());
    let (status, body) = answer(assistant, "ada", Method::POST, &uri).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body
}

/// Returns the names and the states.
fn shown(agents: &[Value]) -> Vec<(&str, &str)> {
    agents.iter().map(|agent| (agent["name"].as_str().unwrap(), agent["status"].as_str().unwrap())).collect()
}

#[tokio::test(start_paused = true)]
async fn a5_31_every_server_lists_the_agents_of_a_run() {
    let store = MemoryStore::new();
    let (first, other) = (asking(store.clone(), stuck()), other(store.clone()));
    let mut body = open(&first, &ask("m1", "Go")).await;
    read_until(&mut body, "Half").await;
    let at_work = [("lead", "running"), ("idle", "completed"), ("worker", "running")];
    assert_eq!(shown(&agents(&first).await), at_work, "also what is not written yet");
    sleep(Duration::from_millis(150)).await;
    let listed = agents(&other).await;
    assert_eq!((shown(&listed), agents(&first).await), (at_work.to_vec(), listed.clone()));
    assert_eq!((&listed[2]["parentId"], &listed[2]["depth"]), (&listed[0]["agentId"], &json!(2)));
    assert_eq!((&listed[1]["text"], &listed[2]["task"]), (&json!("Nothing."), &json!("Work")));

    let none = answer(&other, "ada", Method::GET, "/d/agents").await;
    assert_eq!(none.0, StatusCode::NOT_FOUND);
    for assistant in [&first, &other] {
        assert_eq!(answer(assistant, "bob", Method::GET, "/c/agents").await, none);
        let uri = format!("/c/agents/{}/stop", listed[2]["agentId"].as_str().unwrap());
        assert_eq!(answer(assistant, "bob", Method::POST, &uri).await, none);
    }
    assert_eq!(shown(&agents(&first).await), at_work, "nothing was stopped");
}

#[tokio::test(start_paused = true)]
async fn a5_31_an_agent_is_stopped_by_a_server_without_its_run() {
    let store = MemoryStore::new();
    let (first, other) = (asking(store.clone(), stuck()), other(store.clone()));
    let mut body = open(&first, &ask("m1", "Go")).await;
    read_until(&mut body, "Half").await;
    sleep(Duration::from_millis(150)).await;
    let worker = agents(&other).await.pop().unwrap();
    let asked = Instant::now();
    assert_eq!(stop(&other, &worker).await, r#"{"stopped":true}"#);
    assert!(asked.elapsed() <= Duration::from_millis(200), "{:?}", asked.elapsed());
    // The agent that asked goes on, and so does the run.
    assert!(read_until(&mut body, "DONE").await.contains("Done."));
    assert_eq!(settled(&store).await, RunState::Finished);
    let ended = [("lead", "completed"), ("idle", "completed"), ("worker", "cancelled")];
    for assistant in [&first, &other] {
        assert_eq!(shown(&agents(assistant).await), ended);
        assert_eq!(stop(assistant, &worker).await, r#"{"stopped":false}"#, "it has ended");
    }
}

/// Without hints, an agent that writes is stopped with the next write of its run.
#[tokio::test(start_paused = true)]
async fn a_stop_of_an_agent_needs_no_hints() {
    let words = (0..2_000).fold(Turn::new(), |turn, number| {
        turn.then(Turn::text_chunks([format!("{number} ")])).then(Turn::delay(Duration::from_millis(20)))
    });
    let quiet = Unsteady::default();
    let first = asking(quiet.clone(), ScriptedProvider::new().turn(words));
    let other = other(quiet.clone());
    let mut body = open(&first, &ask("m1", "Go")).await;
    read_until(&mut body, "\"10 \"").await;
    let asked = Instant::now();
    let worker = agents(&other).await.pop().unwrap();
    let there = other.clone();
    let stopping = tokio::spawn(async move { stop(&there, &worker).await });
    // The agents above have nothing else to do.
    assert!(read_until(&mut body, "DONE").await.contains("Done."));
    assert!(asked.elapsed() <= Duration::from_millis(150), "{:?}", asked.elapsed());
    assert_eq!(stopping.await.unwrap(), r#"{"stopped":true}"#);
    assert_eq!(shown(&agents(&other).await)[2], ("worker", "cancelled"));
}

/// The journal has an agent before a client knows it.
#[tokio::test(start_paused = true)]
async fn an_agent_that_has_just_begun_is_stopped_elsewhere() {
    let store = MemoryStore::new();
    let (first, other) = (asking(store.clone(), stuck()), other(store.clone()));
    let mut body = open(&first, &ask("m1", "Go")).await;
    read_until(&mut body, "Half").await;
    let worker = agents(&first).await.pop().unwrap();
    assert!(agents(&other).await.contains(&worker));
    assert_eq!(stop(&other, &worker).await, r#"{"stopped":true}"#);
    assert_eq!(stop(&other, &json!({ "agentId": "nobody" })).await, r#"{"stopped":false}"#);
    assert!(read_until(&mut body, "DONE").await.contains("Done."));
}

#[tokio::test(start_paused = true)]
async fn without_a_store_only_the_process_of_a_run_stops_its_agents() {
    let model = ScriptedProvider::new().turn(call("worker", json!({ "task": "Work" }))).turn(text("Done."));
    let builder = Assistant::builder(model).agent(Agent::new("worker", "Works.").provider(stuck()));
    let assistant = builder.delegates(["worker"]).build().unwrap();
    let posted = json!({ "id": "c", "messages": [ask("m1", "Go")["message"]] });
    let mut body = open(&assistant, &posted).await;
    let begun = read_until(&mut body, "Half").await;
    let id = begun.split(r#""agentId":""#).nth(1).unwrap().split('"').next().unwrap();
    let worker = json!({ "agentId": id });
    let none = answer(&assistant, "ada", Method::GET, "/c/agents").await;
    assert_eq!(none.0, StatusCode::NOT_FOUND);
    assert_eq!(answer(&assistant, "bob", Method::POST, &format!("/c/agents/{id}/stop")).await, none);
    assert_eq!(stop(&assistant, &json!({ "agentId": "nobody" })).await, r#"{"stopped":false}"#);
    assert_eq!(stop(&assistant, &worker).await, r#"{"stopped":true}"#);
    assert!(read_until(&mut body, "DONE").await.contains("Done."));
}

#[test]
fn agents_of_a_run_that_was_given_up_are_cancelled() {
    let (store, reached) = (MemoryStore::new(), Arc::new(Notify::new()));
    begin_and_stop(asking(store.clone(), stuck_after("Half", &reached)), &reached);
    runtime().block_on(async {
        let other = Assistant::builder(ScriptedProvider::new()).store(store.clone());
        let other = other.recovery(Recovery::Interrupt).build().unwrap();
        assert_eq!(shown(&agents(&other).await)[2], ("worker", "running"));
        tokio::time::advance(Duration::from_secs(7)).await;
        let _service = AssistantService::new(other.clone());
        assert_eq!(settled(&store).await, RunState::Interrupted);
        let listed = agents(&other).await;
        assert_eq!(shown(&listed), [("lead", "cancelled"), ("idle", "completed"), ("worker", "cancelled")]);
        assert_eq!((&listed[2]["reason"], &listed[2]["task"]), (&json!("interrupted"), &json!("Work")));
    });
}

/// A form of another page cannot stop an agent.
#[tokio::test]
async fn a_stop_of_an_agent_is_no_form() {
    let mut request = Request::post("/c/agents/a/stop").header(header::CONTENT_TYPE, "text/plain");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<Bytes>::default()).unwrap();
    let response = AssistantService::new(other(MemoryStore::new())).handle(request).await;
    assert_eq!(response.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}
