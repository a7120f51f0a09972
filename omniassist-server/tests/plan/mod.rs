//! Tests of the host's decisions about runs, model calls and the tools that a caller sees.

mod leaks;
mod refusal;
mod run;
mod step;
mod visible;

use futures_util::StreamExt;
use http::{Extensions, Request, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::message::{Message, MessageCollector, Role};
use omniassist_server::core::{LlmPayload, RunEvent, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::{Assistant, Principal, RunContext, Tool, ToolError};

/// The role that a middleware of the host puts into the extensions of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Viewer,
    Agent,
    Admin,
}

fn tool(name: &str) -> Tool {
    Tool::new(name.to_owned(), format!("Describes {name}"), async || Ok::<_, ToolError>("pong"))
}

/// Returns a tool that is visible to callers of this role and above.
fn tool_from(role: Rank, name: &str) -> Tool {
    tool(name).visible_to(move |run: &RunContext| run.extensions().get::<Rank>() >= Some(&role))
}

fn extensions(role: Rank) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    extensions.insert(role);
    extensions
}

/// Posts a conversation. Returns the conversation that the client then holds, and the events.
async fn post(
    assistant: &Assistant,
    role: Rank,
    mut messages: Vec<Message>,
) -> (Vec<Message>, Vec<RunEvent>) {
    let mut request = RunRequest::new(messages.clone());
    request.chat_id = Some("c".into());
    let events: Vec<_> = assistant.try_run(request, extensions(role)).await.unwrap().collect().await;
    let continued = messages.pop_if(|last| last.role == Role::Assistant);
    let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
    events.iter().for_each(|event| collector.apply(event));
    messages.push(collector.into_message());
    (messages, events)
}

fn question() -> Vec<Message> {
    vec![Message::user("q", "Do it.")]
}

/// Sends a request as the caller with this role. Returns the status, the content type and the body.
async fn send(assistant: &Assistant, role: Rank, path: &str, body: Option<&str>) -> (u16, String, String) {
    let mut request = match body {
        Some(_) => Request::post(path).header(header::CONTENT_TYPE, "application/json"),
        None => Request::get(path),
    };
    *request.extensions_mut().unwrap() = extensions(role);
    let request = request.body(Full::<bytes::Bytes>::from(body.unwrap_or_default().to_owned())).unwrap();
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, kind.unwrap_or_default(), String::from_utf8(body.into()).unwrap())
}

fn offered(payload: &LlmPayload) -> Vec<&str> {
    payload.tools.iter().map(|tool| tool.name.as_str()).collect()
}
