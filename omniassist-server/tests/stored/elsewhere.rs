//! Viewers, answers and stops that reach another instance than the one that drives a run.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::Response;
use omniassist_server::core::{FinishReason, Limits};
use omniassist_server::{AssistantBuilder, Refusal, RunContext, RunPlan, StepPlan};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::outage::Unsteady;
use super::*;

pub(super) async fn get(assistant: &Assistant, uri: &str) -> Response<AssistantBody> {
    let mut request = Request::get(uri);
    request.extensions_mut().unwrap().insert(Principal::new("ada"));
    AssistantService::new(assistant.clone()).handle(request.body(Full::<Bytes>::default()).unwrap()).await
}

pub(super) async fn send(assistant: &Assistant, uri: &str, body: &Value) -> Response<AssistantBody> {
    let mut request = request(body);
    *request.uri_mut() = uri.parse().unwrap();
    AssistantService::new(assistant.clone()).handle(request).await
}

pub(super) async fn read(response: Response<AssistantBody>) -> String {
    assert_eq!(response.status(), StatusCode::OK);
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().into()).unwrap()
}

/// Reads a stream until its connection is cut, or it ends.
pub(super) async fn read_until_cut(response: Response<AssistantBody>) -> (String, bool) {
    let (mut body, mut read) = (response.into_body(), String::new());
    loop {
        match body.frame().await {
            Some(Ok(frame)) => read += str::from_utf8(frame.data_ref().unwrap()).unwrap(),
            Some(Err(_)) => return (read, true),
            None => return (read, false),
        }
    }
}

pub(super) async fn read_until(body: &mut AssistantBody, end: &str) -> String {
    let mut read = String::new();
    while !read.contains(end) {
        let frame = body.frame().await.expect("the stream goes on").unwrap();
        read += str::from_utf8(frame.data_ref().unwrap()).unwrap();
    }
    read
}

/// Reads until nothing comes for a second.
async fn read_until_silent(body: &mut AssistantBody) -> String {
    let mut read = String::new();
    while let Ok(Some(Ok(frame))) = timeout(Duration::from_secs(1), body.frame()).await {
        read += str::from_utf8(frame.data_ref().unwrap()).unwrap();
    }
    read
}

pub(super) fn text_of(stream: &str) -> String {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    chunks.filter_map(|chunk| chunk["delta"].as_str().map(str::to_owned)).collect()
}

/// Returns two instances on one store, of which only the first has a model.
fn two(turns: ScriptedProvider, tool: impl Fn() -> Option<Tool>) -> (Assistant, Assistant, MemoryStore) {
    let store = MemoryStore::new();
    let (first, other) = two_on(&store, turns, tool);
    (first, other, store)
}

fn two_on<S: RunStore + ConversationStore + Clone>(
    store: &S,
    turns: ScriptedProvider,
    tool: impl Fn() -> Option<Tool>,
) -> (Assistant, Assistant) {
    let build = |model| {
        let builder = Assistant::builder(model).store(store.clone());
        tool().into_iter().fold(builder, |builder, tool| builder.tool(tool)).build().unwrap()
    };
    (build(turns), build(ScriptedProvider::new().otherwise(|_| text("From the other"))))
}

fn slow() -> ScriptedProvider {
    let turn = Turn::text_chunks(["One ", "two "])
        .then(Turn::delay(Duration::from_secs(5)))
        .then(Turn::text_chunks(["three "]))
        .then(Turn::delay(Duration::from_millis(220)))
        .then(Turn::text_chunks(["and "]))
        .then(Turn::delay(Duration::from_secs(5)))
        .then(Turn::text_chunks(["four"]))
        .then(Turn::finish(FinishReason::Stop));
    ScriptedProvider::new().turn(turn)
}

#[tokio::test(start_paused = true)]
async fn a_viewer_elsewhere_sees_the_text_as_it_is_written() {
    let (first, other, store) = two(slow(), || None);
    viewer_elsewhere(first, other, store, Duration::from_millis(60)).await;
}

#[tokio::test(start_paused = true)]
async fn a_viewer_elsewhere_needs_no_hints() {
    let quiet = Unsteady::default();
    assert!(quiet.hints().is_none());
    let (first, other) = two_on(&quiet, slow(), || None);
    viewer_elsewhere(first, other, quiet.store, Duration::from_millis(110)).await;
}

