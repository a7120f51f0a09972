//! Tests of trees of agents: the program, the controls, and the WebSocket. The frames by bytes are in the tests of
//! `omniassist-core` (`agent_frames`), each adapter over real sockets in `tests/adapters` (`sockets`), and clients of others in
//! `tests/clients` (`agent-tree.test.mjs`, the `WebSocket` of Node) and in `tests/agents-python` (`websockets` of Python).
//!
//! | contract A.5 | test |
//! |---|---|
//! | 1-4 client frames | `agent_frames::a5_1_start_agent` to `a5_4_get_agent_tree`; here `socket::a5_1_to_9_a_conversation` |
//! | 5-9 server frames, reply of `get-agent-tree` | `agent_frames::a5_5_and_21_agent_state`, `a5_6_to_9_server_frames_bare_and_extended`; here `socket::a5_1_to_9_a_conversation` |
//! | 10 the WebSocket route | `socket::a5_1_to_9_a_conversation`; `sockets` of the adapters |
//! | 11 open, message, close per connection | `socket::a5_11_each_connection_has_its_own_questions` |
//! | 12 six steps | `program::a5_12_six_steps` |
//! | 13 questions to the user | `program::a5_13_a_question_waits_for_its_answer` |
//! | 14 0 to 4 sub-questions | `program::a5_14_no_to_four_sub_questions` |
//! | 15 children beside the main agent | `program::a5_15_agents_work_at_the_same_time` |
//! | 16 main agent, fork and wait | `program::a5_16_the_main_agent_asks_others_and_waits`; with Python, the row below |
//! | 17 summary, final question, completed | `program::a5_17_results_are_summarised` |
//! | 18 exports | `program::a5_18_the_seeds_exports_in_process` |
//! | 19 Python: isolated, `stdout` and `stderr`, results, fork and wait | the tests of `omniassist-python`: `attacks` and `limits`, `programs`, `agents`; in a tree, `agents::a5_19_the_main_agent_of_a_tree_forks_and_waits` |
//! | 20 provider and model by configuration | the tests of the provider `anthropic` |
//! | 21 state | `program::a5_21_the_state_of_an_agent` |
//! | 22-25 the tree in a page | left out: the widget |
//! | 26 one connection, structured cancellation | `socket::a5_26_a_connection_that_ends_ends_its_agents`, `controls::cancelling_one_agent_leaves_its_siblings` |
//! | 27 authentication, origin, sizes, inert text | `edge::a5_27_*` |
//! | 28 less than 10 ms | `socket::a5_28_a_delta_arrives_within_10_ms` |
//! | 29 binary frames | left out |
//! | 13, beyond the contract: calls that wait for the user | `questions`; MCP: `trees` of `omniassist-mcp` |
//! | 30, 31 several instances, with a shared store | `stored::a5_31_*` for trees, `crate::stored::agents::a5_31_*` for the agents of runs; `agents` of `omniassist-postgres` with two servers on PostgreSQL |
//!
//! | function of the earlier TypeScript server | here |
//! |---|---|
//! | `agent()` | `AgentSession::agent`, a stream of frames |
//! | `setQueryUserHandler()` | `AgentSession::set_query_user_handler`, for one session |
//! | `getAgentTree()` | `AgentSession::get_agent_tree` |
//! | `userIntervention()` | `AgentSession::user_intervention` |
//! | `AGENT_TREE` | the states in the session; there is no global |
//! | `runMainAgent()`, `summarizeWithAI()` | steps 5 and 6 of `Explore` |
//! | `decideSyncedQuestion()` | steps 1 and 2 of `Explore` |
//! | `generateSubquestions()` | step 3 of `Explore` |

mod connections;
mod controls;
mod edge;
mod journal;
mod limits;
mod program;
mod questions;
mod socket;
mod stored;
mod usage;

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::Full;
use omniassist_server::core::agent_tree::ServerFrame;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{LlmPayload, TranscriptItem};
use omniassist_server::http::{AssistantService, SocketUpgrade};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, AssistantBuilder};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

/// Returns the text of the last message to the model.
fn prompt(payload: &LlmPayload) -> String {
    let last = payload.transcript.iter().rev().find_map(|item| match item {
        TranscriptItem::User { content } => match content.last() {
            Some(UserContent::Text { text }) => Some(text.to_string()),
            _ => None,
        },
        _ => None,
    });
    last.expect("a message of the user")
}

/// The steps in which a model is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Clarify,
    Block,
    Plan,
    Work,
    Summarise,
    AnswerNow,
    Final,
}

