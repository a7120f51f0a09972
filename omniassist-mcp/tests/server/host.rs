//! A host with tools that record their calls, and a client of its `/mcp`.

use std::sync::{Arc, Mutex};

use axum::Router;
use omniassist_mcp::Expose;
use omniassist_server::core::JsonText;
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::tool::{Args, State, Tool, ToolContext, ToolError};
use omniassist_server::{Assistant, AssistantBuilder, AuthRequest, Principal};
use reqwest::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The calls that ran: the tool, the principal and the arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Vec<String>>>);

impl Ran {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn add(&self, call: &ToolContext) {
        let (tool, user) = (call.tool_name(), call.run().principal());
        self.0.lock().unwrap().push(format!("{tool} {} {}", user.id(), call.arguments().as_str()));
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Refund {
    #[expect(dead_code, reason = "the tool records the arguments as they are")]
    cents: u32,
}

pub(crate) async fn refund(
    Args(_): Args<Refund>,
    State(ran): State<Ran>,
    call: ToolContext,
) -> Result<&'static str, ToolError> {
    ran.add(&call);
    Ok("Refunded.")
}

pub(crate) fn refund_tool() -> Tool {
    Tool::new("refund", "Gives money back", refund)
}

pub(crate) async fn echo(arguments: Value, call: ToolContext) -> Result<Value, ToolError> {
    call.state::<Ran>().unwrap().add(&call);
    Ok(arguments)
}

pub(crate) fn echo_tool() -> Tool {
    Tool::from_fn_with_schema("echo", "Returns its arguments", json!({ "type": "object" }), echo)
}

/// A builder whose requests carry their principal in the header `x-user`. The model is never called, unless a test sets one.
pub(crate) fn builder(ran: &Ran) -> AssistantBuilder {
    Assistant::builder(ScriptedProvider::new().otherwise(|_| panic!("the model was called")))
        .state(ran.clone())
        .authenticate(|request: AuthRequest| async move {
            let user = request.headers().get("x-user").and_then(|user| user.to_str().ok());
            Ok(user.map(Principal::new))
        })
}

/// Serves an assistant with `/mcp`.
pub(crate) async fn serve(builder: AssistantBuilder) -> Client {
    serve_as(builder, Expose::tools()).await
}

pub(crate) async fn serve_as(builder: AssistantBuilder, expose: Expose) -> Client {
    let assistant = builder.mcp_server(expose).build().unwrap();
    let app = Router::new().nest_service("/assistant", omniassist_axum::router(assistant));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/assistant/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let http = reqwest::Client::new();
    Client { url, user: "ann".to_owned(), capabilities: json!({ "elicitation": {} }), http }
}

/// A client of the version 2026-07-28.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) url: String,
    pub(crate) user: String,
    pub(crate) capabilities: Value,
    pub(crate) http: reqwest::Client,
}

impl Client {
    pub(crate) fn of(&self, user: &str) -> Self {
        Self { user: user.to_owned(), ..self.clone() }
    }

    pub(crate) fn without_elicitation(&self) -> Self {
        Self { capabilities: json!({}), ..self.clone() }
    }

    pub(crate) fn request(&self, method: &str, mut params: Value) -> reqwest::RequestBuilder {
        let meta = params["_meta"].clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        if let Value::Object(meta) = meta {
            params["_meta"].as_object_mut().unwrap().extend(meta);
        }
        let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
        let request = self.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", name),
            None => request,
        }
    }

    /// Posts a body with no more headers than each client sends.
    pub(crate) fn post(&self, body: &Value) -> reqwest::RequestBuilder {
        self.http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("x-user", &self.user)
            .body(body.to_string())
    }

    pub(crate) async fn send(&self, method: &str, params: Value) -> Value {
        body(self.request(method, params).send().await.unwrap()).await
    }

    /// Sends a request of a client of the version 2025-11-25.
    pub(crate) async fn send_legacy(&self, method: &str, params: Value) -> Value {
        let request = self.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        body(request.header("mcp-protocol-version", "2025-11-25").send().await.unwrap()).await
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        self.send("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// Returns the names of the tools in the list.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let list = self.send("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) async fn body(response: Response) -> Value {
    let text = response.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// Returns the text of a result, and `true` if it is an error.
pub(crate) fn result(answer: &Value) -> (String, bool) {
    let result = &answer["result"];
    assert!(result["content"].is_array(), "{answer}");
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == json!(true))
}

/// Returns the one question of an answer: its key, and the state to return.
pub(crate) fn question(answer: &Value) -> (String, String) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let requests = result["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1, "{answer}");
    let state = result["requestState"].as_str().unwrap().to_owned();
    (requests.keys().next().unwrap().clone(), state)
}

pub(crate) fn json_text(value: &Value) -> JsonText {
    JsonText::from_value(value)
}
