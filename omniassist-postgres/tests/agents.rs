//! Trees of agents, and agents that runs ask, at two servers on one database. Contract A.5, 31.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_postgres::PostgresStore;
use omniassist_server::agents::Explore;
use omniassist_server::http::{AssistantBody, AssistantService, SocketUpgrade};
use omniassist_server::store::{RunState, RunStore, Scope, Which};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Agent, Assistant, Principal};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::database::{connect, connect_at, new_schema, shared};

/// The variables with the database, for the process that is killed.
const URL: &str = "OMNIASSIST_POSTGRES_TEST_URL";
const SCHEMA: &str = "OMNIASSIST_POSTGRES_TEST_SCHEMA";

type Socket = WebSocketStream<DuplexStream>;

/// Returns a model that divides its task in two parts, of which one ends. The other one and the root write and then wait.
fn exploring() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|payload| {
        let prompt = format!("{:?}", payload.transcript);
        match payload.options.response_schema {
            Some(_) if prompt.contains("Compare lamps") => {
                text(r#"{"questions":["Price now?","Price then?"]}"#)
            }
            Some(_) => text(r#"{"questions":[]}"#),
            None if prompt.contains("Price then?") => text("Ten euros."),
            None => text("begun").then(Turn::pending()),
        }
    })
}

async fn server(schema: &str, model: ScriptedProvider) -> (Assistant, PostgresStore) {
    serve(connect(schema).await, model).await
}

async fn serve(store: PostgresStore, model: ScriptedProvider) -> (Assistant, PostgresStore) {
    let worker = ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()));
    let builder = Assistant::builder(model).store(store.clone()).explore(Explore::new().asks(false));
    let builder = builder.agent(Agent::new("worker", "Works.").provider(worker)).delegates(["worker"]);
    let assistant = builder.build().unwrap();
    // Its lease begins.
    let _service = AssistantService::new(assistant.clone());
    (assistant, store)
}

async fn answer(
    assistant: &Assistant,
    user: &str,
    request: http::request::Builder,
    body: &str,
) -> http::Response<AssistantBody> {
    let request = request.extension(Principal::new(user)).body(Full::<Bytes>::from(body.to_owned())).unwrap();
    AssistantService::new(assistant.clone()).handle(request).await
}

async fn send(assistant: &Assistant, user: &str, method: Method, path: &str) -> (StatusCode, String) {
    let response = answer(assistant, user, Request::builder().method(method).uri(path), "").await;
    let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
    (status, String::from_utf8(body.into()).unwrap())
}

async fn open(assistant: &Assistant, user: &str, path: &str) -> Socket {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let request = Request::get(path)
        .header("host", "localhost")
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
        .extension(SocketUpgrade::new(theirs));
    assert_eq!(answer(assistant, user, request, "").await.status(), StatusCode::SWITCHING_PROTOCOLS);
    WebSocketStream::from_raw_socket(ours, Role::Client, None).await
}

async fn next(socket: &mut Socket) -> String {
    loop {
        let next = timeout(Duration::from_secs(60), socket.next()).await.unwrap();
        if let Message::Text(text) = next.unwrap().unwrap() {
            return text.to_string();
        }
    }
}

async fn until(socket: &mut Socket, end: &str) -> Vec<String> {
    let mut frames = vec![next(socket).await];
    while !frames.last().is_some_and(|frame| frame.contains(end)) {
        frames.push(next(socket).await);
    }
    frames
}

