//! Tests of shutdown: refused requests, runs that finish in time, and runs that the deadline ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use http::{StatusCode, Version, header};
use http_body_util::BodyExt;
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::{ErrorCode, Limits, RunEvent, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, CancellationToken, Principal, State, Tool, ToolError};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::dialects::{ROUTES, Shape, note, read_until, terminal};

const SENTENCE: &str = "Please send your message again.";

/// Returns a model that sends some text and then stalls.
fn stuck() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()))
}

fn assistant(model: &ScriptedProvider) -> Assistant {
    Assistant::builder(model.clone()).allow_anonymous().object(note()).build().unwrap()
}

fn draining(
    assistant: &Assistant,
    deadline: Duration,
) -> tokio::task::JoinHandle<omniassist_server::Drained> {
    let assistant = assistant.clone();
    tokio::spawn(async move { assistant.drain(deadline).await })
}

#[tokio::test(start_paused = true)]
async fn runs_that_end_before_the_deadline_are_not_interrupted() {
    let model = ScriptedProvider::new().otherwise(|_| {
        text("So far").then(Turn::delay(Duration::from_secs(20))).then(text(", and the rest"))
    });
    let assistant = assistant(&model);
    let answers: Vec<_> =
        (0..3).map(|_| tokio::spawn(assistant.run(RunRequest::prompt("go")).text())).collect();
    sleep(Duration::from_secs(1)).await;
    let started = Instant::now();
    let drained = assistant.drain(Duration::from_secs(25)).await;
    assert_eq!((drained.finished, drained.ended), (3, 0));
    assert_eq!(started.elapsed().as_secs(), 19, "the drain must return when the last run has ended");
    for answer in answers {
        assert_eq!(answer.await.unwrap().unwrap(), "So far, and the rest");
    }
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_every_dialect_reports_the_shutdown() {
    let model = stuck();
    let assistant = assistant(&model);
    let service = AssistantService::new(assistant.clone());
    let answers: Vec<_> = ROUTES
        .into_iter()
        .map(|route| {
            let service = service.clone();
            tokio::spawn(async move { (route, route.failure(route.ask(&service).await).await) })
        })
        .collect();
    while model.payloads().len() < ROUTES.len() {
        sleep(Duration::from_millis(5)).await;
    }
    let started = Instant::now();
    let drained = assistant.drain(Duration::from_secs(10)).await;
    assert_eq!((drained.finished, drained.ended), (0, ROUTES.len()));
    assert_eq!(started.elapsed().as_secs(), 10);
    for answer in answers {
        let (route, failure) = answer.await.unwrap();
        match failure {
            None => assert_eq!(route.shape, Shape::Text),
            Some((code, message)) => {
                assert_eq!(code, "server_shutdown", "{route:?}");
                assert!(message.ends_with(SENTENCE), "{message}");
            }
        }
    }
    assert_eq!(model.drops(), ROUTES.len(), "every connection to the provider must close");
    assert_eq!(assistant.live_runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_not_begun_has_a_status_with_retry_after() {
    for route in ROUTES.into_iter().filter(|route| matches!(route.shape, Shape::Text | Shape::OpenAiWhole)) {
        let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
        let assistant = assistant(&model);
        let service = AssistantService::new(assistant.clone());
        let answer = tokio::spawn(async move { route.ask(&service).await });
        while model.payloads().is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        assistant.drain(Duration::from_millis(10)).await;
        let response = answer.await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{route:?}");
        assert_eq!(response.headers()[header::RETRY_AFTER], "2");
        assert!(
            !response.headers().contains_key("x-should-retry"),
            "clients must be allowed to retry automatically"
        );
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&body).contains(SENTENCE), "{body:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn new_runs_are_refused_at_once_in_every_dialect() {
    let model = stuck();
    let assistant = assistant(&model);
    let service = AssistantService::new(assistant.clone());
    let mut under_way = ROUTES[0].ask(&service).await.into_body();
    read_until(&mut under_way, "So far").await;
    assert!(!assistant.is_draining());
    let draining = draining(&assistant, Duration::from_secs(3600));
    while !assistant.is_draining() {
        tokio::task::yield_now().await;
    }
    for route in ROUTES {
        let refused = route.refusal(route.ask(&service).await).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{route:?}");
        assert_eq!((refused.code.as_str(), refused.retry_after()), ("shutting_down", 2));
        assert!(refused.message.contains("send the request again"), "{}", refused.message);
        assert_eq!(refused.headers[header::CONNECTION], "close");
        assert!(refused.kind.is_empty() || refused.kind == "server_error");
        // HTTP/2 has no `connection` header.
        let mut request = route.request(Principal::anonymous());
        *request.version_mut() = Version::HTTP_2;
        let response = service.handle(request).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(!response.headers().contains_key(header::CONNECTION), "{route:?}");
    }
    let refused = assistant.try_run(RunRequest::prompt("go"), http::Extensions::new()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ShuttingDown);
    assert!(refused.is_unavailable() && refused.retry_after().is_some());
    let failure = assistant.run(RunRequest::prompt("go")).text().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::ServerShutdown));
    assert_eq!(model.payloads().len(), 1, "a refused run must not call the model");
    assert_eq!(assistant.live_runs(), 1);

    // Requests without a model call are answered as before, and the active run continues.
    let manifest = http::Request::get("/manifest.json").body(http_body_util::Empty::<bytes::Bytes>::new());
    assert_eq!(service.handle(manifest.unwrap()).await.status(), StatusCode::OK);
    assert!(!draining.is_finished());
    drop(under_way);
    let drained = draining.await.unwrap();
    assert_eq!((drained.finished, drained.ended), (1, 0), "a client that disconnects must end its run");
}

#[derive(Clone, Default)]
struct Counts {
    begun: Arc<AtomicUsize>,
    fired: Arc<AtomicUsize>,
    wound_up: Arc<AtomicUsize>,
}

async fn careful(State(counts): State<Counts>, token: CancellationToken) -> Result<u32, ToolError> {
    counts.begun.fetch_add(1, Ordering::SeqCst);
    token.cancelled().await;
    counts.fired.fetch_add(1, Ordering::SeqCst);
    sleep(Duration::from_millis(1_900)).await;
    counts.wound_up.fetch_add(1, Ordering::SeqCst);
    Ok(1)
}

async fn stubborn(State(counts): State<Counts>) -> Result<u32, ToolError> {
    counts.begun.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
    counts.wound_up.fetch_add(1, Ordering::SeqCst);
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn tools_have_a_grace_period_after_the_deadline() {
    for (name, wound_up) in [("careful", 1), ("stubborn", 0)] {
        let counts = Counts::default();
        let model = ScriptedProvider::new().turn(call(name, json!({})));
        let assistant = Assistant::builder(model)
            .allow_anonymous()
            .state(counts.clone())
            .tool(Tool::new("careful", "Winds up", careful))
            .tool(Tool::new("stubborn", "Does not", stubborn))
            .build()
            .unwrap();
        let events = tokio::spawn(assistant.run(RunRequest::prompt("go")).collect::<Vec<_>>());
        while counts.begun.load(Ordering::SeqCst) == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        let started = Instant::now();
        let drained = assistant.drain(Duration::from_secs(5)).await;
        assert_eq!(drained.ended, 1);
        let took = started.elapsed();
        assert!((6_900..7_100).contains(&took.as_millis()), "{name}: {took:?}");
        assert_eq!(counts.wound_up.load(Ordering::SeqCst), wound_up, "{name}");
        let events = events.await.unwrap();
        let RunEvent::Error { code, .. } = terminal(&events) else { panic!("{events:?}") };
        assert_eq!(*code, RunErrorCode::ServerShutdown);
        let told = events.iter().filter(|event| matches!(event, RunEvent::ToolError { .. })).count();
        assert_eq!(told, 1, "the client must receive the error of the interrupted call");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_drain_does_not_wait_for_a_tool_that_blocks_its_thread() {
    let (release, blocked) = std::sync::mpsc::channel::<()>();
    let (begins, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let blocked = Arc::new(std::sync::Mutex::new(blocked));
    let tool = Tool::new("blocks", "Blocks", move || {
        let (blocked, begins) = (Arc::clone(&blocked), begins.clone());
        async move {
            begins.send(()).unwrap();
            let _ = blocked.lock().unwrap().recv();
            Ok::<_, ToolError>("unblocked")
        }
    });
    let mut limits = Limits::default();
    limits.tool_cancel_grace = Duration::from_millis(10);
    let model = ScriptedProvider::new().turn(call("blocks", json!({})));
    let assistant = Assistant::builder(model).allow_anonymous().limits(limits).tool(tool).build().unwrap();
    let answer = tokio::spawn(assistant.run(RunRequest::prompt("go")).text());
    begun.recv().await.unwrap();
    let drained = tokio::time::timeout(Duration::from_secs(30), assistant.drain(Duration::ZERO)).await;
    assert_eq!(drained.expect("the drain must end").ended, 1);
    assert_eq!(answer.await.unwrap().unwrap_err().code(), Some(RunErrorCode::ServerShutdown));
    release.send(()).expect("the tool must still block");
    assistant.tools().idle().await;
}

#[tokio::test(start_paused = true)]
async fn unread_bodies_do_not_delay_the_drain() {
    let model = stuck();
    let assistant = assistant(&model);
    let service = AssistantService::new(assistant.clone());
    let mut body = ROUTES[0].ask(&service).await.into_body();
    read_until(&mut body, "So far").await;
    let unpolled = assistant.run(RunRequest::prompt("go"));
    let started = Instant::now();
    let drained = assistant.drain(Duration::from_secs(5)).await;
    assert_eq!((drained.finished, drained.ended), (0, 2));
    assert_eq!(started.elapsed().as_secs(), 7, "the deadline and the grace period");
    assert_eq!(model.drops(), 1, "the provider's connection must close");
    drop(unpolled);
    // A body whose run was dropped fails on the next read, so that its connection closes.
    assert!(body.collect().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_two_deadlines_applies_and_shutdown_does_not_wait() {
    let model = stuck();
    let assistant = assistant(&model);
    let answer = tokio::spawn(assistant.run(RunRequest::prompt("go")).collect::<Vec<_>>());
    while model.payloads().is_empty() {
        sleep(Duration::from_millis(5)).await;
    }
    let started = Instant::now();
    let patient = draining(&assistant, Duration::MAX);
    let impatient = draining(&assistant, Duration::from_secs(1));
    assert_eq!(impatient.await.unwrap().ended, 1);
    assert_eq!(patient.await.unwrap().finished, 1);
    assert_eq!(started.elapsed().as_secs(), 1);
    assert!(matches!(
        terminal(&answer.await.unwrap()),
        RunEvent::Error { code: RunErrorCode::ServerShutdown, .. }
    ));
    assistant.shutdown().await;
    assert_eq!(assistant.drain(Duration::from_secs(60)).await, omniassist_server::Drained::default());
    assert_eq!(started.elapsed().as_secs(), 1, "no run is left to wait for");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_drain_does_not_interrupt_the_runs() {
    let model = ScriptedProvider::new()
        .turn(text("So far").then(Turn::delay(Duration::from_secs(60))).then(text(", and the rest")));
    let assistant = assistant(&model);
    let answer = tokio::spawn(assistant.run(RunRequest::prompt("go")).text());
    sleep(Duration::from_secs(1)).await;
    let given_up = tokio::time::timeout(Duration::from_secs(2), assistant.drain(Duration::from_secs(5)));
    given_up.await.unwrap_err();
    assert_eq!(answer.await.unwrap().unwrap(), "So far, and the rest");
    assert!(assistant.is_draining());
}
