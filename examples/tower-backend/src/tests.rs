use std::time::Duration;

use omniassist_hyper::testing::{ScriptedProvider, Turn, call, text};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tasks::{Tasks, Users};
use tokio::net::TcpListener;

use crate::{app, assistant, serve};

struct Backend {
    base: String,
    client: Client,
    model: ScriptedProvider,
}

impl Backend {
    async fn new(model: ScriptedProvider) -> Self {
        let client = Client::builder().no_gzip().build().unwrap();
        let (tasks, users) = (Tasks::new(), Users::parse("ann=a-token,bo=b-token"));
        let assistant = assistant::assistant(model.clone(), tasks.clone()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(serve(listener, app::service(tasks, users, assistant)));
        Self { base, client, model }
    }

    async fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> (StatusCode, String) {
        let request = self.client.request(method.parse().unwrap(), format!("{}{path}", self.base));
        let request = request.bearer_auth(token).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }
}

fn says(content: &str) -> Value {
    json!({ "messages": [{ "id": "m1", "role": "user", "content": content }] })
}

#[tokio::test]
async fn the_backend_does_what_it_did() {
    let backend = Backend::new(ScriptedProvider::new()).await;
    assert_eq!(backend.ask("GET", "/health", "", json!(null)).await, (StatusCode::OK, "well".to_owned()));
    let (status, problem) = backend.ask("GET", "/tasks", "x", json!(null)).await;
    assert_eq!((status, problem.as_str()), (StatusCode::UNAUTHORIZED, r#"{"error":"Please sign in."}"#));
    let (status, _) = backend.ask("POST", "/tasks", "a-token", json!({ "title": "Water the plants" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, _) = backend.ask("POST", "/tasks", "a-token", json!({ "title": "" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, task) = backend.ask("POST", "/tasks/1/done", "a-token", json!(null)).await;
    assert_eq!((status, task.contains(r#""done":true"#)), (StatusCode::OK, true));
    assert_eq!(backend.ask("POST", "/tasks/1/done", "b-token", json!(null)).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_assistant_works_on_the_list_of_who_is_signed_in() {
    let model = ScriptedProvider::new()
        .turn(call("add_task", json!({ "title": "Call the bank" })))
        .turn(text("Noted."));
    let backend = Backend::new(model).await;
    let (status, answer) = backend.ask("POST", "/assistant", "a-token", says("Remind me of the bank")).await;
    assert!(status == StatusCode::OK && answer.contains("Noted."), "{answer}");
    assert!(backend.model.payloads()[0].system.as_deref().unwrap().contains("ann"));
    let list = |token| backend.ask("GET", "/tasks", token, json!(null));
    assert!(list("a-token").await.1.contains("Call the bank"));
    assert_eq!(list("b-token").await.1, "[]");
}

#[tokio::test]
async fn who_is_not_signed_in_has_no_assistant() {
    let backend = Backend::new(ScriptedProvider::new()).await;
    for path in ["/assistant", "/assistant/", "/assistant/manifest.json"] {
        let (status, _) = backend.ask("POST", path, "x", says("hi")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert!(backend.model.payloads().is_empty());
}

#[tokio::test]
async fn what_a_tool_refuses_the_model_is_told() {
    let model = ScriptedProvider::new()
        .turn(call("add_task", json!({ "title": "" })))
        .turn(text("It needs a title."));
    let backend = Backend::new(model).await;
    let (_, answer) = backend.ask("POST", "/assistant", "a-token", says("Add an empty task")).await;
    assert!(answer.contains("A title has 1 to 200 characters."), "{answer}");
}

/// What the layers lie between: words arrive as they are said though the host compresses what it can, and a client
/// that leaves stops the run.
#[tokio::test]
async fn layers_hold_nothing_back() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let backend = Backend::new(model).await;
    let post = backend.client.post(format!("{}/assistant", backend.base)).bearer_auth("a-token");
    let post = post.header("content-type", "application/json").header("accept-encoding", "gzip");
    let mut response = post.body(says("hi").to_string()).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_ne!(response.headers()["content-encoding"], "gzip");
    let mut seen = String::new();
    while !seen.contains("so far") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    drop(response);
    tokio::time::timeout(Duration::from_secs(20), backend.model.dropped())
        .await
        .expect("the run was dropped");

    let manifest = backend.client.get(format!("{}/assistant/manifest.json", backend.base));
    let manifest = manifest.bearer_auth("a-token").header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!(manifest.headers()["content-encoding"], "gzip");
}
