//! A server that records what it receives, and the calls of tools.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::response::Response;
use http::{Extensions, HeaderMap, Method, StatusCode, Uri};
use omniassist_openapi::{OpenApi, OpenApiTools};
use omniassist_server::core::{JsonText, Limits, RunRequest};
use omniassist_server::tool::{StateMap, ToolInvocation, Tools};
use omniassist_server::{Principal, RunContext, Tool, ToolError};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A request as it came over the socket.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: Method,
    /// The path and the query as they were sent.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

#[derive(Default)]
struct State {
    received: Vec<Received>,
    replies: VecDeque<Response<String>>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let serve = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let mut state = shared.lock().unwrap();
            let target = uri.path_and_query().unwrap().as_str().to_owned();
            let body = String::from_utf8(body.to_vec()).unwrap();
            state.received.push(Received { method, target, headers, body });
            let reply = state.replies.pop_front().unwrap_or_else(|| json_reply(&json!({ "ok": true })));
            async move { reply }
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(serve)).await });
        Self { address, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn reply(&self, reply: Response<String>) {
        self.state.lock().unwrap().replies.push_back(reply);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.state.lock().unwrap().received.clone()
    }

    /// Returns the last request.
    pub(crate) fn last(&self) -> Received {
        self.received().pop().expect("the server has received a request")
    }

    /// Reads a document whose tools call this server.
    pub(crate) fn open(&self, document: &Value) -> OpenApi {
        let document = OpenApi::from_json("t", &document.to_string()).unwrap();
        document.server(self.url()).allow_hosts(["127.0.0.1"])
    }
}

pub(crate) fn reply(status: u16, media_type: &str, body: impl Into<String>) -> Response<String> {
    let reply = Response::builder().status(StatusCode::from_u16(status).unwrap());
    reply.header("content-type", media_type).body(body.into()).unwrap()
}

pub(crate) fn json_reply(value: &Value) -> Response<String> {
    reply(200, "application/json", value.to_string())
}

/// Returns a document of these paths.
pub(crate) fn document(version: &str, paths: &Value) -> Value {
    json!({ "openapi": version, "info": { "title": "Test", "version": "1" }, "paths": paths })
}

/// Returns the tool of this name.
pub(crate) fn tool(tools: &OpenApiTools, name: &str) -> Tool {
    assert!(tools.skipped().is_empty(), "{:?}", tools.skipped());
    let found = tools.tools().iter().find(|tool| tool.name() == name);
    found.unwrap_or_else(|| panic!("no tool {name} in {:?}", tools.tools())).clone()
}

/// Returns the schema of a tool's arguments as a registry gives it to models.
pub(crate) fn schema(tool: &Tool) -> Value {
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(tool.clone()).unwrap();
    tools.snapshot().get(tool.name()).unwrap().spec().input_schema.clone()
}

/// Calls a tool for a user, with arguments that fit its schema.
pub(crate) async fn call_as(user: &str, tool: &Tool, arguments: &Value) -> Result<Value, ToolError> {
    written(user, tool, &arguments.to_string()).await.map(|output| output.to().unwrap())
}

/// Calls a tool with the text of arguments that fit its schema, and returns the text of the output.
pub(crate) async fn written(user: &str, tool: &Tool, arguments: &str) -> Result<JsonText, ToolError> {
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(tool.clone()).unwrap();
    let arguments = JsonText::parse(arguments.to_owned()).unwrap();
    tools.snapshot().check(tool.name(), &arguments).unwrap();
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(user));
    let run = RunContext::for_request(RunRequest::prompt("Hi"), extensions);
    let registered = tools.snapshot().get(tool.name()).cloned().unwrap();
    let call = tools.start(&registered, ToolInvocation::new("call-1", arguments, run));
    call.outcome().await.result
}

/// Calls a tool, and returns the text of the output.
pub(crate) async fn output(tool: &Tool, arguments: &Value) -> String {
    written("ann", tool, &arguments.to_string()).await.unwrap().to_string()
}

pub(crate) async fn call(tool: &Tool, arguments: &Value) -> Result<Value, ToolError> {
    call_as("ann", tool, arguments).await
}

/// Calls a tool that fails, and returns what the model reads.
pub(crate) async fn failed(tool: &Tool, arguments: &Value) -> String {
    call(tool, arguments).await.unwrap_err().text().to_owned()
}
