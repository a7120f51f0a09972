//! Stored runs of a server that shuts down, or has stopped: they go on elsewhere, or end with what they wrote.

use std::future::ready;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Extensions;
use omniassist_server::observe::FinishedRun;
use omniassist_server::tool::Extension;
use omniassist_server::{AssistantBuilder, Recovery, Refusal, RunContext, RunPlan};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::elsewhere::get;
use super::outage::Unsteady;
use super::own_store::Own;
use super::*;

/// Returns a turn that takes ten seconds.
fn slow() -> Turn {
    Turn::text("Half").then(Turn::delay(Duration::from_secs(10))).then(text(" and half"))
}

fn server(store: &MemoryStore, turn: Turn) -> AssistantBuilder {
    Assistant::builder(ScriptedProvider::new().turn(turn)).store(store.clone())
}

/// Returns `true` if the body ends without an error.
async fn ends_well(body: AssistantBody) -> bool {
    body.collect().await.is_ok()
}

/// Makes a server look for runs that others have left, with a post that it refuses.
pub(super) async fn look(assistant: &Assistant) {
    let mut body = ask("m1", "Hello");
    (body["id"], body["message"]["role"]) = ("other".into(), "assistant".into());
    let response = AssistantService::new(assistant.clone()).handle(request(&body)).await;
    assert_eq!(response.status(), StatusCode::CONFLICT);
    sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_drained_run_goes_on_at_the_next_server_at_once() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).build().unwrap();
    let body = tokio::spawn(ends_well(open(&first, &ask("m1", "Go")).await));
    sleep(Duration::from_secs(1)).await;

    let drained = first.drain(Duration::from_secs(2)).await;
    let at = Instant::now();
    assert_eq!((drained.finished, drained.ended, drained.released), (0, 0, 1));
    assert!(!body.await.unwrap(), "the viewer must come back, so its response is cut");
    assert_eq!(state(&store).await, RunState::Running);
    assert_eq!(first.live_runs(), 0);

    let model = ScriptedProvider::new().otherwise(|_| text("The whole answer"));
    let second = Assistant::builder(model).store(store.clone()).build().unwrap();
    look(&second).await;
    assert_eq!(settled(&store).await, RunState::Finished);
    assert!(at.elapsed() < Duration::from_millis(500), "{:?}", at.elapsed());
    assert_eq!(messages(&store).await.last().unwrap().text(), "The whole answer");
}

/// The second server has claimed the run, and cannot load its conversation.
#[tokio::test(start_paused = true)]
async fn a_beat_that_arrives_late_does_not_keep_the_runs_of_a_drained_server() {
    let (store, own) = (Unsteady::default(), Own::default());
    let server = |turn| {
        let builder = Assistant::builder(ScriptedProvider::new().turn(turn)).store(store.clone());
        builder.conversations(own.clone()).build().unwrap()
    };
    let (first, second) = (server(slow()), server(slow()));
    let _body = open(&first, &ask("m1", "Go")).await;
    look(&second).await;
    own.is_down.store(true, Ordering::SeqCst);
    first.drain(Duration::ZERO).await;
    sleep(Duration::from_millis(3_900)).await;
    let head = store.store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.state), (2, RunState::Running));

    store.beat_ms.store(500, Ordering::SeqCst);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(store.beat_ms.load(Ordering::SeqCst), 0, "a beat is under way");
    second.drain(Duration::ZERO).await;
    sleep(Duration::from_secs(2)).await;
    own.is_down.store(false, Ordering::SeqCst);
    let at = Instant::now();
    let third = server(text("The whole answer"));
    look(&third).await;
    assert_eq!(settled(&store.store).await, RunState::Finished);
    assert!(at.elapsed() < Duration::from_millis(500), "{:?}", at.elapsed());
}

