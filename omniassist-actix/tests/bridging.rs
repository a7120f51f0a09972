//! Tests of an agent runtime that a handler of the application serves.

use std::sync::Arc;

use actix_web::dev::Service;
use actix_web::{App, HttpMessage, Responder, web};
use futures_util::{StreamExt, stream};
use omniassist_actix::BoxError;
use omniassist_actix::bridge::{AgentEvents, AgentRuntime, Bridge, BridgeRun, Reconnected};
use omniassist_actix::core::bridge::{AgentCommand, AgentEvent, BridgeOptions};
use omniassist_actix::{BridgedRequest, BridgedResponse, Principal};
use reqwest::{Client, StatusCode};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::{PATIENCE, Raw, asking, chunks, json as read, post};
use crate::serving::{Served, serve_app};

/// A runtime that answers with the user and the message. After the message `wait`, its answer does not end.
#[derive(Clone, Default)]
struct Parrot {
    left: Arc<Notify>,
}

struct Leaving(Arc<Notify>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Parrot {
    fn says(&self, text: &str, waits: bool) -> AgentEvents {
        let delta = json!({"type": "agent:text:delta", "runId": "r1", "nodeId": "n1", "content": text});
        let complete = r#"{"type": "agent:complete", "runId": "r1", "nodeId": "n1"}"#.to_owned();
        let said = AgentEvent::parse(delta.to_string());
        if waits {
            let leaving = Leaving(Arc::clone(&self.left));
            let events = stream::iter([said]).chain(stream::pending());
            return Box::pin(events.inspect(move |_| _ = &leaving));
        }
        Box::pin(stream::iter([said, AgentEvent::parse(complete)]))
    }
}

impl AgentRuntime for Parrot {
    fn subscribe(&self, run: &BridgeRun) -> AgentEvents {
        let asked = run.request.messages.last().unwrap().text();
        self.says(&format!("{} says {asked}", run.principal()), asked == "wait")
    }

    fn dispatch(&self, _run: &BridgeRun, _command: AgentCommand) -> Result<(), BoxError> {
        Ok(())
    }

    fn reconnect(&self, chat_id: &str, extensions: &http::Extensions) -> Option<Reconnected> {
        let who = extensions.get::<Principal>()?;
        Some(Reconnected {
            message_id: "m7".into(),
            events: self.says(&format!("{who} is back in {chat_id}"), false),
        })
    }
}

async fn chat(transport: web::Data<Bridge>, request: BridgedRequest) -> impl Responder {
    BridgedResponse(match transport.read(request.0).await {
        Ok(posted) => transport.respond(posted),
        Err(refusal) => refusal,
    })
}

async fn resume(
    transport: web::Data<Bridge>,
    chat_id: web::Path<String>,
    request: BridgedRequest,
) -> impl Responder {
    BridgedResponse(transport.respond_reconnect(&chat_id, request.0.extensions()))
}

/// Serves the runtime to ada, or to anonymous users.
fn serving(parrot: &Parrot, signed_in: bool) -> Served {
    let transport = Bridge::new(parrot.clone(), BridgeOptions::new());
    let app = move || {
        App::new()
            .app_data(web::Data::new(transport.clone()))
            // Actix's own limits apply only to its own extractors.
            .app_data(web::PayloadConfig::new(1))
            .route("/chat", web::post().to(chat))
            .route("/chat/{chat_id}/stream", web::get().to(resume))
            .wrap_fn(move |request, next| {
                if signed_in {
                    request.extensions_mut().insert(Principal::new("ada"));
                }
                next.call(request)
            })
    };
    serve_app(app, false)
}

fn said(chunks: &[serde_json::Value]) -> &str {
    let delta = chunks.iter().find(|chunk| chunk["type"] == "text-delta");
    delta.unwrap_or_else(|| panic!("a text: {chunks:?}"))["delta"].as_str().unwrap()
}

#[actix_web::test]
async fn a_runtime_receives_the_message_and_the_user() {
    let server = serving(&Parrot::default(), true);
    let url = format!("{}/chat", server.base);
    let response = post(&url, asking("hi")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let answer = chunks(response).await;
    assert_eq!(said(&answer), "ada says hi");
    assert_eq!(answer.last().unwrap()["type"], "finish");
}

#[actix_web::test]
async fn a_client_reconnects_to_a_chat() {
    let asked = async |signed_in: bool| {
        let server = serving(&Parrot::default(), signed_in);
        reqwest::get(format!("{}/chat/c-1/stream", server.base)).await.unwrap()
    };
    assert_eq!(said(&chunks(asked(true).await).await), "ada is back in c-1");
    assert_eq!(asked(false).await.status(), StatusCode::NO_CONTENT);
}

#[actix_web::test]
async fn malformed_conversations_are_refused() {
    let server = serving(&Parrot::default(), true);
    let url = format!("{}/chat", server.base);
    let response = post(&url, "{".into()).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert!(read(response).await["error"]["code"].is_string());
    let form = Client::new().post(&url).header("content-type", "text/plain").body(asking("hi"));
    assert_eq!(form.send().await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[actix_web::test]
async fn http_1_0_gets_a_body_that_ends_with_its_connection() {
    let server = serving(&Parrot::default(), true);
    let answer = Raw::post_1_0(server.address, "/chat", "", &asking("hi")).await.end().await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(!head.to_lowercase().contains("chunked"), "{head}");
    assert!(body.starts_with("id: 0\ndata: ") && body.ends_with("data: [DONE]\n\n"), "{body}");
}

#[actix_web::test]
async fn a_disconnect_ends_the_subscription() {
    let parrot = Parrot::default();
    let server = serving(&parrot, true);
    let mut client = Raw::post(server.address, "/chat", &asking("wait")).await;
    client.until("ada says wait").await;
    drop(client);
    timeout(PATIENCE, parrot.left.notified()).await.expect("the subscription ends");
}