async fn viewer_elsewhere(first: Assistant, other: Assistant, store: MemoryStore, soon: Duration) {
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "two").await;

    let mut viewer = get(&other, "/c/stream").await.into_body();
    let mut second = get(&other, "/c/stream").await.into_body();
    assert_eq!(text_of(&read_until(&mut viewer, "One two ").await), "One two ");
    read_until(&mut body, "three").await;
    // From the first write on, the instance of the run knows of the viewer.
    assert_eq!(text_of(&read_until(&mut viewer, "three").await), "three ");
    read_until(&mut body, "and").await;
    timeout(soon, read_until(&mut viewer, "and")).await.expect("it is shown soon");

    read_until(&mut body, "DONE").await;
    timeout(soon, read_until(&mut viewer, "data: [DONE]")).await.expect("the end is shown soon");
    assert_eq!(text_of(&read_until(&mut second, "data: [DONE]").await), "One two three and four");
    assert_eq!(settled(&store).await, RunState::Finished);
    assert_eq!(messages(&store).await.last().unwrap().text(), "One two three and four");
}

#[tokio::test(start_paused = true)]
async fn text_does_not_wait_for_the_announcement_of_a_viewer() {
    let store = Unsteady::default();
    let words = Turn::text_chunks(["One "]).then(Turn::delay(Duration::from_secs(1)));
    let turn = words.then(Turn::text_chunks(["two "])).then(Turn::pending());
    let (first, other) = two_on(&store, ScriptedProvider::new().turn(turn), || None);
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "One").await;
    sleep(Duration::from_millis(500)).await;
    store.signal_ms.store(4_000, Ordering::SeqCst);
    let mut viewer = get(&other, "/c/stream").await.into_body();
    read_until(&mut body, "two").await;
    timeout(Duration::from_secs(1), read_until(&mut viewer, "two")).await.expect("it is shown soon");
}

/// An answer without content would say that there is nothing to resume.
#[tokio::test(start_paused = true)]
async fn a_page_comes_back_for_a_run_that_has_no_event_yet() {
    let store = MemoryStore::new();
    let plans = async |_: &mut RunPlan| {
        sleep(Duration::from_secs(3)).await;
        Ok::<_, Refusal>(())
    };
    let first = Assistant::builder(slow()).store(store.clone()).prepare(plans).build().unwrap();
    let service = AssistantService::new(first);
    let _posted = tokio::spawn(async move { service.handle(request(&ask("m1", "Count"))).await });
    sleep(Duration::from_millis(100)).await;
    let other = Assistant::builder(ScriptedProvider::new()).store(store.clone()).build().unwrap();
    let early = get(&other, "/c/stream").await;
    assert_eq!(early.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(early.headers()["retry-after"], "2");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(text_of(&read(get(&other, "/c/stream").await).await), "One two three and four");
}

#[tokio::test(start_paused = true)]
async fn a_cursor_holds_on_another_instance() {
    let (first, other, store) = two(slow(), || None);
    let response = AssistantService::new(first.clone()).handle(request(&ask("m1", "Count"))).await;
    let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
    let reading = tokio::spawn(read(response));
    sleep(Duration::from_secs(1)).await;

    let rest = read(get(&other, &format!("/runs/{run}/events?after=1.4")).await).await;
    let whole = reading.await.unwrap();
    assert!(whole.ends_with(&rest) && rest.starts_with("id: 1.5\n"), "{whole}\n{rest}");
    settled(&store).await;
}

/// A client that has everything so far must not wait for the head of its response.
#[tokio::test(start_paused = true)]
async fn a_viewer_elsewhere_is_answered_before_there_is_more() {
    let (first, other, store) = two(slow(), || None);
    let response = AssistantService::new(first.clone()).handle(request(&ask("m1", "Count"))).await;
    let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
    let mut body = response.into_body();
    read_until(&mut body, "two").await;
    sleep(Duration::from_secs(1)).await;
    let uri = format!("/{run}.1/stream?startIndex=5");
    let viewer = timeout(Duration::from_millis(10), get(&other, &uri)).await.expect("a head").into_body();
    let rest =
        tokio::spawn(async { String::from_utf8(viewer.collect().await.unwrap().to_bytes().into()).unwrap() });
    read_until(&mut body, "DONE").await;
    assert_eq!(text_of(&rest.await.unwrap()), "three and four");
    settled(&store).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_connects_to_another_instance() {
    let (first, other, store) = two(slow(), || None);
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "two").await;
    sleep(Duration::from_secs(1)).await;
    let thread = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [], "tools": [],
        "context": [], "forwardedProps": {}});
    let connected = read(send(&other, "/ag-ui/connect", &thread).await).await;
    assert!(connected.contains("MESSAGES_SNAPSHOT") && connected.contains("One two "), "{connected}");
    assert_eq!(text_of(&connected), "three and four", "{connected}");
    assert!(connected.contains("RUN_FINISHED"), "{connected}");
    settled(&store).await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_reaches_the_instance_of_the_run() {
    let words = (0..2_000).fold(Turn::new(), |turn, number| {
        turn.then(Turn::text_chunks([format!("{number} ")])).then(Turn::delay(Duration::from_millis(20)))
    });
    let (first, other, store) = two(ScriptedProvider::new().turn(words), || None);
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "10 ").await;
    let asked = Instant::now();
    let stopped = read(send(&other, "/c/stop", &json!({})).await).await;
    assert_eq!(stopped, r#"{"state":"stopped","stopped":true}"#);
    assert!(asked.elapsed() <= Duration::from_millis(500), "{:?}", asked.elapsed());
    assert_eq!(state(&store).await, RunState::Stopped);
    assert!(read_until(&mut body, "DONE").await.contains("abort"));
}

