//! Posts to a stored chat whose run goes on.

mod changed;
mod discard;
mod enqueue;
mod refused;
mod repeated;
mod restart;

use std::time::Duration;

use http::Response;
use omniassist_server::WhenBusy;
use omniassist_server::store::{Branch, RunHead, RunId};
use tokio::time::sleep;

use super::*;

/// A post of Ada to the chat, with a treatment in its extensions.
async fn send(assistant: &Assistant, body: &Value, when_busy: Option<WhenBusy>) -> Response<AssistantBody> {
    let mut request = request(body);
    if let Some(when_busy) = when_busy {
        request.extensions_mut().insert(when_busy);
    }
    AssistantService::new(assistant.clone()).handle(request).await
}

async fn get(assistant: &Assistant, uri: &str) -> Response<AssistantBody> {
    let mut request = Request::get(uri);
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    AssistantService::new(assistant.clone()).handle(request.body(Full::<Bytes>::default()).unwrap()).await
}

async fn stop(assistant: &Assistant, uri: &str, body: &Value) -> Value {
    let mut request = Request::post(uri).header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let request = request.body(Full::<Bytes>::from(body.to_string())).unwrap();
    json_of(AssistantService::new(assistant.clone()).handle(request).await).await
}

async fn read(response: Response<AssistantBody>) -> String {
    assert_eq!(response.status(), StatusCode::OK);
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

async fn json_of(response: Response<AssistantBody>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

fn run_of(response: &Response<AssistantBody>) -> RunId {
    RunId::parse(response.headers()["x-omniassist-run"].to_str().unwrap()).unwrap()
}

async fn head(store: &MemoryStore, run: RunId) -> RunHead {
    store.find(&scope(), Which::Run(run)).await.unwrap().unwrap()
}

/// Returns what the messages of the branch that is shown say.
async fn said(store: &MemoryStore) -> Vec<String> {
    messages(store).await.iter().map(Message::text).collect()
}

/// Returns what the model was sent with its last call.
fn last_sent(model: &ScriptedProvider) -> String {
    format!("{:?}", model.payloads().last().expect("a call").transcript)
}

/// A turn of ten seconds.
fn slow(text: &str) -> Turn {
    Turn::text(format!("{text} ")).then(Turn::delay(Duration::from_secs(10))).then(super::text("done"))
}

/// A server whose model repeats the number of its call, after ten seconds.
fn server(store: &MemoryStore, when_busy: WhenBusy) -> (Assistant, ScriptedProvider) {
    let calls = std::sync::atomic::AtomicUsize::new(1);
    let model = ScriptedProvider::new().otherwise(move |_| {
        slow(&format!("Answer {}", calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst)))
    });
    let assistant = Assistant::builder(model.clone()).store(store.clone()).when_busy(when_busy);
    (assistant.build().unwrap(), model)
}

/// The body of a page that posts all of its messages.
fn page(messages: &[(&str, &str, &str)]) -> Value {
    let message = |(id, role, text): &(&str, &str, &str)| json!({"id": id, "role": role, "parts": [{"type": "text", "text": text}]});
    json!({"id": "c", "messages": messages.iter().map(message).collect::<Vec<_>>()})
}
