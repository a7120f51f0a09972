//! A client that goes away stops its run, though nothing is written meanwhile.

use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use omniassist_hyper::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, responses_sse, text};
use omniassist_hyper::{
    Assistant, AssistantBuilder, CancellationToken, Limits, OpenAiProvider, State, Tool, ToolError, nest,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::{PATIENCE, ask, asking, post, until, versions};
use crate::serving::{own, serve};

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

/// Where to ask an assistant whose comments come so rarely that no test waits for one.
async fn serving(assistant: AssistantBuilder) -> (String, Assistant) {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(3600);
    let assistant = assistant.limits(limits).build().unwrap();
    let server = serve(nest("/assistant", assistant.clone(), service_fn(own))).await;
    (format!("{}/assistant", server.base), assistant)
}

#[tokio::test]
async fn closes_the_providers_connection() {
    for client in versions() {
        let provider = FakeProvider::start().await.unwrap();
        provider.reply(Reply::sse(responses_sse::text("so far")).stall_after(0));
        let model = OpenAiProvider::builder().base_url(provider.base_url()).api_key("k").build().unwrap();
        let (url, assistant) = serving(Assistant::builder(model).allow_anonymous()).await;
        let mut response = ask(&client, &url).await;
        until(&mut response, r#""type":"start""#).await;
        provider.request(1).await;
        drop((response, client));
        timeout(PATIENCE, provider.closed()).await.expect("the connection was closed");
        assert_eq!(assistant.live_runs(), 0);
    }
}

#[tokio::test]
async fn fires_the_tools_tokens() {
    for client in versions() {
        let watch = Watch::default();
        let assistant = Assistant::builder(ScriptedProvider::new().turn(call("waits", json!({}))))
            .allow_anonymous()
            .state(watch.clone())
            .tool(Tool::new("waits", "Waits", waits));
        let (url, assistant) = serving(assistant).await;
        let mut response = ask(&client, &url).await;
        until(&mut response, "tool-input-available").await;
        watch.started.notified().await;
        drop((response, client));
        timeout(PATIENCE, watch.fired.notified()).await.expect("the token fired");
        assert_eq!(assistant.live_runs(), 0);
    }
}

#[tokio::test]
async fn is_noticed_in_the_middle_of_text_in_every_format() {
    for client in versions() {
        for query in ["", "?protocol=text"] {
            let model = ScriptedProvider::new().turn(text("so far").then(Turn::pending()));
            let (url, assistant) = serving(Assistant::builder(model.clone()).allow_anonymous()).await;
            let mut response = ask(&client, &format!("{url}{query}")).await;
            until(&mut response, "so far").await;
            drop(response);
            timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
            assert_eq!(assistant.live_runs(), 0);
        }
    }
}

/// Before the response has begun there is no body that could be dropped.
#[tokio::test]
async fn is_noticed_before_the_first_word() {
    for client in versions() {
        let model = ScriptedProvider::new().turn(Turn::pending());
        let (url, assistant) = serving(Assistant::builder(model.clone()).allow_anonymous()).await;
        let url = format!("{url}?protocol=text");
        let asked = tokio::spawn(async move { post(&client, &url, asking("hi")).await });
        while model.payloads().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        asked.abort();
        timeout(PATIENCE, model.dropped()).await.expect("the run was dropped");
        assert_eq!(assistant.live_runs(), 0);
    }
}
