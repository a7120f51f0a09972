//! Questions of servers in a tree of agents, answered over its WebSocket.

use std::time::{Duration, Instant};

use axum::Router;
use futures_util::{SinkExt, StreamExt};
use omniassist_mcp::client::McpServer;
use omniassist_server::agents::Explore;
use omniassist_server::core::TranscriptItem;
use omniassist_server::store::MemoryStore;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, AssistantBuilder, AuthRequest, Principal};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::official::everything;
use super::{Desk, open, stdio_server};

/// Sets the program of a desk that serves WebSockets. The work of an agent is a call of the tool that its task names, and then
/// the text of the result.
fn tree(builder: AssistantBuilder) -> AssistantBuilder {
    let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.last().unwrap() {
        TranscriptItem::Result(result) => text(serde_json::to_string(result).unwrap()),
        TranscriptItem::User { content } if payload.options.response_schema.is_none() => {
            let said = serde_json::to_value(content).unwrap();
            call(said[0]["text"].as_str().unwrap().split("Task:\n").nth(1).unwrap().to_owned(), json!({}))
        }
        _ => text(r#"{"questions": []}"#),
    });
    let user = |request: AuthRequest| async move {
        let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
        Ok(user.map(Principal::new))
    };
    builder.provider(model).authenticate(user).explore(Explore::new().asks(false).sub_questions(0))
}

/// A page.
struct Page(WebSocketStream<TcpStream>);

impl Page {
    /// Serves an assistant, and opens the socket of the chat `c`.
    async fn open(assistant: &Assistant) -> Self {
        let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant.clone()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        let mut request = format!("ws://{address}/assistant/ws?chat=c").into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("x-user", "ann".parse().unwrap());
        headers.insert("sec-websocket-protocol", "omniassist.agents.v1".parse().unwrap());
        let stream = TcpStream::connect(address).await.unwrap();
        Self(client_async(request, stream).await.unwrap().0)
    }

    async fn send(&mut self, frame: Value) {
        self.0.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// Returns the next frame of this type.
    async fn next(&mut self, kind: &str) -> Value {
        let next = async {
            loop {
                let Some(Ok(message)) = self.0.next().await else { panic!("the socket was closed") };
                let Message::Text(text) = message else { continue };
                let frame: Value = serde_json::from_str(&text).unwrap();
                assert!(kind == "error" || frame["type"] != "error", "{frame}");
                if frame["type"] == kind {
                    return frame;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), next).await.expect("a frame in time")
    }

    async fn ask(&mut self, tool: &str) -> Value {
        self.send(json!({ "type": "start-agent", "prompt": tool })).await;
        self.next("user-query").await
    }

    /// Answers a question about a call.
    async fn answer(&mut self, asked: &Value, output: Value) {
        let (agent, query) = (&asked["agentId"], &asked["queryId"]);
        let frame = json!({
            "type": "call-response", "agentId": agent, "queryId": query, "approved": true, "output": output,
        });
        self.send(frame).await;
    }

    /// Returns the answer of the root: what its model read of the call.
    async fn told(&mut self) -> String {
        self.next("agent-completed").await["result"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn the_form_of_the_official_server_is_answered_over_the_socket_and_on_another_server() {
    let (script, node) = everything();
    let mut command = std::process::Command::new(node);
    command.arg(script).arg("stdio");
    let store = MemoryStore::new();
    let server = open(McpServer::stdio("npm", &command));
    let desk = Desk::with([server], |builder| tree(builder).store(store.clone())).ready().await;
    let mut page = Page::open(&desk.assistant).await;

    let asked = page.ask("npm_trigger-elicitation-request").await;
    assert_eq!(asked["prompt"], "The server “npm” asks:\nPlease provide inputs for the following fields:");
    assert_eq!(asked["call"]["schema"]["properties"].as_object().unwrap().len(), 13);
    page.answer(&asked, json!({ "name": 7 })).await;
    let error = page.next("error").await["error"].take();
    assert!(error.as_str().unwrap().contains("`output`"), "{error}");
    page.answer(&asked, json!({ "name": "Ann", "integer": 7 })).await;
    let told = page.told().await;
    assert!(told.contains("- Name: Ann") && told.contains("- Favorite Integer: 7"), "{told}");

    // The other server has no connection to the tool: the call goes on where it waits.
    let other = tree(Assistant::builder(ScriptedProvider::new())).store(store).build().unwrap();
    let mut elsewhere = Page::open(&other).await;
    let asked = page.ask("npm_trigger-elicitation-request").await;
    let query = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            elsewhere.send(json!({ "type": "get-agent-tree" })).await;
            let mut state = elsewhere.next("agent-state").await;
            elsewhere.next("agent-tree").await;
            if state["state"]["queries"][0].is_object() {
                return state["state"]["queries"][0].take();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    let query = query.await.expect("the question at the other server");
    assert_eq!((&query["queryId"], &query["call"]), (&asked["queryId"], &asked["call"]));
    let began = Instant::now();
    elsewhere.answer(&asked, json!({ "name": "Bob" })).await;
    let told = page.told().await;
    assert!(told.contains("- Name: Bob"), "{told}");
    println!("answered on another server within {:?}", began.elapsed());
}

#[tokio::test]
async fn a_call_that_is_held_open_ends_with_the_agent_that_waits() {
    let server = || open(McpServer::stdio("proc", &stdio_server::command("ask,received")));
    for leaves in [false, true] {
        let desk = Desk::with([server()], |builder| tree(builder).allow_anonymous()).ready().await;
        let mut page = Page::open(&desk.assistant).await;
        let asked = page.ask("proc_ask").await;
        if leaves {
            drop(page);
        } else {
            let agent = &asked["agentId"];
            page.send(json!({ "type": "user-intervention", "agentId": agent, "status": "cancelled" })).await;
        }
        let began = Instant::now();
        loop {
            let mut second = Page::open(&desk.assistant).await;
            second.send(json!({ "type": "start-agent", "prompt": "proc_received" })).await;
            if second.told().await.contains("notifications/cancelled") {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(10), "the server still waits");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