/// A run that writes nothing learns of a stop by a hint.
#[tokio::test(start_paused = true)]
async fn a_stop_reaches_a_silent_run_at_once() {
    let model = ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()));
    let (first, other, store) = two(model, || None);
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "Half").await;
    sleep(Duration::from_millis(300)).await;
    let asked = Instant::now();
    assert!(read(send(&other, "/c/stop", &json!({})).await).await.contains("true"));
    assert!(asked.elapsed() <= Duration::from_millis(60), "{:?}", asked.elapsed());
    assert_eq!(messages(&store).await.last().unwrap().text(), "Half");
}

/// The other instance forces the end of the run before the instance of the run looks at its signals.
#[tokio::test(start_paused = true)]
async fn a_silent_tool_is_cancelled_soon_after_a_stop_without_hints() {
    struct Cancelled(Arc<Notify>);
    impl Drop for Cancelled {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let store = Unsteady::default();
    assert!(store.hints().is_none());
    let (begun, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = || {
        let (begun, cancelled) = (Arc::clone(&begun), Arc::clone(&cancelled));
        let wait = move || {
            let cancelled = Cancelled(Arc::clone(&cancelled));
            begun.notify_one();
            async move {
                let _cancelled = cancelled;
                std::future::pending::<Result<&str, ToolError>>().await
            }
        };
        Some(Tool::new("wait", "Waits", wait))
    };
    let model = ScriptedProvider::new().turn(call("wait", json!({})));
    let (first, other) = two_on(&store, model, wait);
    let body = open(&first, &ask("m1", "Wait")).await;
    begun.notified().await;
    // What is under way is written.
    sleep(Duration::from_millis(300)).await;
    let stopped = read(send(&other, "/c/stop", &json!({})).await).await;
    assert_eq!(stopped, r#"{"state":"stopped","stopped":true}"#);
    // The next beat is up to 2 s later, and a tool that is cancelled has 2 s to end.
    timeout(Duration::from_secs(5), cancelled.notified()).await.expect("the tool is cancelled");
    assert_eq!(state(&store.store).await, RunState::Stopped);
    drop(body);
}

/// The instances need no request to hand a run over.
#[tokio::test(start_paused = true)]
async fn a_drained_run_goes_on_elsewhere_at_once() {
    let model = ScriptedProvider::new().turn(Turn::text("Half").then(Turn::pending()));
    let (first, other, store) = two(model, || None);
    // The lease of the other instance begins with its first request.
    assert_eq!(get(&other, "/none/stream").await.status(), StatusCode::NO_CONTENT);
    open(&other, &json!({"id": "d", "message": ask("m1", "Hi")["message"]})).await.collect().await.unwrap();
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "Half").await;
    sleep(Duration::from_millis(300)).await;
    let drained = Instant::now();
    assert_eq!(first.drain(Duration::ZERO).await.released, 1);
    assert_eq!(settled(&store).await, RunState::Finished);
    assert!(drained.elapsed() <= Duration::from_millis(100), "{:?}", drained.elapsed());
    assert_eq!(messages(&store).await.last().unwrap().text(), "From the other");
}

#[tokio::test(start_paused = true)]
async fn an_approval_on_two_instances_has_one_effect() {
    let effects = Arc::new(AtomicUsize::new(0));
    let refund = || {
        let effects = Arc::clone(&effects);
        let refund = Tool::new("refund", "Refunds an order", move || {
            let effects = Arc::clone(&effects);
            async move {
                effects.fetch_add(1, Ordering::SeqCst);
                sleep(Duration::from_secs(1)).await;
                Ok::<_, ToolError>("refunded")
            }
        });
        Some(refund.requires_approval(Approval::always()))
    };
    let model = ScriptedProvider::new().turn(call("refund", json!({"order": 17})));
    let (first, other, store) = two(model.otherwise(|_| text("It is refunded.")), refund);
    post(&first, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);

    let mut message = serde_json::to_value(messages(&store).await.last().unwrap()).unwrap();
    for part in message["parts"].as_array_mut().unwrap() {
        if part["state"] == "approval-requested" {
            part["state"] = "approval-responded".into();
            part["approval"]["approved"] = true.into();
        }
    }
    let answer = json!({"id": "c", "message": message});
    let (one, two) = tokio::join!(post(&first, &answer), post(&other, &answer));
    for outcome in [&one, &two] {
        assert!(outcome.contains("refunded") && outcome.ends_with("data: [DONE]\n\n"), "{outcome}");
    }
    assert_eq!(text_of(&one), text_of(&two));
    assert_eq!((effects.load(Ordering::SeqCst), settled(&store).await), (1, RunState::Finished));
}

/// A message that waited for an approval has two legs. A viewer elsewhere gets the earlier parts once, then the second leg.
#[tokio::test(start_paused = true)]
async fn a_viewer_elsewhere_sees_a_message_that_goes_on() {
    let rest = Turn::text("It is ").then(Turn::delay(Duration::from_secs(5))).then(text("refunded."));
    let model = ScriptedProvider::new()
        .turn(Turn::text("One moment.").then(call("refund", json!({"order": 17}))))
        .turn(rest);
    let refund = || {
        let refund = Tool::new("refund", "Refunds an order", || async { Ok::<_, ToolError>("ok") });
        Some(refund.requires_approval(Approval::always()))
    };
    let (first, other, store) = two(model, refund);
    post(&first, &ask("m1", "Refund it")).await;
    assert_eq!(settled(&store).await, RunState::Waiting);
    let head = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    let uri = format!("/runs/{}/obligations/{}", head.run, head.obligations[0].call);
    assert_eq!(send(&first, &uri, &json!({"approved": true})).await.status(), StatusCode::OK);
    sleep(Duration::from_secs(1)).await;

    let replay = read(get(&other, "/c/stream").await).await;
    assert_eq!(text_of(&replay), "One moment.It is refunded.", "{replay}");
    assert_eq!(replay.matches(r#""type":"start""#).count(), 1, "{replay}");
    assert!(replay.contains(r#""output":"ok""#) && !replay.contains("tool-input-available"), "{replay}");
    assert_eq!(settled(&store).await, RunState::Finished);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_watched_elsewhere_does_not_end_with_its_client() {
    let store = MemoryStore::new();
    let build = |model| {
        let builder = Assistant::builder(model).store(store.clone());
        builder.on_disconnect(OnDisconnect::Cancel).build().unwrap()
    };
    let (first, other) = (build(slow()), build(ScriptedProvider::new()));
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "two").await;
    let viewer = tokio::spawn(read(get(&other, "/c/stream").await));
    read_until(&mut body, "three").await;
    sleep(Duration::from_millis(150)).await;
    drop(body);
    assert_eq!(text_of(&viewer.await.unwrap()), "One two three and four");
    assert_eq!(settled(&store).await, RunState::Finished);
}

/// A run that writes nothing is told by no write that it has a viewer elsewhere, or that the viewer has left.
#[tokio::test(start_paused = true)]
async fn a_silent_run_ends_with_its_last_viewer_elsewhere() {
    for stays in [true, false] {
        let store = MemoryStore::new();
        let turn = Turn::text("Half").then(Turn::delay(Duration::from_secs(60))).then(text(" and half"));
        let build = |model| {
            let builder = Assistant::builder(model).store(store.clone());
            builder.on_disconnect(OnDisconnect::Cancel).build().unwrap()
        };
        let (first, other) = (build(ScriptedProvider::new().turn(turn)), build(ScriptedProvider::new()));
        let mut body = open(&first, &ask("m1", "Go")).await;
        read_until(&mut body, "Half").await;
        // What is under way is written.
        sleep(Duration::from_millis(300)).await;
        let mut viewer = get(&other, "/c/stream").await.into_body();
        read_until(&mut viewer, "Half").await;
        sleep(Duration::from_secs(1)).await;
        drop(body);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(state(&store).await, RunState::Running);
        if stays {
            assert!(read_until(&mut viewer, "data: [DONE]").await.contains(" and half"));
            assert_eq!(settled(&store).await, RunState::Finished);
        } else {
            drop(viewer);
            let ended = timeout(Duration::from_secs(20), settled(&store)).await;
            assert_eq!(ended.expect("nobody watches it"), RunState::Stopped);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_watches_any_more_ends() {
    let store = MemoryStore::new();
    let words = (0..1_000).fold(Turn::new(), |turn, number| {
        turn.then(Turn::text_chunks([format!("{number} ")])).then(Turn::delay(Duration::from_millis(50)))
    });
    let build = |model| {
        let builder = Assistant::builder(model).store(store.clone());
        builder.on_disconnect(OnDisconnect::Cancel).build().unwrap()
    };
    let (first, other) = (build(ScriptedProvider::new().turn(words)), build(ScriptedProvider::new()));
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "2 ").await;
    let mut viewer = get(&other, "/c/stream").await.into_body();
    read_until(&mut viewer, "5 ").await;
    drop(body);
    read_until(&mut viewer, "20 ").await;
    drop(viewer);
    let left = Instant::now();
    assert_eq!(settled(&store).await, RunState::Stopped);
    assert!(left.elapsed() < Duration::from_secs(20), "{:?}", left.elapsed());
}

/// A client of version 7 and an agent see the answer of the next instance. A client that cannot withdraw text comes back.
#[test]
fn viewers_see_the_instance_that_takes_a_run_over() {
    let store = MemoryStore::new();
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (killed, next) = (runtime(), runtime());
    let model = ScriptedProvider::new().turn(Turn::text("The first try").then(Turn::pending()));
    let first = Assistant::builder(model).store(store.clone()).build().unwrap();
    let model = ScriptedProvider::new().otherwise(|_| text("The second try"));
    let other = Assistant::builder(model).store(store.clone()).build().unwrap();
    killed.block_on(async {
        let mut body = open(&first, &ask("m1", "Go")).await;
        read_until(&mut body, "first").await;
        sleep(Duration::from_secs(1)).await;
    });
    drop(killed);
    next.block_on(async {
        let thread = json!({"threadId": "c", "runId": "r", "state": {}, "messages": [], "tools": [],
            "context": [], "forwardedProps": {}});
        let run = store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
        let (v7, v5) = (get(&other, "/c/stream?ai-sdk=7").await, get(&other, "/c/stream?ai-sdk=5").await);
        let counted = get(&other, &format!("/runs/{}/events?ai-sdk=7", run.run)).await;
        let agent = send(&other, "/ag-ui/connect", &thread).await;
        let (v7, v5, counted, agent) =
            tokio::join!(read(v7), read_until_cut(v5), read_until_cut(counted), read(agent));
        let reset = v7.find("reset-step").expect("the text is withdrawn");
        assert!(text_of(&v7[..reset]).contains("first") && text_of(&v7[reset..]) == "The second try", "{v7}");
        assert!(v7.ends_with("data: [DONE]\n\n"), "{v7}");
        assert!(v5.1 && !v5.0.contains("second"), "{v5:?}");
        assert!(counted.1 && !counted.0.contains("second"), "{counted:?}");
        assert!(agent.contains("The second try") && agent.contains("RUN_FINISHED"), "{agent}");
        assert_eq!(settled(&store).await, RunState::Finished);
    });
}

fn look() -> Tool {
    Tool::new("look", "Looks", || async { Ok::<_, ToolError>("found") })
}

/// Stops a server when a client has seen this text. Returns what it has seen, the name of the run, and the runtime of the
/// next server.
fn stopped_after(text: &str, turn: Turn, store: &MemoryStore) -> (String, String, Runtime) {
    stopped_with(ScriptedProvider::new().turn(turn), text, store)
}

fn stopped_with(model: ScriptedProvider, text: &str, store: &MemoryStore) -> (String, String, Runtime) {
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (killed, next) = (runtime(), runtime());
    let first = Assistant::builder(model).tool(look()).store(store.clone()).build().unwrap();
    let (seen, run) = killed.block_on(async {
        let response = AssistantService::new(first.clone()).handle(request(&ask("m1", "Go"))).await;
        let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
        (read_until(&mut response.into_body(), text).await, run)
    });
    (seen, run, next)
}

/// Nothing of the step is in the journal, not even its start. A client that has some of its text must withdraw it.
#[test]
fn a_step_that_was_never_written_is_withdrawn() {
    let store = MemoryStore::new();
    let turn = Turn::text("The first try").then(Turn::pending());
    let (seen, run, next) = stopped_after("first", turn, &store);
    let other = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("The second try")));
    let other = other.store(store.clone()).build().unwrap();
    next.block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        let events =
            async |query: &str| read(get(&other, &format!("/runs/{run}/events?{query}")).await).await;
        let v7 = events(&format!("after={last}&ai-sdk=7")).await;
        assert!(v7.starts_with("id: 2.2\ndata: {\"type\":\"reset-step\"}\n\nid: 2.3\n"), "{seen}{v7}");
        assert_eq!(v7.matches("\"start").count(), 0, "{v7}");
        assert_eq!(text_of(&v7), "The second try");
        // A client without text of the step has nothing to withdraw.
        let start = events("after=1.1&ai-sdk=7").await;
        assert!(start.starts_with("id: 2.2\ndata: {\"type\":\"start-step\"}"), "{start}");
        // A client that cannot withdraw text gets the message from its start.
        assert!(events(&format!("after={last}&ai-sdk=5")).await.contains("\"start\""));
        let counted = read(get(&other, &format!("/{run}.1/stream?startIndex=4")).await).await;
        assert!(counted.contains("reset-step") && text_of(&counted) == "The second try", "{counted}");
        assert_eq!(settled(&store).await, RunState::Finished);
    });
}

/// An instance that was suspended does not know that another one has taken over its run.
#[test]
fn an_instance_that_was_suspended_does_not_show_its_own_text_to_a_viewer_of_the_next_one() {
    let store = MemoryStore::new();
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (suspended, next) = (runtime(), runtime());
    let build = |turn: Turn| {
        Assistant::builder(ScriptedProvider::new().turn(turn)).store(store.clone()).build().unwrap()
    };
    let words = ["first one", "first two", "first three", "first four", "first five"];
    let first = build(Turn::text_chunks(words).then(Turn::pending()));
    let other = build(Turn::text("The second try").then(Turn::pending()));
    let (run, _body) = suspended.block_on(async {
        let response = AssistantService::new(first.clone()).handle(request(&ask("m1", "Go"))).await;
        let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
        let mut body = response.into_body();
        read_until(&mut body, "five").await;
        (run, body)
    });
    let last = next.block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let mut body = get(&other, &format!("/runs/{run}/events?ai-sdk=7")).await.into_body();
        let seen = read_until(&mut body, "second").await;
        seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned()
    });
    assert!(last.starts_with("2."), "{last}");
    suspended.block_on(async {
        let mut body = get(&first, &format!("/runs/{run}/events?after={last}&ai-sdk=7")).await.into_body();
        let read = read_until_silent(&mut body).await;
        assert!(!read.contains("first"), "{read}");
    });
}

/// An instance that can write no more finds itself as that of the run, and another one claims the run before it has read the
/// journal. Its own text belongs to no epoch of the journal that it has read.
#[tokio::test(start_paused = true)]
async fn an_instance_does_not_count_its_own_text_in_the_epoch_of_the_next_one() {
    let connection = Unsteady::default();
    let turn = Turn::text("Kept ").then(Turn::delay(Duration::from_secs(1)));
    let turn = turn.then(Turn::text_chunks(["lost "])).then(Turn::pending());
    let first = Assistant::builder(ScriptedProvider::new().turn(turn)).store(connection.clone());
    let first = first.build().unwrap();
    let other = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("The second try")));
    let slow_prompt = async |_: RunContext| {
        sleep(Duration::from_secs(10)).await;
        Ok::<_, Infallible>("Be brief.")
    };
    let other = other.system_prompt(slow_prompt).store(connection.store.clone()).build().unwrap();
    // The lease of the other instance begins with its first request.
    post(&other, &json!({"id": "d", "message": ask("m1", "Hi")["message"]})).await;

    let response = AssistantService::new(first.clone()).handle(request(&ask("m1", "Go"))).await;
    let run = response.headers()["x-omniassist-run"].to_str().unwrap().to_owned();
    let mut body = response.into_body();
    let mut seen = read_until(&mut body, "Kept").await;
    sleep(Duration::from_millis(500)).await;
    connection.goes_down();
    read_until(&mut body, "lost").await;
    let rest = async |assistant: &Assistant, seen: &str| {
        let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        get(assistant, &format!("/runs/{run}/events?after={last}&ai-sdk=7")).await
    };
    // The claim comes before the read, and the text is withdrawn after it.
    connection.read_ms.store(9_000, Ordering::SeqCst);
    seen += &read_until_silent(&mut rest(&first, &seen).await.into_body()).await;
    let claimed = connection.store.find(&scope(), Which::Chat("c")).await.unwrap().unwrap();
    assert_eq!((claimed.state, claimed.epoch), (RunState::Running, 2));
    seen += &read(rest(&other, &seen).await).await;
    let reset = seen.find("reset-step").expect("the text is withdrawn");
    assert_eq!(text_of(&seen[reset..]), "The second try", "{seen}");
    assert_eq!(messages(&connection.store).await.last().unwrap().text(), "The second try");
}

