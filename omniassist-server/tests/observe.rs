//! Tests of observers of runs, for metrics.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::Extensions;
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::message::Message;
use omniassist_server::core::{Error, ErrorCode, FinishReason, Limits, RunRequest};
use omniassist_server::observe::{Observe, RunEnd, RunInfo, RunReport};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Assistant, Price, Prices, Principal, Tool, ToolError};
use serde_json::json;
use tokio::time::sleep;

/// Records all notifications.
#[derive(Clone, Default)]
struct Notes {
    started: Arc<Mutex<Vec<RunInfo>>>,
    first: Arc<Mutex<Vec<Duration>>>,
    ended: Arc<Mutex<Vec<RunReport>>>,
    refused: Arc<Mutex<Vec<(Principal, ErrorCode)>>>,
    /// Each notification reads the gauge of this assistant, like a metrics hook.
    assistant: Arc<OnceLock<Assistant>>,
}

impl Notes {
    fn gauge(&self) {
        if let Some(assistant) = self.assistant.get() {
            assert!(assistant.live_runs() < 100);
            assert!(!assistant.is_draining() || assistant.live_runs() < 100);
        }
    }

    fn ends(&self) -> Vec<&'static str> {
        self.ended.lock().unwrap().iter().map(|report| report.outcome.as_str()).collect()
    }

    fn report(&self) -> RunReport {
        self.ended.lock().unwrap().pop().expect("a run must have ended")
    }
}

impl Observe for Notes {
    fn run_started(&self, run: &RunInfo) {
        self.gauge();
        self.started.lock().unwrap().push(run.clone());
    }

    fn first_token(&self, _: &RunInfo, after: Duration) {
        self.gauge();
        self.first.lock().unwrap().push(after);
    }

    fn run_ended(&self, report: &RunReport) {
        self.gauge();
        self.ended.lock().unwrap().push(report.clone());
    }

    fn run_refused(&self, principal: &Principal, refusal: &Error) {
        self.gauge();
        self.refused.lock().unwrap().push((principal.clone(), refusal.code()));
    }
}

fn observed(notes: &Notes, model: &ScriptedProvider) -> Assistant {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    let assistant = Assistant::builder(model.clone())
        .limits(limits)
        .tool(Tool::new("work", "Works", async || Ok::<_, ToolError>("done")))
        .prices(Prices::new().model("model-1", Price::per_million_tokens(1.0, 10.0)))
        .observe(notes.clone())
        .build()
        .unwrap();
    let _ = notes.assistant.set(assistant.clone());
    assistant
}

fn ask(chat: &str, words: &str) -> RunRequest {
    let mut request = RunRequest::new(vec![Message::user("m1", words)]);
    request.chat_id = Some(chat.into());
    request
}

fn as_ada() -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new("ada"));
    extensions
}

