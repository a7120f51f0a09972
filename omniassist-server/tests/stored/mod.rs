//! Tests of stored runs: the journal, the conversation, and what happens without the client or the server.

mod agents;
mod answers;
mod background;
mod connect;
mod deleted;
mod drain;
mod elsewhere;
mod finished;
mod given_up;
mod left;
pub(super) mod outage;
mod own_store;
pub(super) mod restart;
mod resume;
mod tail_cache;
mod usage;
mod viewers;
mod when_busy;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::core::message::{Message, Role, read};
use omniassist_server::core::{Limits, Text};
use omniassist_server::http::{AssistantBody, AssistantService, PostedRun};
use omniassist_server::store::{ConversationStore, MemoryStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Tool, ToolError};
use omniassist_server::{Approval, Assistant, OnDisconnect, Principal};
use serde_json::{Value, json};

fn scope() -> Scope {
    Scope::new("ada")
}

fn request(body: &Value) -> Request<Full<Bytes>> {
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    request.body(Full::from(body.to_string())).unwrap()
}

/// Returns the body of a client that posts its last message.
fn ask(id: &str, text: &str) -> Value {
    json!({"id": "c", "message": {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}})
}

async fn open(assistant: &Assistant, body: &Value) -> AssistantBody {
    let response = AssistantService::new(assistant.clone()).handle(request(body)).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.into_body()
}

async fn post(assistant: &Assistant, body: &Value) -> String {
    let body = open(assistant, body).await.collect().await.unwrap().to_bytes();
    String::from_utf8(body.into()).unwrap()
}

async fn messages(store: &MemoryStore) -> Vec<Message> {
    let conversation = store.load(&scope(), "c", &Window::default()).await.unwrap().expect("a conversation");
    let bodies: Vec<_> =
        conversation.messages.iter().map(|stored| str::from_utf8(&stored.body).unwrap()).collect();
    read::messages(&Text::from(format!("[{}]", bodies.join(","))), &Limits::default()).unwrap()
}

async fn state(store: &MemoryStore) -> RunState {
    store.find(&scope(), Which::Chat("c")).await.unwrap().expect("a run").state
}

/// Waits until the run of the chat has left the state `Running`.
async fn settled(store: &MemoryStore) -> RunState {
    loop {
        match state(store).await {
            RunState::Running => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            state => return state,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_stored_and_the_next_post_continues_it() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(text("In Kiel.")).turn(text("Tomorrow."));
    let assistant = Assistant::builder(model.clone()).store(store.clone()).build().unwrap();

    let answer = post(&assistant, &ask("m1", "Where is order 17?")).await;
    assert!(answer.contains("In Kiel.") && answer.ends_with("data: [DONE]\n\n"), "{answer}");
    assert_eq!(settled(&store).await, RunState::Finished);
    post(&assistant, &ask("m3", "When does it come?")).await;

    let stored = messages(&store).await;
    let said: Vec<_> = stored.iter().map(|message| (message.role, message.text())).collect();
    assert_eq!(
        said,
        [
            (Role::User, "Where is order 17?".to_owned()),
            (Role::Assistant, "In Kiel.".to_owned()),
            (Role::User, "When does it come?".to_owned()),
            (Role::Assistant, "Tomorrow.".to_owned()),
        ]
    );
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(sent.contains("In Kiel."), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn plain_text_of_a_handler_is_not_stored_and_has_every_line() {
    let (store, answer) = (MemoryStore::new(), "id: 17\ntown: Kiel");
    let model = ScriptedProvider::new().turn(text(answer));
    let assistant = Assistant::builder(model).store(store.clone()).build().unwrap();
    let message = ask("m1", "Where is order 17?")["message"].clone();
    let mut request = request(&json!({"id": "c", "messages": [message]}));
    *request.uri_mut() = "/?protocol=text".parse().unwrap();
    let posted = PostedRun::read_for(request, &assistant).await.unwrap();
    let said = posted.respond(&assistant).await.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(said, answer);
    assert!(store.find(&scope(), Which::Chat("c")).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_without_its_client() {
    for on_disconnect in [OnDisconnect::Continue, OnDisconnect::CancelAfter(std::time::Duration::MAX)] {
        let store = MemoryStore::new();
        let slow =
            Turn::text("Half").then(Turn::delay(std::time::Duration::from_secs(5))).then(text(" and half"));
        let model = ScriptedProvider::new().turn(slow);
        let builder = Assistant::builder(model).store(store.clone());
        let assistant = builder.on_disconnect(on_disconnect).build().unwrap();

        let mut body = open(&assistant, &ask("m1", "Go")).await;
        let _ = body.frame().await;
        drop(body);
        assert_eq!(state(&store).await, RunState::Running);

        assert_eq!(settled(&store).await, RunState::Finished, "{on_disconnect:?}");
        assert_eq!(messages(&store).await.last().unwrap().text(), "Half and half");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_can_end_with_its_client() {
    let store = MemoryStore::new();
    let slow =
        Turn::text("Half").then(Turn::delay(std::time::Duration::from_secs(5))).then(text(" and half"));
    let model = ScriptedProvider::new().turn(slow);
    let assistant =
        Assistant::builder(model).store(store.clone()).on_disconnect(OnDisconnect::Cancel).build().unwrap();

    let mut body = open(&assistant, &ask("m1", "Go")).await;
    let _ = body.frame().await;
    drop(body);

    assert_eq!(settled(&store).await, RunState::Stopped);
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half");
}

#[tokio::test(start_paused = true)]
async fn a_tool_runs_once_and_its_result_is_stored() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({"order": 17}))).turn(text("Done."));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") });
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();

    let answer = post(&assistant, &ask("m1", "Refund it")).await;
    assert!(answer.contains("tool-output-available") && answer.contains("Done."), "{answer}");
    settled(&store).await;
    let stored = serde_json::to_string(messages(&store).await.last().unwrap()).unwrap();
    assert!(stored.contains("refunded") && stored.contains("Done."), "{stored}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_answered_in_the_same_run() {
    let store = MemoryStore::new();
    let model = ScriptedProvider::new().turn(call("refund", json!({}))).turn(text("Done."));
    let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("refunded") })
        .requires_approval(Approval::always());
    let assistant = Assistant::builder(model).tool(refund).store(store.clone()).build().unwrap();

    let answer = post(&assistant, &ask("m1", "Refund it")).await;
    assert!(answer.contains("tool-approval-request"), "{answer}");
    assert_eq!(settled(&store).await, RunState::Waiting);
    let first = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();

    let mut message = serde_json::to_value(messages(&store).await.last().unwrap()).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
    let answer = post(&assistant, &json!({"id": "c", "message": message})).await;
    assert!(answer.contains("refunded") && answer.contains("Done."), "{answer}");
    assert_eq!(settled(&store).await, RunState::Finished);
    let last = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!(first.run, last.run);
    let stored = serde_json::to_string(messages(&store).await.last().unwrap()).unwrap();
    assert!(stored.contains("refunded") && stored.contains("Done."), "{stored}");
}