/// A viewer that reads slowly reads the journal. Another instance may have written to it meanwhile.
#[tokio::test(start_paused = true)]
async fn a_slow_viewer_of_an_epoch_does_not_read_the_next_one() {
    let connection = Unsteady::default();
    let words: Vec<_> = (0..600).map(|number| format!("{number} ")).collect();
    let turn = Turn::text_chunks(words).then(Turn::pending());
    let first = Assistant::builder(ScriptedProvider::new().turn(turn)).store(connection.clone());
    let first = first.build().unwrap();
    let other = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("The second try")));
    let other = other.store(connection.store.clone()).build().unwrap();
    let mut body = open(&first, &ask("m1", "Count")).await;
    read_until(&mut body, "\"0 \"").await;
    sleep(Duration::from_secs(1)).await;
    connection.goes_down();
    sleep(Duration::from_secs(7)).await;
    assert_eq!(text_of(&read(get(&other, "/c/stream").await).await), "The second try");

    let read = read_until_silent(&mut body).await;
    assert!(read.contains("599 ") && !read.contains("second"), "{read}");
}

type Change = dyn Fn(AssistantBuilder) -> AssistantBuilder;

async fn slow_step(_: &mut StepPlan) -> Result<(), Refusal> {
    sleep(Duration::from_secs(1)).await;
    Ok(())
}

