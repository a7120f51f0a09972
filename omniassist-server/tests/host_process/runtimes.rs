//! Tests of current-thread runtimes, and of runtimes that end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use omniassist_server::core::{RunEvent, RunRequest};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, CancellationToken, Run, State, Tool, ToolError};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[derive(Clone, Default)]
struct Tokens(Arc<AtomicUsize>);

async fn works(State(begun): State<Tokens>, token: CancellationToken) -> Result<u32, ToolError> {
    begun.0.fetch_add(1, Ordering::SeqCst);
    token.cancelled().await;
    Ok(1)
}

/// Returns an assistant that answers by the words of the question: endless text, an endless tool, or an answer.
fn assistant(begun: &Tokens) -> Assistant {
    let model = ScriptedProvider::new().otherwise(|payload| {
        let asked = format!("{:?}", payload.transcript);
        match () {
            () if asked.contains("talk") => text("So far").then(Turn::pending()),
            () if asked.contains("slowly") => Turn::delay(Duration::from_secs(3600)),
            () if asked.contains("work") => call("works", json!({})),
            () => text("Hello"),
        }
    });
    let tool = Tool::new("works", "Works", works);
    Assistant::builder(model).allow_anonymous().state(begun.clone()).tool(tool).build().unwrap()
}

/// Starts a run and waits until its text or tool has begun.
async fn under_way(assistant: &Assistant, begun: &Tokens, question: &str) -> Run {
    let before = begun.0.load(Ordering::SeqCst);
    let mut run = assistant.run(RunRequest::prompt(question));
    loop {
        while futures_util::poll!(run.next()).is_ready() {}
        if question != "work" || begun.0.load(Ordering::SeqCst) > before {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Runs a function in its own thread, and fails if it does not end.
fn in_time(what: impl FnOnce() + Send + 'static) {
    let (done, ended) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        what();
        let _ = done.send(());
    });
    match ended.recv_timeout(Duration::from_secs(60)) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("the thread does not end"),
        _ => thread.join().expect("no panic"),
    }
}

#[test]
fn a_runtime_that_ends_drops_its_runs() {
    for make in [current_thread, multi_thread] {
        in_time(move || {
            let begun = Tokens::default();
            let assistant = assistant(&begun);
            let runtime = make();
            let (watched, counted) = (assistant.clone(), begun.clone());
            runtime.block_on(async move {
                for question in ["talk", "work", "slowly"] {
                    let mut run = under_way(&watched, &counted, question).await;
                    tokio::spawn(async move { while run.next().await.is_some() {} });
                }
                tokio::task::yield_now().await;
            });
            assert_eq!(assistant.live_runs(), 3);
            drop(runtime);
            assert_eq!(assistant.live_runs(), 0, "the runs end with the tasks of the runtime");

            // The assistant still works in another runtime.
            let other = make();
            let answer = other.block_on(assistant.run(RunRequest::prompt("hello")).text());
            assert_eq!(answer.unwrap(), "Hello");
            other.block_on(assistant.drain(Duration::ZERO));
        });
    }
}

#[test]
fn a_run_that_outlives_its_runtime_can_be_dropped_and_read() {
    for make in [current_thread, multi_thread] {
        for question in ["talk", "work", "slowly"] {
            in_time(move || {
                let begun = Tokens::default();
                let assistant = assistant(&begun);
                let runtime = make();
                let (dropped, mut read) = runtime.block_on(async {
                    let dropped = under_way(&assistant, &begun, question).await;
                    (dropped, under_way(&assistant, &begun, question).await)
                });
                drop(runtime);
                drop(dropped);
                let other = make();
                other.block_on(async {
                    // The run can continue or fail. It must not panic, and it can be stopped.
                    read.handle().abort("enough");
                    let mut events = Vec::new();
                    while let Some(event) = read.next().await {
                        events.push(event);
                    }
                    let ends = events.iter().filter(|event| event.is_terminal()).count();
                    assert_eq!(ends, 1, "{question}: {events:?}");
                });
                drop(read);
                assert_eq!(assistant.live_runs(), 0);
            });
        }
    }
}

#[test]
fn a_tool_whose_runtime_has_ended_fails() {
    in_time(|| {
        let begun = Tokens::default();
        let assistant = assistant(&begun);
        let runtime = multi_thread();
        let mut run = runtime.block_on(under_way(&assistant, &begun, "work"));
        drop(runtime);
        current_thread().block_on(async {
            let outcome = loop {
                match run.next().await {
                    Some(RunEvent::ToolError { error_text, .. }) => break error_text,
                    Some(_) => {}
                    None => panic!("the run ended"),
                }
            };
            assert!(outcome.contains("cancelled"), "{outcome}");
        });
    });
}

#[test]
fn one_thread_serves_many_runs_with_their_tools() {
    in_time(|| {
        let model = ScriptedProvider::new().otherwise(|payload| match payload.transcript.len() {
            1 => text("a").then(call("naps", json!({}))).then(call("naps", json!({}))),
            _ => Turn::text_chunks(["b", "c", "d"]),
        });
        let naps = Tool::new("naps", "Naps", async || {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok::<_, ToolError>("rested")
        });
        let assistant = Assistant::builder(model).allow_anonymous().tool(naps).build().unwrap();
        current_thread().block_on(async {
            let runs: Vec<_> =
                (0..200).map(|_| tokio::spawn(assistant.run(RunRequest::prompt("go")).text())).collect();
            for run in runs {
                assert_eq!(run.await.unwrap().unwrap(), "abcd");
            }
            assistant.drain(Duration::ZERO).await;
        });
        assert_eq!(assistant.live_runs(), 0);
    });
}

#[test]
fn a_run_outside_a_runtime_can_be_created_and_dropped() {
    let assistant = assistant(&Tokens::default());
    // A run can begin and be dropped without a runtime.
    drop(assistant.run(RunRequest::prompt("talk")));
    assert_eq!(assistant.live_runs(), 0);
    assert_eq!(
        current_thread().block_on(assistant.run(RunRequest::prompt("hello")).text()).unwrap(),
        "Hello"
    );
}

/// Uses real connections to a provider. The next runtime cannot use connections of an ended one.
#[cfg(feature = "openai")]
#[test]
fn the_next_runtime_opens_its_own_connections() {
    use omniassist_server::OpenAiChatProvider;
    use omniassist_server::testing::{FakeProvider, Reply, chat_sse};

    in_time(|| {
        let serving = multi_thread();
        let server = serving.block_on(FakeProvider::start()).unwrap();
        server.otherwise(Reply::sse(chat_sse::text("Hello")));
        let provider = OpenAiChatProvider::builder().base_url(server.base_url()).api_key("key").model("m");
        let assistant = Assistant::builder(provider.build().unwrap()).allow_anonymous().build().unwrap();
        for make in [current_thread, multi_thread, current_thread] {
            let runtime = make();
            for _ in 0..3 {
                let text = runtime.block_on(assistant.run(RunRequest::prompt("hi")).text());
                assert_eq!(text.unwrap(), "Hello");
            }
            // One run is under way when the runtime ends.
            let mut run = assistant.run(RunRequest::prompt("hi"));
            runtime.block_on(async {
                while !matches!(run.next().await.expect("the run sends text"), RunEvent::TextDelta { .. }) {}
            });
            drop(runtime);
            drop(run);
        }
        drop(server);
    });
}
