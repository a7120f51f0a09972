//! Tests of `on_finish`, which is called once for each started run regardless of its outcome.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use http_body_util::BodyExt;
use omniassist_server::core::message::{Message, MessageCollector, Part, Role, ToolState};
use omniassist_server::core::{Limits, RunEvent, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::observe::{FinishedRun, RunEnd};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, AssistantBuilder, Price, Prices, Principal, Run, Tool, ToolError};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::dialects::ROUTES;

/// The runs that were passed to `on_finish`.
#[derive(Clone, Default)]
struct Finished(Arc<Mutex<Vec<FinishedRun>>>);

impl Finished {
    fn hook(&self, builder: AssistantBuilder) -> Assistant {
        let kept = self.clone();
        let builder = builder.allow_anonymous().on_finish(move |run: FinishedRun| {
            let kept = kept.clone();
            async move {
                tokio::task::yield_now().await;
                kept.0.lock().unwrap().push(run);
                Ok::<_, std::io::Error>(())
            }
        });
        builder.build().unwrap()
    }

    fn take(&self) -> Vec<FinishedRun> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    async fn last(&self) -> FinishedRun {
        while self.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        self.only()
    }

    fn only(&self) -> FinishedRun {
        let [run] = self.take().try_into().expect("one call");
        run
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    Finish,
    Error,
    Abort,
    Disconnect,
    Deadline,
    Panic,
    Shutdown,
}

const ENDINGS: [(Ending, &str); 7] = [
    (Ending::Finish, "finish"),
    (Ending::Error, "stream_interrupted"),
    (Ending::Abort, "abort"),
    (Ending::Disconnect, "dropped"),
    (Ending::Deadline, "timeout"),
    (Ending::Panic, "internal"),
    (Ending::Shutdown, "server_shutdown"),
];

const RUNS: usize = 1_000;

/// Reads a run until its first text or its end.
async fn read_text(run: &mut Run) {
    while let Some(event) = run.next().await {
        if matches!(event, RunEvent::TextDelta { .. }) {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_run_is_passed_on_once_for_each_outcome() {
    for (ending, outcome) in ENDINGS {
        let finished = Finished::default();
        let model = ScriptedProvider::new().otherwise(move |_| match ending {
            Ending::Finish => text("So far"),
            Ending::Error => text("So far").then(Turn::interrupted()),
            Ending::Panic => panic!("canary"),
            _ => text("So far").then(Turn::pending()),
        });
        let assistant = finished.hook(Assistant::builder(model));
        let runs = (0..RUNS).map(|_| async {
            let mut run = assistant.run(RunRequest::prompt("go"));
            read_text(&mut run).await;
            match ending {
                Ending::Abort => run.handle().abort("enough"),
                Ending::Disconnect => return,
                _ => {}
            }
            let _ = run.by_ref().collect::<Vec<_>>().await;
            assert!(run.next().await.is_none());
        });
        let end = async {
            if ending == Ending::Shutdown {
                while assistant.live_runs() < RUNS {
                    tokio::task::yield_now().await;
                }
                assistant.drain(Duration::from_millis(1)).await;
            }
        };
        tokio::join!(futures_util::future::join_all(runs), end);
        assistant.shutdown().await;

        let runs = finished.take();
        let mut calls = HashMap::new();
        let mut outcomes = BTreeMap::new();
        for run in &runs {
            *calls.entry(run.report.run.run_id.clone()).or_insert(0) += 1;
            *outcomes.entry(run.report.outcome.as_str()).or_insert(0) += 1;
            let is_written = ending != Ending::Panic;
            assert_eq!(run.message.text(), if is_written { "So far" } else { "" }, "{ending:?}");
        }
        assert_eq!(calls.len(), RUNS, "{ending:?}");
        assert!(calls.values().all(|calls| *calls == 1), "{ending:?}");
        assert_eq!(outcomes, BTreeMap::from([(outcome, RUNS)]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_body_ends_its_run_in_every_dialect() {
    let finished = Finished::default();
    let model = ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()));
    let assistant = finished.hook(Assistant::builder(model).object(crate::dialects::note()));
    let service = AssistantService::new(assistant.clone());
    for route in ROUTES {
        let answer = tokio::time::timeout(Duration::from_millis(50), async {
            route.ask(&service).await.into_body().collect().await.map(drop)
        });
        assert!(answer.await.is_err(), "the model must not answer");
        sleep(Duration::from_millis(1)).await;
        let run = finished.only();
        assert_eq!(
            (run.report.outcome, run.message.text().as_str()),
            (RunEnd::Dropped, "So far"),
            "{route:?}"
        );
    }
}

#[tokio::test]
async fn the_messages_equal_those_of_the_client() {
    let finished = Finished::default();
    let model = ScriptedProvider::new()
        .turn(call("order", json!({})).then(Turn::usage(100, 10)))
        .turn(text("It is on its way.").then(Turn::usage(200, 20)));
    let order = Tool::new("order", "Looks it up", || async { Ok::<_, ToolError>("on its way") });
    let builder = Assistant::builder(model)
        .tool(order)
        .model("m")
        .prices(Prices::new().model("m", Price::per_million_tokens(1.0, 10.0)));
    let assistant = finished.hook(builder);
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    let mut request = RunRequest::new(vec![Message::user("m1", "Where is it?")]);
    request.chat_id = Some("chat".into());
    let events: Vec<_> = assistant.try_run(request, extensions).await.unwrap().collect().await;
    assistant.shutdown().await;

    let mut of_client = MessageCollector::new();
    events.iter().for_each(|event| of_client.apply(event));
    let run = finished.only();
    assert_eq!(run.message, of_client.into_message());
    let sealed = events.iter().any(|event| matches!(event, RunEvent::OutputSeal { .. }));
    assert!(sealed, "the message must contain the seal of the output, like the client's stream");
    let Some(Part::Tool(tool)) = run.message.parts.iter().find(|part| matches!(part, Part::Tool(_))) else {
        panic!("{:?}", run.message)
    };
    assert!(
        matches!(&tool.state, ToolState::OutputAvailable { output, .. } if output.as_str() == "\"on its way\"")
    );

    let plain: Vec<_> =
        run.chat_messages().into_iter().map(|message| (message.role, message.content.to_string())).collect();
    let expected =
        [(Role::User, "Where is it?".to_owned()), (Role::Assistant, "It is on its way.".to_owned())];
    assert_eq!(plain, expected);
    assert_eq!(run.messages().len(), 2);
    assert_eq!((run.report.usage.input_tokens, run.report.usage.output_tokens), (Some(300), Some(30)));
    assert_eq!(run.report.cost.unwrap().to_string(), "0.0006");
    assert_eq!(run.report.run.principal.id(), "ada");
    assert_eq!(run.context.chat_id().map(|id| id.as_str()), Some("chat"));
}

#[tokio::test]
async fn a_continued_message_replaces_the_posted_one() {
    let finished = Finished::default();
    let model = ScriptedProvider::new().turn(text(" And more.")).turn(Turn::interrupted());
    let assistant = finished.hook(Assistant::builder(model));
    let texts = |run: &FinishedRun| run.messages().iter().map(Message::text).collect::<Vec<_>>();
    let posted = vec![Message::user("m1", "Go on"), Message::assistant("m2", "Some.")];
    assistant.run(RunRequest::new(posted)).message().await.unwrap();
    assert_eq!(texts(&finished.last().await), ["Go on", "Some. And more."]);
    assistant.run(RunRequest::prompt("fails at once")).message().await.unwrap_err();
    assert_eq!(texts(&finished.last().await), ["fails at once", ""]);
    drop(assistant.run(RunRequest::prompt("never begins")));
    assert_eq!(texts(&finished.last().await), ["never begins"]);
}

#[tokio::test(start_paused = true)]
async fn a_function_that_fails_or_panics_changes_nothing() {
    let finished = Finished::default();
    let builder = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello")))
        .on_finish(|_| -> std::future::Ready<Result<(), std::io::Error>> { panic!("canary") })
        .on_finish(|_| async { Err(std::io::Error::other("no database")) })
        .on_finish(|_| async {
            tokio::task::yield_now().await;
            assert!(std::env::args().count() == usize::MAX, "canary");
            Ok::<_, std::io::Error>(())
        });
    let assistant = finished.hook(builder);
    for _ in 0..3 {
        assert_eq!(assistant.run(RunRequest::prompt("hi")).text().await.unwrap(), "Hello");
    }
    assistant.shutdown().await;
    assert_eq!(finished.take().len(), 3, "the other functions must be called");
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_the_functions_until_its_deadline() {
    for (work, drain, completes) in [(9, 9, true), (12, 10, false)] {
        let done = Arc::new(Mutex::new(0));
        let count = Arc::clone(&done);
        let mut limits = Limits::default();
        limits.tool_cancel_grace = Duration::ZERO;
        let assistant = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello")))
            .limits(limits)
            .on_finish(move |_| {
                let count = Arc::clone(&count);
                async move {
                    sleep(Duration::from_secs(work)).await;
                    *count.lock().unwrap() += 1;
                    Ok::<_, std::io::Error>(())
                }
            })
            .build()
            .unwrap();
        assistant.run(RunRequest::prompt("hi")).text().await.unwrap();
        let started = Instant::now();
        assistant.drain(Duration::from_secs(drain)).await;
        assert_eq!(*done.lock().unwrap(), u32::from(completes));
        // Functions that take too long have one more second.
        assert_eq!(started.elapsed().as_secs(), if completes { work } else { drain + 1 });
    }
}

#[test]
fn a_run_that_is_dropped_outside_of_its_runtime_is_passed_on() {
    let finished = Finished::default();
    let model = ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()));
    let assistant = finished.hook(Assistant::builder(model));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = runtime.block_on(async {
        let mut run = assistant.run(RunRequest::prompt("go"));
        read_text(&mut run).await;
        run
    });
    std::thread::spawn(move || drop(run)).join().unwrap();
    assert!(finished.take().is_empty());
    runtime.block_on(assistant.shutdown());
    assert_eq!(finished.only().report.outcome, RunEnd::Dropped);
    // A runtime that has shut down runs no task; the loss is logged.
    let run = runtime.block_on(async { assistant.run(RunRequest::prompt("go")) });
    drop(runtime);
    drop(run);
    assert!(finished.take().is_empty());
}