/// A client may be back before the model is asked again, and before that fails.
#[test]
fn a_step_that_was_never_written_is_withdrawn_when_it_begins_anew() {
    let slow_prompt = |builder: AssistantBuilder| {
        builder.system_prompt(async |_: RunContext| {
            sleep(Duration::from_secs(1)).await;
            Ok::<_, Infallible>("Be brief.")
        })
    };
    let slow_step = |builder: AssistantBuilder| builder.prepare_step(slow_step);
    let second = || text("The second try");
    let cases: [(Turn, &str, &Change); 3] = [
        (second(), "The second try", &slow_prompt),
        (second(), "The second try", &slow_step),
        (Turn::interrupted(), "\"error\"", &slow_step),
    ];
    for (again, rest, slow) in cases {
        let store = MemoryStore::new();
        let turn = Turn::text("The first try").then(Turn::pending());
        let (seen, run, next) = stopped_after("first", turn, &store);
        let other = slow(Assistant::builder(ScriptedProvider::new().turn(again)).store(store.clone()));
        let other = other.build().unwrap();
        next.block_on(async {
            tokio::time::advance(Duration::from_secs(7)).await;
            let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
            let after = async |at: &str, version: u8| {
                get(&other, &format!("/runs/{run}/events?after={at}&ai-sdk={version}")).await
            };
            let (v7, v5, start) = (after(last, 7).await, after(last, 5).await, after("1.1", 7).await);
            let (v7, v5, start) = tokio::join!(read(v7), read(v5), read(start));
            let at = ["reset-step", rest].map(|part| v7.find(part).unwrap_or_else(|| panic!("{part}: {v7}")));
            assert!(at[0] < at[1] && !v7.contains("start-step"), "{v7}");
            // A client that cannot withdraw text gets the message from its start.
            assert!(v5.contains("\"start\"") && !v5.contains("first"), "{v5}");
            // A client without text of the step has nothing to withdraw.
            assert!(!start.contains("reset-step") && start.contains(rest), "{start}");
        });
    }
}