async fn tree(socket: &mut Socket) -> Vec<String> {
    socket.send(Message::text(r#"{"type":"get-agent-tree"}"#)).await.unwrap();
    let mut frames = until(socket, r#""type":"agent-tree""#).await;
    let last: Value = serde_json::from_str(frames.last().unwrap()).unwrap();
    // Changes may come before the answer.
    frames.split_off(frames.len() - 1 - last["agentIds"].as_array().unwrap().len())
}

/// Waits until the tree of a connection is the same as before.
async fn settled_tree(socket: &mut Socket, wanted: &[String]) {
    let until = Instant::now() + Duration::from_secs(20);
    let mut shown = tree(socket).await;
    while shown != wanted && Instant::now() < until {
        sleep(Duration::from_millis(150)).await;
        shown = tree(socket).await;
    }
    assert_eq!(shown, wanted);
}

/// Begins a tree in the chat `c`, and waits until one part has answered and the others have written.
async fn begin(assistant: &Assistant) -> Socket {
    let mut socket = open(assistant, "ada", "/ws?chat=c").await;
    socket.send(Message::text(r#"{"type":"start-agent","prompt":"Compare lamps"}"#)).await.unwrap();
    until(&mut socket, "begun").await;
    while statuses(&tree(&mut socket).await) != ["running", "running", "completed"] {
        sleep(Duration::from_millis(150)).await;
    }
    socket
}

fn statuses(tree: &[String]) -> Vec<String> {
    let values = tree.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    values.filter_map(|frame| frame["state"]["status"].as_str().map(str::to_owned)).collect()
}

fn id(frame: &str) -> String {
    serde_json::from_str::<Value>(frame).unwrap()["agentId"].as_str().unwrap().to_owned()
}

async fn wait_for(store: &PostgresStore, wanted: RunState) {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let head = store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().unwrap();
        if head.state == wanted {
            return;
        }
        assert!(Instant::now() < until, "{:?}", head.state);
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a5_31_two_servers_have_one_tree_and_stop_it() {
    let schema = new_schema();
    let (owner, store) = server(&schema, exploring()).await;
    let (other, _) = server(&schema, ScriptedProvider::new()).await;
    let mut here = begin(&owner).await;
    let mut there = open(&other, "ada", "/ws?chat=c").await;
    let shown = tree(&mut here).await;
    settled_tree(&mut there, &shown).await;
    let listed = send(&owner, "ada", Method::GET, "/c/agents").await;
    assert_eq!(send(&other, "ada", Method::GET, "/c/agents").await, listed);

    let none = send(&other, "bob", Method::GET, "/none/agents").await;
    assert_eq!(
        (none.0, send(&other, "bob", Method::GET, "/c/agents").await),
        (StatusCode::NOT_FOUND, none.clone())
    );
    let stop = format!("/c/agents/{}/stop", id(&shown[1]));
    assert_eq!(send(&other, "bob", Method::POST, &stop).await, none);
    assert_eq!(tree(&mut open(&other, "bob", "/ws?chat=c").await).await.len(), 1);

    // One agent, then the whole.
    assert_eq!(send(&other, "ada", Method::POST, &stop).await.1, r#"{"stopped":true}"#);
    let cancelled = until(&mut here, r#""status":"cancelled""#).await.pop().unwrap();
    assert_eq!(id(&cancelled), id(&shown[1]));
    let shown = tree(&mut here).await;
    assert_eq!(statuses(&shown), ["running", "cancelled", "completed"]);
    settled_tree(&mut there, &shown).await;
    assert_eq!(send(&other, "ada", Method::POST, "/c/stop").await.1, r#"{"state":"stopped","stopped":true}"#);
    wait_for(&store, RunState::Stopped).await;
    let shown = tree(&mut here).await;
    assert_eq!(statuses(&shown), ["cancelled", "cancelled", "completed"]);
    settled_tree(&mut there, &shown).await;
}

/// The server of the tree is another process, which is killed: this binary starts itself, and runs only this test then.
#[tokio::test(flavor = "multi_thread")]
async fn a5_31_the_tree_of_a_killed_server_is_interrupted_and_stays_readable() {
    if let (Ok(url), Ok(schema)) = (env::var(URL), env::var(SCHEMA)) {
        let (owner, _) = serve(connect_at(&url, &schema).await, exploring()).await;
        let mut socket = begin(&owner).await;
        loop {
            next(&mut socket).await;
        }
    }
    let schema = new_schema();
    let unused = ScriptedProvider::new();
    let (other, store) = server(&schema, unused.clone()).await;
    let mut killed = Command::new(env::current_exe().unwrap())
        .args(["--exact", "agents::a5_31_the_tree_of_a_killed_server_is_interrupted_and_stays_readable"])
        .envs([(URL, shared()), (SCHEMA, &schema)])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut there = open(&other, "ada", "/ws?chat=c").await;
    let mut shown = tree(&mut there).await;
    let until = Instant::now() + Duration::from_secs(60);
    while statuses(&shown) != ["running", "running", "completed"] {
        assert!(Instant::now() < until, "{shown:?}");
        sleep(Duration::from_millis(50)).await;
        shown = tree(&mut there).await;
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let ended = Instant::now();
    wait_for(&store, RunState::Interrupted).await;
    assert!(ended.elapsed() < Duration::from_secs(20), "{:?}", ended.elapsed());
    let left: Vec<_> =
        shown.iter().map(|frame| frame.replace(r#""status":"running""#, r#""status":"cancelled""#)).collect();
    assert_eq!(tree(&mut there).await, left);
    let listed = send(&other, "ada", Method::GET, "/c/agents").await.1;
    assert_eq!(listed.matches(r#""reason":"interrupted""#).count(), 2, "{listed}");
    assert!(unused.payloads().is_empty(), "nobody goes on with it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a5_31_two_servers_list_the_agents_of_a_run_and_stop_one() {
    let schema = new_schema();
    let model = ScriptedProvider::new().turn(call("worker", json!({ "task": "Work" }))).turn(text("Done."));
    let (owner, store) = server(&schema, model).await;
    let (other, _) = server(&schema, ScriptedProvider::new()).await;
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Go" }] });
    let body = json!({ "id": "c", "message": message }).to_string();
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let response = answer(&owner, "ada", request, &body).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = tokio::spawn(response.into_body().collect());
    let has_worker = |listed: &str| listed.contains(r#""status":"running""#);
    let mut listed = send(&other, "ada", Method::GET, "/c/agents").await;
    while !has_worker(&listed.1) {
        sleep(Duration::from_millis(20)).await;
        listed = send(&other, "ada", Method::GET, "/c/agents").await;
    }
    assert_eq!(send(&owner, "ada", Method::GET, "/c/agents").await, listed);
    let agents: Value = serde_json::from_str(&listed.1).unwrap();
    let stop = format!("/c/agents/{}/stop", agents["agents"][0]["agentId"].as_str().unwrap());
    let foreign = send(&other, "bob", Method::POST, &stop).await;
    assert_eq!(foreign, send(&other, "bob", Method::POST, "/none/agents/a/stop").await);
    assert_eq!(foreign.0, StatusCode::NOT_FOUND);

    let asked = Instant::now();
    assert_eq!(send(&other, "ada", Method::POST, &stop).await.1, r#"{"stopped":true}"#);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let answer = body.await.unwrap().unwrap().to_bytes();
    let answer = str::from_utf8(&answer).unwrap();
    assert!(answer.contains("Done.") && answer.contains(r#""status":"cancelled""#), "{answer}");
    wait_for(&store, RunState::Finished).await;
    let ended = send(&other, "ada", Method::GET, "/c/agents").await;
    assert!(ended.1.contains(r#""status":"cancelled""#), "{ended:?}");
    assert_eq!(send(&owner, "ada", Method::GET, "/c/agents").await, ended);
}
