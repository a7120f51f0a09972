//! The task list of each backend, and its assistant.

use std::fs;
use std::time::Duration;

use omniassist_server::testing::{FakeProvider, Reply, responses_sse};
use omniassist_server::widget;
use reqwest::{Client, ClientBuilder, StatusCode};
use serde_json::{Value, json};

use crate::backend::Backend;

/// Tests the task list of a backend, and its assistant for a signed-in user.
///
/// # Panics
///
/// Panics if an answer is wrong.
pub fn behaves(binary: &str) {
    crate::in_time(async {
        the_task_list_is_unchanged(&Host::start(binary, Client::builder()).await).await;
        the_assistant_acts_for_the_signed_in_user(&Host::start(binary, Client::builder()).await).await;
        anonymous_requests_are_refused(&Host::start(binary, Client::builder()).await).await;
        the_model_receives_the_error_of_a_tool(&Host::start(binary, Client::builder()).await).await;
        the_widget_is_served_as_it_was_built(&Host::start(binary, Client::builder().no_gzip()).await).await;
    });
}

/// Tests the assistant over HTTP/2 without TLS.
///
/// # Panics
///
/// Panics if an answer is wrong.
pub fn speaks_http2(binary: &str) {
    crate::in_time(async {
        let client = Client::builder().http2_prior_knowledge();
        the_assistant_acts_for_the_signed_in_user(&Host::start(binary, client).await).await;
    });
}

/// Tests a backend that compresses its responses. Words must still arrive as soon as the model sends them, and a client
/// that disconnects must stop its run.
///
/// # Panics
///
/// Panics if the stream is compressed, delayed or not stopped.
pub fn holds_nothing_back(binary: &str) {
    crate::in_time(async {
        let host = Host::start(binary, Client::builder().no_gzip()).await;
        let answer = responses_sse::text("so far").into_bytes();
        let said = memchr::memmem::find(&answer, b"event: response.output_text.done").unwrap();
        host.model.reply(Reply::sse(answer).stall_after(said));
        let post = host.request("POST", "/assistant", "a-token").header("accept-encoding", "gzip");
        let mut response = post.body(says("hi").to_string()).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_ne!(response.headers()["content-encoding"], "gzip");
        let mut seen = Vec::new();
        while memchr::memmem::find(&seen, b"so far").is_none() {
            seen.extend_from_slice(&response.chunk().await.unwrap().unwrap());
        }
        drop(response);
        host.model.closed().await;

        let manifest = host.request("GET", "/assistant/manifest.json", "a-token");
        let manifest = manifest.header("accept-encoding", "gzip").send().await.unwrap();
        assert_eq!(manifest.headers()["content-encoding"], "gzip");
    });
}

/// A backend with two users and a scripted model.
struct Host {
    backend: Backend,
    model: FakeProvider,
    client: Client,
}

impl Host {
    async fn start(binary: &str, client: ClientBuilder) -> Self {
        let model = FakeProvider::start().await.unwrap();
        let users = "ann=a-token,bo=b-token";
        let backend = Backend::start(binary, &model.base_url(), users, Duration::from_secs(1)).await;
        Self { backend, model, client: client.no_proxy().build().unwrap() }
    }

    fn request(&self, method: &str, path: &str, token: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.backend.address);
        let request = self.client.request(method.parse().unwrap(), url);
        request.bearer_auth(token).header("content-type", "application/json")
    }

    async fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> (StatusCode, String) {
        let response = self.request(method, path, token).body(body.to_string()).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }
}

fn says(content: &str) -> Value {
    json!({ "messages": [{ "id": "m1", "role": "user", "content": content }] })
}

async fn the_task_list_is_unchanged(host: &Host) {
    assert_eq!(host.ask("GET", "/health", "", json!(null)).await, (StatusCode::OK, "well".to_owned()));
    let (status, problem) = host.ask("GET", "/tasks", "x", json!(null)).await;
    assert_eq!((status, problem.as_str()), (StatusCode::UNAUTHORIZED, r#"{"error":"Please sign in."}"#));
    let (status, _) = host.ask("POST", "/tasks", "a-token", json!({ "title": "Water the plants" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, _) = host.ask("POST", "/tasks", "a-token", json!({ "title": "" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, task) = host.ask("POST", "/tasks/1/done", "a-token", json!(null)).await;
    assert_eq!((status, task.contains(r#""done":true"#)), (StatusCode::OK, true));
    assert_eq!(host.ask("POST", "/tasks/1/done", "b-token", json!(null)).await.0, StatusCode::NOT_FOUND);
}

async fn the_assistant_acts_for_the_signed_in_user(host: &Host) {
    host.model
        .reply(Reply::sse(responses_sse::call("c1", "add_task", json!({ "title": "Call the bank" }))))
        .reply(Reply::sse(responses_sse::text("Noted.")));
    let (status, answer) = host.ask("POST", "/assistant", "a-token", says("Remind me of the bank")).await;
    assert!(status == StatusCode::OK && answer.contains("Noted."), "{answer}");
    let asked = host.model.request(1).await.json();
    assert!(asked["instructions"].as_str().unwrap().contains("ann"), "{asked}");
    let list = |token| host.ask("GET", "/tasks", token, json!(null));
    assert!(list("a-token").await.1.contains("Call the bank"));
    assert_eq!(list("b-token").await.1, "[]");
}

async fn anonymous_requests_are_refused(host: &Host) {
    for path in ["/assistant", "/assistant/", "/assistant/manifest.json"] {
        let (status, _) = host.ask("POST", path, "x", says("hi")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert!(host.model.requests().is_empty());
}

async fn the_model_receives_the_error_of_a_tool(host: &Host) {
    host.model
        .reply(Reply::sse(responses_sse::call("c1", "add_task", json!({ "title": "" }))))
        .reply(Reply::sse(responses_sse::text("It needs a title.")));
    let (_, answer) = host.ask("POST", "/assistant", "a-token", says("Add an empty task")).await;
    assert!(answer.contains("A title has 1 to 200 characters."), "{answer}");
    let told = host.model.request(2).await.json().to_string();
    assert!(told.contains("A title has 1 to 200 characters."), "{told}");
}

/// The backends refuse every request without a user, also this one. Their own compression leaves the modules alone.
async fn the_widget_is_served_as_it_was_built(host: &Host) {
    let tag = widget::tag("/assistant");
    let path = tag.rsplit_once("src=\"").unwrap().1.split('"').next().unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../omniassist-server/assets/widget");
    let built = format!("{folder}/widget-{}.js", path.split('/').nth_back(1).unwrap());
    let get = |path: &str| host.request("GET", path, "a-token");
    let loader = get("/assistant/widget.js").send().await.unwrap().text().await.unwrap();
    assert!(loader.contains(path.strip_prefix("/assistant/").unwrap()), "{loader}");
    for (accepted, coding, ending) in
        [("gzip, br", Some("br"), ".br"), ("gzip", Some("gzip"), ".gz"), ("identity", None, "")]
    {
        let module = get(path).header("accept-encoding", accepted).send().await.unwrap();
        let header = |name: &str| module.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-encoding").as_deref(), coding, "{accepted}");
        assert_eq!(header("cache-control").as_deref(), Some("public, max-age=31536000, immutable"));
        let known =
            get(path).header("accept-encoding", accepted).header("if-none-match", header("etag").unwrap());
        assert_eq!(
            module.bytes().await.unwrap(),
            fs::read(format!("{built}{ending}")).unwrap(),
            "{accepted}"
        );
        assert_eq!(known.send().await.unwrap().status(), StatusCode::NOT_MODIFIED, "{accepted}");
    }
}