/// The steps before it are in the journal, and the client keeps them.
#[test]
fn a_later_step_that_was_never_written_is_withdrawn_when_it_begins_anew() {
    let store = MemoryStore::new();
    let looks = Turn::text("I look.").then(call("look", json!({})));
    let model = ScriptedProvider::new().turn(looks).turn(Turn::text("The first try").then(Turn::pending()));
    let (seen, run, next) = stopped_with(model, "first", &store);
    let other = Assistant::builder(ScriptedProvider::new().turn(text("The second try"))).tool(look());
    let other = other.prepare_step(slow_step).store(store.clone()).build().unwrap();
    next.block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        let rest = read(get(&other, &format!("/runs/{run}/events?after={last}&ai-sdk=7")).await).await;
        assert!(rest.contains("reset-step") && !rest.contains("start-step"), "{seen}{rest}");
        assert_eq!(text_of(&rest), "The second try", "{seen}{rest}");
        let stored = messages(&store).await.last().unwrap().text();
        assert!(stored.ends_with("The second try") && !stored.contains("first"), "{stored}");
    });
}

/// The text that its server has shown and not written is withdrawn too, if the run is not asked again.
#[test]
fn text_that_was_never_written_is_withdrawn_from_a_run_that_ends() {
    let store = MemoryStore::new();
    let turn =
        Turn::text("Kept ").then(Turn::delay(Duration::from_secs(1))).then(Turn::text_chunks(["lost"]));
    let (seen, run, next) = stopped_after("lost", turn.then(Turn::pending()), &store);
    let other = Assistant::builder(ScriptedProvider::new()).store(store.clone()).build().unwrap();
    next.block_on(async {
        read(send(&other, "/c/stop", &json!({})).await).await;
        let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        let rest = read(get(&other, &format!("/runs/{run}/events?after={last}&ai-sdk=7")).await).await;
        assert!(rest.starts_with("id: 2.2\ndata: {\"type\":\"reset-step\"}"), "{seen}{rest}");
        assert!(text_of(&rest) == "Kept " && rest.contains("abort"), "{rest}");
        assert_eq!(messages(&store).await.last().unwrap().text(), "Kept ");
    });
}

