//! Queued runs in a file, whose server stops without a word.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::store::{ConversationStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Principal, WhenBusy};
use omniassist_sqlite::SqliteStore;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use crate::folder::Folder;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn server(store: SqliteStore, model: ScriptedProvider, when_busy: WhenBusy) -> Assistant {
    Assistant::builder(model).store(store).when_busy(when_busy).build().unwrap()
}

async fn post(assistant: &Assistant, chat: &str, id: &str) -> Response<AssistantBody> {
    let message = json!({"id": id, "role": "user", "parts": [{"type": "text", "text": id}]});
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let body = json!({"id": chat, "message": message}).to_string();
    AssistantService::new(assistant.clone()).handle(request.body(Full::<Bytes>::from(body)).unwrap()).await
}

/// Waits until the chat has no run that goes on or is queued, and returns what its messages say.
async fn said(store: &SqliteStore) -> Vec<String> {
    let scope = Scope::new("ada");
    loop {
        let head = store.find(&scope, Which::Chat("c")).await.unwrap().unwrap();
        if head.state.is_ended() {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    let conversation = store.load(&scope, "c", &Window::default()).await.unwrap().unwrap();
    let texts = conversation.messages.iter().map(|message| {
        let body: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
        let parts = body["parts"].as_array().unwrap().clone();
        parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
    });
    texts.collect()
}

#[test]
fn they_begin_in_order_after_a_restart() {
    let folder = Folder::new();
    let path = folder.path();
    let server_of_posts = runtime();
    server_of_posts.block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let model = ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending()));
        let assistant = server(store.clone(), model, WhenBusy::Enqueue);
        for number in 0..=8 {
            assert_eq!(post(&assistant, "c", &format!("u{number}")).await.status(), StatusCode::OK);
        }
        let ninth = post(&assistant, "c", "u9").await;
        assert_eq!(ninth.status(), StatusCode::CONFLICT);
        let body = ninth.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains("queue_full"), "{body:?}");
        let head = store.find(&Scope::new("ada"), Which::Chat("c")).await.unwrap().unwrap();
        assert_eq!(head.state, RunState::Running);
    });
    drop(server_of_posts);

    runtime().block_on(async {
        let store = SqliteStore::open(&path).unwrap();
        let model = ScriptedProvider::new()
            .otherwise(|payload| text(format!("Answer {}", payload.transcript.len().div_ceil(2))));
        let assistant = server(store.clone(), model.clone(), WhenBusy::Enqueue);
        assert_eq!(post(&assistant, "other", "hello").await.status(), StatusCode::OK);
        let expected: Vec<_> =
            (0..=8).flat_map(|number| [format!("u{number}"), format!("Answer {}", number + 1)]).collect();
        assert_eq!(said(&store).await, expected);
        assert_eq!(model.payloads().len(), 10);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_question_leaves_the_branch() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.path()).unwrap();
    let model =
        ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending())).otherwise(|_| text("Whole"));
    let assistant = server(store.clone(), model.clone(), WhenBusy::Discard);
    let first = post(&assistant, "c", "u1").await;
    sleep(Duration::from_millis(50)).await;
    let second = post(&assistant, "c", "u2").await;
    assert_eq!((first.status(), second.status()), (StatusCode::OK, StatusCode::OK));
    assert_eq!(said(&store).await, ["u2", "Whole"]);
    assert!(!format!("{:?}", model.payloads().last().unwrap().transcript).contains("u1"));
}