/// The server that ends a run calls the function, also for the part before it. Observers see each part.
#[tokio::test(start_paused = true)]
async fn a_released_run_is_finished_once() {
    let store = MemoryStore::new();
    let (sender, mut finished) = mpsc::unbounded_channel();
    let (outcome, mut outcomes) = mpsc::unbounded_channel();
    let on_finish = |builder: AssistantBuilder| {
        let (sender, outcome) = (sender.clone(), outcome.clone());
        let builder = builder.on_run_end(move |run| {
            let _ = outcome.send(run.outcome.as_str());
        });
        let builder = builder.on_finish(move |run: FinishedRun| ready(sender.send(run)));
        builder.build().unwrap()
    };
    let first = on_finish(server(&store, slow()));
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(first.drain(Duration::ZERO).await.released, 1);
    assert_eq!(outcomes.try_recv(), Ok("released"));

    let second = on_finish(server(&store, text("The whole answer")));
    look(&second).await;
    assert_eq!(settled(&store).await, RunState::Finished);
    second.shutdown().await;
    let run = finished.try_recv().unwrap();
    assert_eq!((run.report.outcome.as_str(), &*run.message.text()), ("finish", "The whole answer"));
    assert!(finished.try_recv().is_err());
    assert_eq!(outcomes.try_recv(), Ok("finish"));
    assert!(outcomes.try_recv().is_err());
}