#[test]
fn many_runs_of_an_instance_that_dies_go_on_soon() {
    const RUNS: usize = 60;
    let store = MemoryStore::new();
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (killed, next) = (runtime(), runtime());
    let build = |model: ScriptedProvider| {
        let mut limits = Limits::default();
        limits.max_runs_per_principal = RUNS;
        Assistant::builder(model).limits(limits).store(store.clone()).build().unwrap()
    };
    let first = build(ScriptedProvider::new().otherwise(|_| Turn::text("Half").then(Turn::pending())));
    let other = build(ScriptedProvider::new().otherwise(|_| text("The whole")));
    let chats: Vec<String> = (0..RUNS).map(|number| format!("c{number}")).collect();
    killed.block_on(async {
        for chat in &chats {
            let post = json!({"id": chat, "message": ask("m1", "Go")["message"]});
            read_until(&mut open(&first, &post).await, "Half").await;
        }
        sleep(Duration::from_secs(1)).await;
    });
    drop(killed);
    next.block_on(async {
        // The lease of the other instance begins with its first request.
        open(&other, &json!({"id": "d", "message": ask("m1", "Hi")["message"]}))
            .await
            .collect()
            .await
            .unwrap();
        sleep(Duration::from_secs(8)).await;
        for chat in &chats {
            let head = store.find(&scope(), Which::Chat(chat)).await.unwrap().unwrap();
            assert_eq!(head.state, RunState::Finished, "{chat}");
        }
    });
}

