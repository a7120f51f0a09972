//! The process that is killed: an assistant, and the one client of its chat.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::AssistantService;
use omniassist_server::store::{ConversationStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::{Assistant, Principal, failpoint};
use omniassist_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::shape;

pub(crate) const CHAT: &str = "c";

pub(crate) fn scope() -> Scope {
    Scope::new("ada")
}

/// Leads the run of the chat to its end, or to the question that it asks. What the viewer sees goes to the standard output.
pub(crate) fn run(path: &str, ledger: &str, case: &str, shape: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        failpoint::hit("child.start");
        let store = SqliteStore::open(path).unwrap();
        failpoint::hit("child.opened");
        let builder = Assistant::builder(shape::model()).store(store.clone());
        let builder =
            shape::tools(ledger, case).into_iter().fold(builder, |builder, tool| builder.tool(tool));
        let service = AssistantService::new(builder.build().unwrap());
        lead(&store, &service, shape).await;
        failpoint::hit("child.end");
    });
    say("@end");
}

async fn lead(store: &SqliteStore, service: &AssistantService, shape: &str) {
    let (mut has_posted, mut is_awake) = (false, false);
    loop {
        let head = store.find(&scope(), Which::Chat(CHAT)).await.unwrap();
        let Some(head) = head else {
            has_posted = true;
            view(service, &question(CHAT, "m1", &format!("shape-{shape}"))).await;
            continue;
        };
        let is_asked = head.obligations.iter().any(|question| question.answer.is_none());
        match head.state {
            RunState::Waiting if is_asked && has_posted => return,
            RunState::Waiting if is_asked => {
                has_posted = true;
                let body = json!({ "id": CHAT, "message": approved(store).await });
                view(service, &body).await;
            }
            RunState::Running | RunState::Waiting => {
                if !std::mem::replace(&mut is_awake, true) {
                    // The first request of a process makes it take runs over.
                    let chat = format!("wake-{}", std::process::id());
                    post(service, &question(&chat, "m1", "Are you there?"), |_| {}).await;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            state => {
                say(&format!("@state {state:?}"));
                return;
            }
        }
    }
}

pub(crate) fn question(chat: &str, id: &str, text: &str) -> Value {
    json!({"id": chat, "message": {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}})
}

/// Returns the stored message with all its calls approved.
async fn approved(store: &SqliteStore) -> Value {
    let conversation = store.load(&scope(), CHAT, &Window::default()).await.unwrap().unwrap();
    let mut message: Value = serde_json::from_slice(&conversation.messages.last().unwrap().body).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
    message
}

async fn view(service: &AssistantService, body: &Value) {
    let status = post(service, body, say).await;
    if status != StatusCode::OK {
        say(&format!("@status {status}"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Posts a body, and passes the lines of the answer on.
pub(crate) async fn post(service: &AssistantService, body: &Value, line: impl Fn(&str)) -> StatusCode {
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let mut request = request.body(Full::<Bytes>::from(body.to_string())).unwrap();
    request.extensions_mut().insert(Principal::new("ada"));
    let response = service.handle(request).await;
    let status = response.status();
    let mut body = response.into_body();
    while let Some(Ok(frame)) = body.frame().await {
        let data: Bytes = frame.into_data().unwrap_or_default();
        String::from_utf8_lossy(&data).lines().filter(|text| !text.is_empty()).for_each(&line);
    }
    status
}

/// Writes a line that survives the death of this process.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    drop(writeln!(output, "{line}").and_then(|()| output.flush()));
}
