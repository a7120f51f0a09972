//! A client that goes away stops its run.

use std::sync::Arc;
use std::time::Duration;

use actix_web::App;
use omniassist_actix::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, responses_sse, text};
use omniassist_actix::{Assistant, CancellationToken, Limits, OpenAiProvider, State, Tool, ToolError, scope};
use reqwest::Client;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, asking};
use crate::serving::{Served, serve_app};

#[derive(Clone, Default)]
struct Watch {
    started: Arc<Notify>,
    fired: Arc<Notify>,
}

async fn waits(State(watch): State<Watch>, token: CancellationToken) -> Result<u32, ToolError> {
    watch.started.notify_one();
    token.cancelled().await;
    watch.fired.notify_one();
    Ok(1)
}

fn serving(assistant: &Assistant, allow_half_closed: bool) -> Served {
    let assistant = assistant.clone();
    serve_app(move || App::new().service(scope("/assistant", assistant.clone())), allow_half_closed)
}

/// Comments that come so rarely that no test waits for one.
fn silent() -> Limits {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(3600);
    limits
}

fn talkative() -> Limits {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_millis(100);
    limits
}

#[actix_web::test]
async fn closes_the_providers_connection() {
    let provider = FakeProvider::start().await.unwrap();
    provider.reply(Reply::sse(responses_sse::text("so far")).stall_after(0));
    let model = OpenAiProvider::builder().base_url(provider.base_url()).api_key("k").build().unwrap();
    let assistant = Assistant::builder(model).allow_anonymous().limits(silent()).build().unwrap();
    let server = serving(&assistant, false);
    let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
    client.until(r#""type":"start""#).await;
    provider.request(1).await;
    drop(client);
    timeout(PATIENCE, provider.closed()).await.expect("the connection was closed");
    assert_eq!(assistant.live_runs(), 0);
}

#[actix_web::test]
async fn fires_the_tools_tokens() {
    for (allow_half_closed, limits) in [(false, silent()), (true, talkative())] {
        let watch = Watch::default();
        let assistant = Assistant::builder(ScriptedProvider::new().turn(call("waits", json!({}))))
            .allow_anonymous()
            .limits(limits)
            .state(watch.clone())
            .tool(Tool::new("waits", "Waits", waits))
            .build()
            .unwrap();
        let server = serving(&assistant, allow_half_closed);
        let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
        client.until("tool-input-available").await;
        watch.started.notified().await;
        drop(client);
        timeout(PATIENCE, watch.fired.notified()).await.expect("the token fired");
        assert_eq!(assistant.live_runs(), 0);
    }
}

/// Half-closed connections are allowed by default: only the second keep-alive comment finds that nobody is there.
#[actix_web::test]
async fn is_noticed_by_keep_alives_where_half_closed_connections_are_allowed() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(talkative()).build().unwrap();
    let server = serving(&assistant, true);
    let mut client = Raw::post(server.address, "/assistant", &asking("hi")).await;
    client.until("so far").await;
    drop(client);
    timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
    assert_eq!(assistant.live_runs(), 0);
}

#[actix_web::test]
async fn is_noticed_at_once_where_they_are_not_allowed() {
    for path in ["/assistant", "/assistant?protocol=text", "/assistant/completion?protocol=text"] {
        let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
        let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(silent()).build().unwrap();
        let server = serving(&assistant, false);
        let body = if path.contains("completion") { r#"{"prompt": "hi"}"#.to_owned() } else { asking("hi") };
        let mut client = Raw::post(server.address, path, &body).await;
        client.until("so far").await;
        drop(client);
        timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
        assert_eq!(assistant.live_runs(), 0, "{path}");
    }
}

/// Before the response has begun there is no body that could be dropped.
#[actix_web::test]
async fn is_noticed_before_the_first_word() {
    let model = ScriptedProvider::new().turn(Turn::pending());
    let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(silent()).build().unwrap();
    let server = serving(&assistant, false);
    let client = Raw::post(server.address, "/assistant?protocol=text", &asking("hi")).await;
    while model.payloads().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(client);
    timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
    assert_eq!(assistant.live_runs(), 0);
}

/// Actix looks for a reset only when it writes.
#[actix_web::test]
async fn is_noticed_by_a_keep_alive_over_http2() {
    let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
    let assistant = Assistant::builder(model.clone()).allow_anonymous().limits(talkative()).build().unwrap();
    let server = serving(&assistant, false);
    let http2 = Client::builder().http2_prior_knowledge().build().unwrap();
    let request = http2.post(format!("{}/assistant", server.base)).header("content-type", "application/json");
    let mut response = request.body(asking("hi")).send().await.unwrap();
    let mut seen = String::new();
    while !seen.contains("so far") {
        seen.push_str(std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
    }
    drop(response);
    timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
    assert_eq!(assistant.live_runs(), 0);
}
