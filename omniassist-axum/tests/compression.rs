//! Tests of streams behind a host's compression middleware. Each part must arrive as soon as it is written.

use std::time::Duration;

use axum::Router;
use axum::http::Response;
use omniassist_axum::testing::{ScriptedProvider, Turn};
use omniassist_axum::{Assistant, ObjectEndpoint};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use serde_json::{Value, json};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::Predicate;

use crate::serving::serve;

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Note {
    text: String,
}

/// The condition of a host that compresses everything, including event streams.
#[derive(Clone)]
struct Everything;

impl Predicate for Everything {
    fn should_compress<B>(&self, _: &Response<B>) -> bool {
        true
    }
}

/// Returns an application whose model sends a text and then nothing more.
fn app() -> Router {
    let model =
        ScriptedProvider::new().otherwise(|_| Turn::text("{\"text\": \"first words").then(Turn::pending()));
    let assistant = Assistant::builder(model)
        .allow_anonymous()
        .object(ObjectEndpoint::new::<Note>("note", "Write a note."))
        .build();
    Router::new().nest_service("/assistant", omniassist_axum::router(assistant.unwrap()))
}

/// Returns every kind of stream: its path, the request body and the accepted type.
fn streams() -> Vec<(&'static str, Value, &'static str)> {
    let message = || json!({"id": "m1", "role": "user", "content": "hi"});
    let chat = json!({"messages": [message()]});
    let run = json!({"threadId": "t", "runId": "r", "messages": [message()]});
    let completion =
        json!({"model": "omniassist", "stream": true, "messages": [{"role": "user", "content": "hi"}]});
    vec![
        ("", chat.clone(), "text/event-stream"),
        ("", chat.clone(), "application/x-ndjson"),
        ("/?protocol=text", chat, "*/*"),
        ("/completion", json!({"prompt": "hi"}), "*/*"),
        ("/completion?protocol=text", json!({"prompt": "hi"}), "*/*"),
        ("/object", json!("hi"), "*/*"),
        ("/ag-ui", run.clone(), "text/event-stream"),
        ("/copilotkit/agent/default/run", run, "text/event-stream"),
        ("/v1/chat/completions", completion, "*/*"),
    ]
}

#[tokio::test]
async fn streams_arrive_as_they_are_written() {
    let layers = [
        serve(app().layer(CompressionLayer::new())).await,
        serve(app().layer(CompressionLayer::new().compress_when(Everything))).await,
    ];
    let client = reqwest::Client::builder().no_gzip().build().unwrap();
    for base in layers {
        // The layer is active.
        let manifest = format!("{base}/assistant/manifest.json");
        let manifest = client.get(manifest).header(ACCEPT_ENCODING, "gzip").send().await.unwrap();
        assert_eq!(manifest.headers()[CONTENT_ENCODING], "gzip");
        for (path, body, accept) in streams() {
            let request = client.post(format!("{base}/assistant{path}")).header(ACCEPT, accept);
            let request =
                request.header(ACCEPT_ENCODING, "gzip, deflate, br").header(CONTENT_TYPE, "application/json");
            let mut response = request.body(body.to_string()).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            let read = async {
                let mut seen = Vec::new();
                while let Some(chunk) = response.chunk().await.unwrap() {
                    seen.extend_from_slice(&chunk);
                    if String::from_utf8_lossy(&seen).contains("first words") {
                        return true;
                    }
                }
                false
            };
            let arrived = tokio::time::timeout(Duration::from_secs(10), read).await;
            assert_eq!(arrived, Ok(true), "{path} as {accept} is held back");
            assert!(response.headers().get(CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity"));
        }
    }
}