fn pause(seconds: u64) -> Turn {
    Turn::delay(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn a_report_has_all_figures_of_a_run() {
    let notes = Notes::default();
    let model = ScriptedProvider::new()
        .with_model("model-1")
        .turn([pause(3), call("work", json!({})), call("work", json!({})), Turn::usage(100, 20)])
        .turn([pause(2), text("Done."), Turn::usage(200, 30)]);
    let assistant = observed(&notes, &model);
    let mut run = assistant.try_run(ask("chat-1", "hi"), as_ada()).await.unwrap();
    let id = notes.started.lock().unwrap()[0].run_id.clone();
    while !run.next().await.unwrap().is_terminal() {}
    assert_eq!(
        notes.ends(),
        ["finish"],
        "the end must be reported with the last event, before the run is dropped"
    );
    drop(run);
    assert_eq!(notes.ends().len(), 1, "once");

    let report = notes.report();
    assert_eq!((report.run.run_id, report.run.chat_id.as_deref()), (id, Some("chat-1")));
    assert_eq!(report.run.principal, Principal::new("ada"));
    assert_eq!((report.run.provider.as_str(), report.run.model.as_deref()), ("scripted", Some("model-1")));
    assert_eq!(report.outcome, RunEnd::Finished(FinishReason::Stop));
    assert_eq!((report.steps, report.tool_calls), (2, 2));
    assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (Some(300), Some(50)));
    assert_eq!(report.cost.unwrap().to_string(), "0.0008");
    assert_eq!(report.duration, Duration::from_secs(5));
    assert_eq!(
        report.time_to_first_token,
        Some(Duration::from_secs(3)),
        "a tool call counts as the first token"
    );
    assert_eq!(*notes.first.lock().unwrap(), [Duration::from_secs(3)]);
}

#[tokio::test(start_paused = true)]
async fn every_outcome_has_a_name() {
    let notes = Notes::default();
    let model = ScriptedProvider::new()
        .turn([text("So"), Turn::interrupted()])
        .turn(text("So").then(Turn::pending()))
        .turn([text("So"), Turn::usage(7, 1), Turn::pending()])
        .turn(text("So").then(Turn::pending()))
        .turn([text("All of it"), Turn::finish(FinishReason::Length)])
        .turn(Turn::pending());
    let assistant = observed(&notes, &model);
    let begin = |words: &str| assistant.try_run(ask("c", words), as_ada()).now_or_never().unwrap().unwrap();
    let written = async |run: &mut omniassist_server::Run| {
        while !matches!(run.next().await, Some(omniassist_server::core::RunEvent::TextDelta { .. })) {}
    };

    begin("fails").collect::<Vec<_>>().await;
    assert_eq!(notes.report().outcome, RunEnd::Failed(RunErrorCode::StreamInterrupted));

    let mut run = begin("is stopped");
    written(&mut run).await;
    assert!(assistant.stop(&Principal::new("ada"), "c"));
    run.collect::<Vec<_>>().await;
    assert_eq!(notes.report().outcome, RunEnd::Stopped);

    let mut run = begin("is left");
    written(&mut run).await;
    run.next().await.unwrap();
    assert!(futures_util::poll!(run.next()).is_pending());
    drop(run);
    let report = notes.report();
    assert_eq!(report.outcome, RunEnd::Dropped);
    assert_eq!(
        (report.steps, report.usage.input_tokens),
        (1, Some(7)),
        "the report must contain the usage so far"
    );

    let mut run = begin("is overtaken");
    written(&mut run).await;
    let next = begin("overtakes");
    let (_, next) = tokio::join!(run.collect::<Vec<_>>(), next.collect::<Vec<_>>());
    assert!(!next.is_empty());
    assert_eq!(notes.report().outcome, RunEnd::Finished(FinishReason::Length));
    assert_eq!(notes.report().outcome, RunEnd::Stopped);

    let unread = begin("is not read");
    assistant.drain(Duration::ZERO).await;
    assert_eq!(notes.ends(), ["dropped"]);
    drop(unread);
    let report = notes.report();
    assert_eq!((report.time_to_first_token, report.steps), (None, 0));

    // A run of the host is reported too. It fails after the drain.
    assistant.run(RunRequest::prompt("hi")).collect::<Vec<_>>().await;
    let report = notes.report();
    assert_eq!(report.outcome, RunEnd::Failed(RunErrorCode::ServerShutdown));
    assert_eq!(report.outcome.as_str(), "server_shutdown");
    assert!(report.run.principal.is_anonymous());
    assert_eq!(notes.ended.lock().unwrap().len(), 0, "each run must end once");
    assert_eq!(notes.started.lock().unwrap().len(), 7);
}

#[tokio::test]
async fn refusals_are_reported_with_their_code() {
    let notes = Notes::default();
    let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
    let assistant = observed(&notes, &model);
    let run = assistant.try_run(ask("c", "hi"), as_ada()).await.unwrap();
    assistant.try_run(ask("c", "hi"), as_ada()).await.unwrap_err();
    assistant.try_run(ask("d", "hi"), as_ada()).await.unwrap_err();
    drop(run);
    assistant.shutdown().await;
    assistant.try_run(ask("c", "hi"), Extensions::new()).await.unwrap_err();
    let ada = Principal::new("ada");
    let expected = [
        (ada.clone(), ErrorCode::DuplicateRun),
        (ada, ErrorCode::TooManyRuns),
        (Principal::anonymous(), ErrorCode::ShuttingDown),
    ];
    assert_eq!(*notes.refused.lock().unwrap(), expected);
    assert_eq!(notes.started.lock().unwrap().len(), 1, "a refused run must not start");
}

struct Broken;

impl Observe for Broken {
    fn run_started(&self, _: &RunInfo) {
        panic!("canary");
    }

    fn first_token(&self, _: &RunInfo, _: Duration) {
        panic!("canary");
    }

    fn run_ended(&self, _: &RunReport) {
        panic!("canary");
    }

    fn run_refused(&self, _: &Principal, _: &Error) {
        panic!("canary");
    }
}

#[tokio::test]
async fn an_observer_that_panics_changes_nothing() {
    let notes = Notes::default();
    let model =
        ScriptedProvider::new().otherwise(|_| text("Hello").then(Turn::delay(Duration::from_millis(1))));
    let assistant = Assistant::builder(model)
        .observe(Broken)
        .observe(notes.clone())
        .on_run_end(|_| panic!("canary"))
        .build()
        .unwrap();
    assert_eq!(assistant.run(RunRequest::prompt("hi")).text().await.unwrap(), "Hello");
    // The panic is also contained when a run is dropped.
    drop(assistant.run(RunRequest::prompt("hi")));
    assert_eq!(notes.ends(), ["finish", "dropped"]);
    assert_eq!(notes.first.lock().unwrap().len(), 1);
    assistant.shutdown().await;
    let refused = assistant.try_run(ask("c", "hi"), Extensions::new()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ShuttingDown);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(assistant.live_runs(), 0);
}