/// Some servers end the runtime of a thread as soon as it has no connection.
#[tokio::test]
async fn a_run_whose_runtime_ends_is_released() {
    let store = MemoryStore::new();
    let assistant = server(&store, slow()).build().unwrap();
    let other = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let opened = assistant.clone();
    let _body = other.spawn(async move { open(&opened, &ask("m1", "Go")).await }).await.unwrap();
    let draining = assistant.clone();
    let draining = tokio::spawn(async move { draining.drain(Duration::from_secs(60)).await });
    sleep(Duration::from_millis(10)).await;
    other.shutdown_background();

    let drained = timeout(Duration::from_secs(20), draining).await.unwrap().unwrap();
    assert_eq!((drained.finished, drained.ended, drained.released), (0, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_before_the_deadline_is_not_released() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).build().unwrap();
    let body = tokio::spawn(ends_well(open(&first, &ask("m1", "Go")).await));
    sleep(Duration::from_secs(1)).await;

    let drained = first.drain(Duration::from_secs(20)).await;
    assert_eq!((drained.finished, drained.ended, drained.released), (1, 0, 0));
    assert_eq!(state(&store).await, RunState::Finished, "the end is durable when the drain returns");
    assert!(body.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_drained_run_ends_where_runs_are_not_resumed() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).recovery(Recovery::Interrupt).build().unwrap();
    let body = open(&first, &ask("m1", "Go")).await;
    let body = tokio::spawn(async move { body.collect().await.unwrap().to_bytes() });
    sleep(Duration::from_secs(1)).await;

    let drained = first.drain(Duration::from_secs(2)).await;
    assert_eq!((drained.ended, drained.released), (1, 0));
    assert_eq!(state(&store).await, RunState::Failed);
    let body = body.await.unwrap();
    assert!(String::from_utf8_lossy(&body).contains("Please send your message again."));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_ends_with_its_text() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    let second =
        Assistant::builder(model.clone()).store(store.clone()).recovery(Recovery::Interrupt).build().unwrap();
    look(&second).await;
    assert_eq!(settled(&store).await, RunState::Interrupted);
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half");
    for (version, reason) in [(6, "error"), (7, "interrupted")] {
        let uri = format!("/c/stream?ai-sdk={version}");
        let mut request = Request::get(uri).body(Full::<Bytes>::default()).unwrap();
        request.extensions_mut().insert(Principal::new("ada"));
        let replay = AssistantService::new(second.clone()).handle(request).await;
        let replay = replay.into_body().collect().await.unwrap().to_bytes();
        let finish = format!(r#"{{"type":"finish","finishReason":"{reason}""#);
        assert!(String::from_utf8_lossy(&replay).contains(&finish), "{version}: {replay:?}");
    }

    let answer = post(&second, &ask("m2", "Again")).await;
    assert!(answer.contains("The second try"), "{answer}");
    let sent = format!("{:?}", model.payloads().last().unwrap().transcript);
    assert!(sent.contains("Half") && sent.contains("Again"), "{sent}");
}

/// Text is written up to 100 ms later. A server that lets go of its runs writes it first.
#[tokio::test(start_paused = true)]
async fn a_released_run_has_the_latest_text() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).build().unwrap();
    let mut body = open(&first, &ask("m1", "Go")).await;
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("Half") {
        shown.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    assert_eq!(first.drain(Duration::ZERO).await.released, 1);

    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    let second =
        Assistant::builder(model).store(store.clone()).recovery(Recovery::Interrupt).build().unwrap();
    look(&second).await;
    assert_eq!(settled(&store).await, RunState::Interrupted);
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half");
}

#[derive(Clone)]
struct Plan(&'static str);

fn tool_of_plan() -> Tool {
    Tool::new("plan", "Returns the plan", |Extension(Plan(plan)): Extension<Plan>| async move {
        Ok::<_, ToolError>(plan)
    })
}

/// Stops a server, and returns the state in which another one leaves its run.
async fn recovered(
    store: &MemoryStore,
    hook: impl Fn(RunContext) -> Result<Extensions, std::io::Error> + Send + Sync + 'static,
) -> RunState {
    let first = server(store, slow()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    first.shutdown().await;

    let model = ScriptedProvider::new().turn_with(|_| call("plan", json!({}))).otherwise(|_| text("Done."));
    let second = Assistant::builder(model)
        .store(store.clone())
        .tool(tool_of_plan())
        .recover_with(move |run| std::future::ready(hook(run)))
        .build()
        .unwrap();
    look(&second).await;
    settled(store).await
}

#[tokio::test(start_paused = true)]
async fn a_recovered_run_has_the_extensions_of_the_host() {
    let store = MemoryStore::new();
    let state = recovered(&store, |run| {
        assert_eq!((run.principal().id(), run.chat_id().map(Text::as_str)), ("ada", Some("c")));
        let mut extensions = Extensions::new();
        extensions.insert(Plan("gold"));
        extensions.insert(Principal::new("mallory"));
        Ok(extensions)
    })
    .await;
    assert_eq!(state, RunState::Finished);
    let stored = serde_json::to_string(messages(&store).await.last().unwrap()).unwrap();
    assert!(stored.contains("gold"), "{stored}");
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_with_its_text_where_its_extensions_cannot_be_made() {
    let store = MemoryStore::new();
    let state = recovered(&store, |_| Err(std::io::Error::other("no database"))).await;
    assert_eq!(state, RunState::Interrupted);
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half");

    let store = MemoryStore::new();
    let state = recovered(&store, |_| panic!("a bug")).await;
    assert_eq!(state, RunState::Interrupted);
}

/// The response would keep the server that shuts down from ending.
#[tokio::test(start_paused = true)]
async fn a_viewer_of_a_run_of_another_server_is_cut() {
    let store = MemoryStore::new();
    let first = server(&store, slow()).build().unwrap();
    let _body = open(&first, &ask("m1", "Go")).await;
    sleep(Duration::from_secs(1)).await;
    let second = server(&store, text("Another answer")).build().unwrap();
    let viewer = get(&second, "/c/stream").await;
    assert_eq!(viewer.status(), StatusCode::OK);
    let viewer = tokio::spawn(ends_well(viewer.into_body()));
    sleep(Duration::from_secs(1)).await;
    second.shutdown().await;
    let viewer = timeout(Duration::from_secs(1), viewer).await.expect("its response ends");
    assert!(!viewer.unwrap(), "the viewer must come back");
    assert_eq!(settled(&store).await, RunState::Finished);
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half and half");
}

/// The response has no head yet, since the host still plans the run.
#[tokio::test(start_paused = true)]
async fn a_viewer_of_a_run_that_is_not_planned_is_cut_too() {
    let store = MemoryStore::new();
    let plans = async |_: &mut RunPlan| {
        std::future::pending::<()>().await;
        Ok::<_, Refusal>(())
    };
    let first = server(&store, slow()).prepare(plans).build().unwrap();
    let service = AssistantService::new(first.clone());
    let response = tokio::spawn(async move { service.handle(request(&ask("m1", "Go"))).await });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(first.drain(Duration::ZERO).await.released, 1);
    let response = timeout(Duration::from_secs(1), response).await.expect("an answer").unwrap();
    assert!(!ends_well(response.into_body()).await);
}
