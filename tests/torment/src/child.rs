//! The process that is killed: an assistant, and the one client of its chat.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_server::http::AssistantService;
use omniassist_server::store::{RunState, Which, Window};
use omniassist_server::{Assistant, Principal, WhenBusy, failpoint};
use omniassist_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::moments::{self, BEAT};
use crate::port;
use crate::shape::{self, Shape, Tempo};
use crate::store::{Store, encrypted, runs, scope};

pub(crate) const CHAT: &str = "c";

/// Leads the runs of the chat to their end, or to the question that they ask. What the viewer sees goes to the standard
/// output.
pub(crate) fn run(path: &str, ledger: &str, case: &str, shape: &str, is_encrypted: bool) {
    failpoint::watch(moments::at_point);
    let shape = Shape::all().find(|known| known.name() == shape).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::spawn(beat());
        failpoint::hit("child.start");
        if is_encrypted {
            serve(encrypted(Path::new(path)), ledger, case, shape).await;
        } else {
            serve(SqliteStore::open(path).unwrap(), ledger, case, shape).await;
        }
        failpoint::hit("child.end");
    });
    say("@end");
}

/// Shows how late timers fire.
async fn beat() {
    loop {
        moments::happens("beat");
        tokio::time::sleep(BEAT).await;
    }
}

async fn serve<S: Store>(store: S, ledger: &str, case: &str, shape: Shape) {
    failpoint::hit("child.opened");
    let builder = Assistant::builder(shape::recorded_model()).store(store.clone());
    let builder = shape::equip(builder, ledger, Some(case), Tempo::FAST);
    let service = AssistantService::new(builder.build().unwrap());
    match shape {
        Shape::Queue => lead_both(&store, &service).await,
        Shape::Port => port::serve(&store, &service).await,
        _ => lead(&store, &service, shape).await,
    }
}

async fn lead<S: Store>(store: &S, service: &AssistantService, shape: Shape) {
    let (mut has_posted, mut is_awake) = (false, false);
    loop {
        let head = store.find(&scope(), Which::Chat(CHAT)).await.unwrap();
        let Some(head) = head else {
            has_posted = true;
            view(service, request(&question(CHAT, "m1", &shape.question(1)))).await;
            continue;
        };
        let is_asked = head.obligations.iter().any(|question| question.answer.is_none());
        match head.state {
            RunState::Waiting if is_asked && has_posted => return,
            RunState::Waiting if is_asked => {
                has_posted = true;
                let body = json!({ "id": CHAT, "message": approved(store).await });
                view(service, request(&body)).await;
            }
            RunState::Running | RunState::Waiting => {
                if !std::mem::replace(&mut is_awake, true) {
                    wake(service).await;
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

/// Makes the process take runs over, as its first request does.
async fn wake(service: &AssistantService) {
    let chat = format!("wake-{}", std::process::id());
    post(service, request(&question(&chat, "m1", "Are you there?")), |_| {}).await;
}

/// Posts both questions until both runs have ended, the second one as soon as the first run is stored. A client whose
/// server has died may not come back: the runs that are stored then go on without it.
async fn lead_both<S: Store>(store: &S, service: &AssistantService) {
    let is_stored = runs(store, Shape::Queue).await.iter().all(Option::is_some);
    if is_stored && fastrand::bool() {
        wake(service).await;
        while runs(store, Shape::Queue).await.iter().flatten().any(|run| !run.state.is_ended()) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    loop {
        let second = async {
            while store.find(&scope(), Which::Chat(CHAT)).await.unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let mut second = repeatable(2);
            second.extensions_mut().insert(WhenBusy::Enqueue);
            view(service, second).await;
        };
        tokio::join!(view(service, repeatable(1)), second);
        let runs = runs(store, Shape::Queue).await;
        if runs.iter().flatten().filter(|run| run.state.is_ended()).count() == runs.len() {
            say("@state both ended");
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Creates a post that has its effect once, as often as it is sent.
fn repeatable(number: usize) -> Request<Full<Bytes>> {
    let id = format!("m{number}");
    let mut request = request(&question(CHAT, &id, &Shape::Queue.question(number)));
    request.headers_mut().insert("idempotency-key", id.parse().unwrap());
    request
}

pub(crate) fn question(chat: &str, id: &str, text: &str) -> Value {
    json!({"id": chat, "message": {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}})
}

pub(crate) fn request(body: &Value) -> Request<Full<Bytes>> {
    let request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    let mut request = request.body(Full::from(body.to_string())).unwrap();
    request.extensions_mut().insert(Principal::new("ada"));
    request
}

/// Returns the stored message with all its calls approved.
async fn approved<S: Store>(store: &S) -> Value {
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

async fn view(service: &AssistantService, request: Request<Full<Bytes>>) {
    let status = post(service, request, say).await;
    if status != StatusCode::OK {
        say(&format!("@status {status}"));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Posts a request, and passes the lines of the answer on.
pub(crate) async fn post(
    service: &AssistantService,
    request: Request<Full<Bytes>>,
    line: impl Fn(&str),
) -> StatusCode {
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
pub(crate) fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    drop(writeln!(output, "{line}").and_then(|()| output.flush()));
}
