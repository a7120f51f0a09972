//! A server whose database fails while a run goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use omniassist_postgres::PostgresStore;
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::store::{ConversationStore, RunState, RunStore, Scope, Which, Window};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::{Tool, ToolError};
use omniassist_server::{Assistant, Principal};
use serde_json::json;
use tokio::time::sleep;

/// The outage that a run survives, with a second for the machine.
const SURVIVED: Duration = Duration::from_secs(4);

/// A failure of the database.
pub(super) trait Fault: Send + Sync + 'static {
    fn begin(&self);

    fn end(&self);

    /// Returns the URL of the store.
    fn url(&self) -> String;
}

/// Checks what a server does during a failure that begins when the model of a run has begun to write:
///
/// - a post to another chat is refused before its model is called;
/// - text goes on, and the tool that is called does not run before its call is durable;
/// - after the failure, the run goes on, its tool runs once, and nothing is lost.
pub(super) async fn check(fault: impl Fault) {
    let fault = Arc::new(fault);
    let store = connect(&fault.url()).await;
    let is_down = Arc::new(AtomicBool::new(false));
    let (refunds, early) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begins, down) = (Arc::clone(&fault), Arc::clone(&is_down));
    let model = ScriptedProvider::new()
        .turn_with(move |_| {
            begins.begin();
            down.store(true, Ordering::SeqCst);
            Turn::text("Half")
                .then(Turn::delay(Duration::from_millis(300)))
                .then(text(" and half."))
                .then(call("refund", json!({ "note": long() })))
        })
        .turn(text("Done."));
    let (counted, too_early, down) = (Arc::clone(&refunds), Arc::clone(&early), Arc::clone(&is_down));
    let refund = Tool::new("refund", "Refunds an order", move || {
        counted.fetch_add(1, Ordering::SeqCst);
        too_early.fetch_add(usize::from(down.load(Ordering::SeqCst)), Ordering::SeqCst);
        async { Ok::<_, ToolError>("refunded") }
    });
    let assistant = Assistant::builder(model.clone()).tool(refund).store(store.clone()).build().unwrap();

    let mut response = post(&assistant, "c").await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut answer = read_until(&mut response, "Half").await;
    let began = Instant::now();
    answer += &read_until(&mut response, " and half.").await;

    let refused = post(&assistant, "another").await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key(header::RETRY_AFTER));
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    assert!(str::from_utf8(&body).unwrap().contains("store_unavailable"), "{body:?}");
    assert_eq!(model.payloads().len(), 1, "no model was paid for the refused post");

    is_down.store(false, Ordering::SeqCst);
    fault.end();
    let outage = began.elapsed();
    let rest = response.into_body().collect().await.unwrap().to_bytes();
    answer += str::from_utf8(&rest).unwrap();

    let state = settled(&store).await;
    assert_eq!(early.load(Ordering::SeqCst), 0, "a tool ran before its call was durable");
    if outage < SURVIVED {
        assert_eq!(state, RunState::Finished, "after {outage:?}: {answer}");
        assert!(answer.contains(r#""type":"finish""#) && answer.contains("Done."), "{answer}");
        assert_eq!(refunds.load(Ordering::SeqCst), 1);
    } else {
        assert_eq!(
            refunds.load(Ordering::SeqCst),
            usize::from(state == RunState::Finished),
            "after {outage:?}"
        );
    }
    let scope = Scope::new("ada");
    let stored = store.load(&scope, "c", &Window::default()).await.unwrap().unwrap();
    let last = str::from_utf8(&stored.messages.last().unwrap().body).unwrap();
    assert!(last.contains("Half") && last.contains(" and half."), "{last}");
    assert!(store.load(&scope, "another", &Window::default()).await.unwrap().is_none());
}

pub(super) async fn connect(url: &str) -> PostgresStore {
    // A second, so that a statement that waits for a lock is given up within the outage.
    let second = Duration::from_secs(1);
    loop {
        // A machine that compiles meanwhile may need longer for the tables.
        if PostgresStore::options().timeout(Duration::from_secs(30)).connect(url).await.is_ok() {
            break;
        }
    }
    PostgresStore::options().timeout(second).connect_timeout(second).connect(url).await.unwrap()
}

async fn post(assistant: &Assistant, chat: &str) -> Response<AssistantBody> {
    let message = json!({ "id": "m1", "role": "user", "parts": [{ "type": "text", "text": long() }] });
    let mut request = Request::post("/").header(header::CONTENT_TYPE, "application/json");
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    let body = json!({ "id": chat, "message": message }).to_string();
    AssistantService::new(assistant.clone()).handle(request.body(Full::<Bytes>::from(body)).unwrap()).await
}

/// Returns a text that needs pages of its own, however it is compressed.
fn long() -> String {
    let mut random = 1_u32;
    let mut digit = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_digit(random >> 28, 16).unwrap()
    };
    (0..50_000).map(|_| digit()).collect()
}

async fn read_until(response: &mut Response<AssistantBody>, end: &str) -> String {
    let mut read = String::new();
    while !read.contains(end) {
        let frame = response.frame().await.unwrap_or_else(|| panic!("no {end} in {read}")).unwrap();
        read += str::from_utf8(&frame.into_data().unwrap()).unwrap();
    }
    read
}

/// Returns the state in which the run has ended.
async fn settled(store: &PostgresStore) -> RunState {
    let since = Instant::now();
    loop {
        match store.find(&Scope::new("ada"), Which::Chat("c")).await {
            Ok(Some(head)) if head.state.is_ended() => return head.state,
            found => assert!(since.elapsed() < Duration::from_secs(60), "{found:?}"),
        }
        sleep(Duration::from_millis(50)).await;
    }
}