fn call_of(payload: &LlmPayload) -> Call {
    let prompt = prompt(payload);
    let schema = payload.options.response_schema.as_ref().map(|(name, _)| name.to_string());
    match schema.as_deref() {
        Some("question") if prompt.starts_with("Decide if this task") => Call::Clarify,
        Some("question") if prompt.starts_with("Decide if there is one thing") => Call::Block,
        Some("question") => Call::Final,
        Some("questions") => Call::Plan,
        None if prompt.starts_with("Work on") => Call::Work,
        None if prompt.starts_with("Write the answer") => Call::Summarise,
        None if prompt.starts_with("The user wants") => Call::AnswerNow,
        other => panic!("{other:?}: {prompt}"),
    }
}

/// Returns the task in a prompt.
fn task_of(payload: &LlmPayload) -> String {
    let prompt = prompt(payload);
    let task = prompt.split("Task:\n").nth(1).unwrap_or_default();
    task.split("\n\n").next().unwrap_or_default().to_owned()
}

/// Returns a model that asks nothing and divides nothing, except for what `answer` returns.
fn model(
    answer: impl Fn(Call, &str, &LlmPayload) -> Option<Turn> + Send + Sync + 'static,
) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |payload| {
        let (call, task) = (call_of(payload), task_of(payload));
        answer(call, &task, payload).unwrap_or_else(|| match call {
            Call::Clarify | Call::Block | Call::Final => text(r#"{"ask": null}"#),
            Call::Plan => text(r#"{"questions": []}"#),
            Call::Work => text(format!("Work on {task}.")),
            Call::Summarise => text("All in all."),
            Call::AnswerNow => text("For now."),
        })
    })
}

fn builder(model: &ScriptedProvider) -> AssistantBuilder {
    Assistant::builder(model.clone()).allow_anonymous()
}

fn questions(questions: &[&str]) -> Turn {
    text(json!({ "questions": questions }).to_string())
}

fn ask(question: &str) -> Turn {
    text(json!({ "ask": question }).to_string())
}

/// Returns the frames as JSON.
fn values(frames: &[ServerFrame]) -> Vec<Value> {
    frames.iter().map(|frame| serde_json::from_str(&frame.to_json()).unwrap()).collect()
}

/// The head of a request for a WebSocket.
fn request(path: &str) -> http::request::Builder {
    Request::get(path)
        .header("host", "localhost")
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

/// A client of a WebSocket in memory.
struct Client {
    socket: WebSocketStream<DuplexStream>,
    headers: HeaderMap,
}

impl Client {
    async fn open(assistant: &Assistant) -> Self {
        Self::with(assistant, request("/ws")).await.expect("an upgrade")
    }

    /// Sends a request. Returns the status if the connection is not upgraded.
    async fn with(assistant: &Assistant, request: http::request::Builder) -> Result<Self, StatusCode> {
        Self::buffered(assistant, request, 64 * 1024).await
    }

    async fn buffered(
        assistant: &Assistant,
        request: http::request::Builder,
        buffer: usize,
    ) -> Result<Self, StatusCode> {
        let (ours, theirs) = tokio::io::duplex(buffer);
        let request = request.extension(SocketUpgrade::new(theirs));
        let request = request.body(Full::<bytes::Bytes>::default()).unwrap();
        let response = AssistantService::new(assistant.clone()).handle(request).await;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(response.status());
        }
        let socket = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
        Ok(Self { socket, headers: response.headers().clone() })
    }

    async fn send(&mut self, frame: &Value) {
        self.socket.send(Message::text(frame.to_string())).await.unwrap();
    }

    async fn start(&mut self, prompt: &str) {
        self.send(&json!({ "type": "start-agent", "prompt": prompt })).await;
    }

    /// Returns the next text as it came.
    async fn raw(&mut self) -> String {
        loop {
            let next = timeout(Duration::from_secs(60), self.socket.next()).await.expect("a frame in time");
            match next.expect("an open connection").unwrap() {
                Message::Text(text) => return text.to_string(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.raw().await).unwrap()
    }

    /// Returns the frames up to the first of this type.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        self.until_one(|frame| frame["type"] == kind).await
    }

    async fn until_one(&mut self, mut is_last: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.next().await);
            if is_last(frames.last().unwrap()) {
                return frames;
            }
        }
    }

    /// Returns the code with which the server closes the connection. Frames before it are skipped.
    async fn closed(&mut self) -> u16 {
        // Pings go on for ever, so the time is that of the whole.
        let closed = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
                    Some(Ok(_)) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(Duration::from_secs(15), closed).await.expect("an end in time")
    }
}

/// Returns the text that an agent has written in these frames.
fn written(frames: &[Value], id: &str) -> String {
    let of_agent = |frame: &&Value| frame["type"] == "text-delta" && frame["agentId"] == id;
    frames.iter().filter(of_agent).filter_map(|frame| frame["delta"].as_str()).collect()
}
