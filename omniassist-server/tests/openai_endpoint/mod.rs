//! Tests of the routes for clients of OpenAI.

mod errors;
mod history;
mod settings;
mod streams;
mod tools;
mod whole;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::{Assistant, AssistantBuilder, Tool, ToolError};
use serde_json::{Value, json};

async fn ping() -> Result<&'static str, ToolError> {
    Ok("pong")
}

fn builder(model: &ScriptedProvider) -> AssistantBuilder {
    Assistant::builder(model.clone()).allow_anonymous().tool(Tool::new("ping", "Ping", ping))
}

fn service(model: &ScriptedProvider) -> AssistantService {
    AssistantService::new(builder(model).build().unwrap())
}

/// Returns a request with one question and these fields.
#[expect(clippy::needless_pass_by_value, reason = "tests build the fields in the call")]
fn asking(fields: Value) -> Value {
    let mut body = json!({"model": "omniassist", "messages": [{"role": "user", "content": "Hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

fn show() -> Value {
    let parameters =
        json!({"type": "object", "properties": {"page": {"type": "string"}}, "required": ["page"]});
    json!({"type": "function", "function": {"name": "show", "description": "Shows a page", "parameters": parameters}})
}

fn post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("/v1/chat/completions")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

async fn ask(service: &AssistantService, body: &Value) -> Response<AssistantBody> {
    service.handle(post(body.to_string())).await
}

async fn text(response: Response<AssistantBody>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

async fn answer(response: Response<AssistantBody>) -> Value {
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_str(&text(response).await).unwrap()
}

/// Returns the error of a response, which must have exactly the four fields of the OpenAI format.
async fn error(response: Response<AssistantBody>, status: u16) -> Value {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["content-type"], "application/json");
    let body: Value = serde_json::from_str(&text(response).await).unwrap();
    let error = body["error"].as_object().unwrap();
    let keys: Vec<&str> = error.keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 4, "{body}");
    assert!(["message", "type", "param", "code"].iter().all(|key| keys.contains(key)), "{body}");
    assert!(error["message"].as_str().unwrap().len() > 5);
    body["error"].clone()
}

/// Returns the chunks of a stream, and `true` if it ended with `[DONE]`.
async fn chunks(response: Response<AssistantBody>) -> (Vec<Value>, bool) {
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    let text = text(response).await;
    let mut data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let done = data.last() == Some(&"[DONE]");
    if done {
        data.pop();
    }
    (data.into_iter().map(|data| serde_json::from_str(data).unwrap()).collect(), done)
}

fn content(chunks: &[Value]) -> String {
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}
