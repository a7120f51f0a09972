//! A page that asks an assistant, and pages that show its answers.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::FinishReason;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::store::{ConversationStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::testing::{ScriptedProvider, Turn};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};

async fn send(assistant: &Assistant, mut request: Request<Full<Bytes>>) -> AssistantBody {
    request.extensions_mut().insert(Principal::new("ada"));
    let response = AssistantService::new(assistant.clone()).handle(request).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.into_body()
}

/// Asks a question in a chat.
pub(crate) async fn ask(assistant: &Assistant, chat: &str) -> AssistantBody {
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Count"}]});
    let body = json!({"id": chat, "message": message}).to_string();
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    send(assistant, request.body(Full::from(body)).unwrap()).await
}

/// Shows the answer that is being written in a chat.
pub(crate) async fn watch(assistant: &Assistant, chat: &str) -> AssistantBody {
    send(assistant, Request::get(format!("/{chat}/stream")).body(Full::default()).unwrap()).await
}

/// Reads a stream up to a text, or its end. Returns the times at which deltas arrived.
pub(crate) async fn read_until(body: &mut AssistantBody, end: &str) -> Vec<(String, Instant)> {
    let (mut read, mut deltas) = (String::new(), Vec::new());
    while !read.contains(end) {
        let Some(frame) = body.frame().await else { panic!("the stream has ended before {end}: {read}") };
        let frame = frame.unwrap().into_data().unwrap();
        let text = str::from_utf8(&frame).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let chunks = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        deltas.extend(chunks.filter_map(|chunk| Some((chunk["delta"].as_str()?.to_owned(), Instant::now()))));
        read += text;
    }
    deltas
}

/// Reads a stream to its end, and returns its text. It has one end.
pub(crate) async fn text(mut body: AssistantBody) -> String {
    let deltas = read_until(&mut body, "data: [DONE]").await;
    assert!(body.frame().await.is_none(), "nothing follows the end");
    deltas.into_iter().map(|(delta, _)| delta).collect()
}

/// Returns a model that writes a number each time.
pub(crate) fn numbers(count: u32, each: Duration) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |_| {
        let turn = (0..count).fold(Turn::new(), |turn, number| {
            turn.then(Turn::text_chunks([word(number)])).then(Turn::delay(each))
        });
        turn.then(Turn::finish(FinishReason::Stop))
    })
}

fn word(number: u32) -> String {
    format!("orange-{number} ")
}

/// Returns the text of such an answer.
pub(crate) fn all(count: u32) -> String {
    (0..count).map(word).collect()
}

/// Waits for the end of the run of a chat, and returns the stored text.
pub(crate) async fn stored<S: RunStore + ConversationStore>(store: &S, chat: &str) -> String {
    let scope = Scope::new("ada");
    loop {
        match store.find(&scope, Which::Chat(chat)).await.unwrap().unwrap().state {
            RunState::Running => tokio::time::sleep(Duration::from_millis(10)).await,
            state => break assert_eq!(state, RunState::Finished),
        }
    }
    let conversation = store.load(&scope, chat, &Window::default()).await.unwrap().unwrap();
    let message: Value = serde_json::from_slice(&conversation.messages.last().unwrap().body).unwrap();
    let parts = message["parts"].as_array().unwrap();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Stops the run of a chat.
pub(crate) async fn stop(assistant: &Assistant, chat: &str) -> String {
    let request = Request::post(format!("/{chat}/stop")).header(header::CONTENT_TYPE, "application/json");
    let body = send(assistant, request.body(Full::from("{}")).unwrap()).await;
    String::from_utf8(body.collect().await.unwrap().to_bytes().into()).unwrap()
}