/// Versions 5 and 6 of the AI SDK cannot withdraw the text that an instance withdraws after its claim.
#[test]
fn a_viewer_that_cannot_withdraw_text_does_not_see_two_tries() {
    let store = MemoryStore::new();
    let runtime = || Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let (killed, next) = (runtime(), runtime());
    let model = ScriptedProvider::new().turn(Turn::text("The first try").then(Turn::pending()));
    let first = Assistant::builder(model).store(store.clone()).build().unwrap();
    killed.block_on(async {
        let mut body = open(&first, &ask("m1", "Go")).await;
        read_until(&mut body, "first").await;
        sleep(Duration::from_secs(1)).await;
    });
    drop(killed);
    let build = || Assistant::builder(ScriptedProvider::new().otherwise(|_| text("The second try")));
    let slow = |_| async {
        sleep(Duration::from_secs(3)).await;
        Ok::<_, std::io::Error>(Vec::new())
    };
    let second = build().store(store.clone()).context_for(slow).build().unwrap();
    let third = build().store(store.clone()).build().unwrap();
    next.block_on(async {
        tokio::time::advance(Duration::from_secs(7)).await;
        let taken_over = tokio::spawn(async move { read(get(&second, "/c/stream").await).await });
        sleep(Duration::from_secs(1)).await;
        let (v5, is_cut) = read_until_cut(get(&third, "/c/stream?ai-sdk=5").await).await;
        assert!(is_cut && !v5.contains("second"), "{v5}");
        assert_eq!(text_of(&read(get(&third, "/c/stream?ai-sdk=5").await).await), "The second try");
        assert_eq!(text_of(&taken_over.await.unwrap()), "The second try");
        assert_eq!(settled(&store).await, RunState::Finished);
    });
}
