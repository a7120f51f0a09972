//! Tests of the records of the audit log and of slow or failing sinks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::Extensions;
use omniassist_server::audit::{
    AuditAction, AuditEvent, AuditFuture, AuditLog, AuditSink, JsonLinesFile, TracingSink, WhenSlow,
};
use omniassist_server::core::message::Message;
use omniassist_server::core::{Error, ErrorCode, JsonText, Limits, LlmEvent, RunRequest};
use omniassist_server::observe::{Observe, RunInfo, RunReport};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::throttle::Attempt;
use omniassist_server::tool::{Approval, ApprovalDecision};
use omniassist_server::{Assistant, Price, Prices, Principal, Tool};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::approvals::{answer, call_refund, post, refund};
use crate::counted::counted;

/// A sink that stores the accepted records.
#[derive(Clone)]
pub(super) struct Kept {
    events: Arc<Mutex<Vec<AuditEvent>>>,
    /// The sink waits for a permit before it accepts the start of a call.
    calls: Arc<Semaphore>,
    /// The number of failures before the sink works.
    failures: Arc<AtomicUsize>,
}

impl Default for Kept {
    fn default() -> Self {
        let calls = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Self { events: Arc::default(), calls, failures: Arc::default() }
    }
}

impl Kept {
    pub(super) fn blocked() -> Self {
        Self { calls: Arc::new(Semaphore::new(0)), ..Self::default() }
    }

    fn events(&self) -> Vec<AuditEvent> {
        self.events.lock().unwrap().clone()
    }

    pub(super) fn actions(&self) -> Vec<&'static str> {
        self.events().iter().map(|event| event.action.as_str()).collect()
    }

    pub(super) fn json(&self) -> Vec<Value> {
        self.events().iter().map(|event| serde_json::to_value(event).unwrap()).collect()
    }
}

impl AuditSink for Kept {
    fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a> {
        Box::pin(async move {
            for event in events {
                if matches!(event.action, AuditAction::CallStarted { .. }) {
                    self.calls.acquire().await?.forget();
                }
                match self.failures.load(Ordering::SeqCst) {
                    0 => self.events.lock().unwrap().push(event.clone()),
                    left => {
                        self.failures.store(left - 1, Ordering::SeqCst);
                        assert!(left % 2 == 0, "canary");
                        return Err("no disk".into());
                    }
                }
            }
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_call_that_the_provider_or_the_client_runs_has_a_record() {
    let kept = Kept::default();
    let log = AuditLog::new(kept.clone());
    let (id, kind, item) = ("s1".into(), "web_search".into(), JsonText::EMPTY_OBJECT);
    let search = LlmEvent::ProviderTool { id, kind, name: None, item, replay_to: None };
    let model = ScriptedProvider::new().turn(Turn::event(search).then(call("navigate", json!({}))));
    let navigate = Tool::front_end_with_schema("navigate", "Opens a page", json!({"type": "object"}));
    let assistant = Assistant::builder(model).tool(navigate).audit(log.clone()).build().unwrap();
    assistant.run(RunRequest::prompt("go")).outcome().await.unwrap();
    log.flush().await;
    assert_eq!(kept.actions(), ["run_started", "call_delegated", "call_delegated", "run_ended"]);
    let records = kept.json();
    let delegated: Vec<_> = records[1..3].iter().map(|record| (&record["tool"], &record["to"])).collect();
    assert_eq!(
        delegated,
        [(&json!("web_search"), &json!("provider")), (&json!("navigate"), &json!("client"))]
    );
}

#[tokio::test]
async fn each_decision_has_a_record() {
    let kept = Kept::default();
    let policy = Approval::decide(|arguments: &Value, _: &Principal| match arguments["cents"].as_u64() {
        Some(1..10) => ApprovalDecision::Ask,
        Some(10..) => ApprovalDecision::Refuse("Too much.".into()),
        _ => ApprovalDecision::Allow,
    });
    let (tool, _) = refund(policy);
    let model = ScriptedProvider::new()
        .turn(call_refund(5).then(Turn::usage(100, 10)))
        .turn(text("Done.").then(Turn::usage(100, 10)))
        .turn(text("It ran before."))
        .turn(call_refund(5))
        .turn(text("As you like."))
        .turn(call_refund(10))
        .turn(call("refund", json!({"cents": "all"})))
        .turn(call("refund", json!({"cents": 0})))
        .turn(text("Done."));
    let assistant = Assistant::builder(model)
        .tool(tool)
        .model("m")
        .prices(Prices::new().model("m", Price::per_million_tokens(1.0, 10.0)))
        .audit(kept.clone())
        .build()
        .unwrap();

    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "Refund 5.")]).await;
    answer(&mut messages, true);
    let approved = messages.clone();
    post(&assistant, "c", messages).await;
    // This post repeats the same approval.
    post(&assistant, "c", approved).await;
    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q2", "Refund 5 again.")]).await;
    answer(&mut messages, false);
    post(&assistant, "c", messages).await;
    post(&assistant, "c", vec![Message::user("q3", "Refund something.")]).await;
    assistant.shutdown().await;
    let request = RunRequest::new(vec![Message::user("q4", "hi")]);
    assistant.try_run(request, Extensions::new()).await.unwrap_err();
    tokio::task::yield_now().await;

    let expected = [
        "run_started",
        "approval_requested",
        "run_ended",
        "run_started",
        "call_started",
        "call_ended",
        "run_ended",
        "run_started",
        "call_refused",
        "run_ended",
        "run_started",
        "approval_requested",
        "run_ended",
        "run_started",
        "call_denied",
        "run_ended",
        "run_started",
        "call_refused",
        "call_refused",
        "call_started",
        "call_ended",
        "run_ended",
        "run_refused",
    ];
    assert_eq!(kept.actions(), expected);
    let records = kept.json();
    let (started, ended) = (&records[4], &records[5]);
    assert_eq!(
        started["argumentsDigest"], records[1]["argumentsDigest"],
        "the call must run with the approved arguments"
    );
    assert_ne!(started["argumentsDigest"], records[17]["argumentsDigest"]);
    assert_eq!((&started["principal"], &started["chatId"]), (&json!("ada"), &json!("c")));
    assert_eq!((&started["approvedBy"], &started["tool"]), (&json!("ada"), &json!("refund")));
    assert_eq!(records[19]["approvedBy"], Value::Null, "this call needed no approval");
    assert_eq!(ended["outcome"], "ok");
    assert!(ended["durationMs"].is_u64());
    assert!(records[8]["reason"].as_str().unwrap().contains("used before"));
    assert_eq!((&records[17]["reason"], &records[17]["tool"]), (&json!("Too much."), &json!("refund")));
    assert_eq!(records[14]["tool"], "refund");
    assert_eq!((&records[6]["outcome"], &records[6]["cost"]), (&json!("finish"), &json!("0.0002")));
    assert_eq!(records[6]["usage"]["inputTokens"], 100);
    let last = records.last().unwrap();
    assert_eq!((&last["code"], &last["principal"]), (&json!("shutting_down"), &Value::Null));
    assert!(records.iter().all(|record| record.get("arguments").is_none()));
    let mut ids: Vec<_> = kept.events().into_iter().map(|event| event.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), records.len(), "each record must have its own id");
}

#[tokio::test]
async fn arguments_are_recorded_if_enabled_and_the_digest_ignores_their_notation() {
    let mut digests = Vec::new();
    for spelling in [r#"{"cents": 0}"#, r#"{ "cents" : 0.0 }"#] {
        let kept = Kept::default();
        let (tool, _) = refund(Approval::when(|_: &Value, _: &Principal| false));
        let arguments = JsonText::parse(spelling).unwrap();
        let model = ScriptedProvider::new().turn(call("refund", arguments.to_value())).turn(text("Done."));
        let log = AuditLog::new(kept.clone()).record_arguments(true);
        let assistant = Assistant::builder(model).tool(tool).audit(log).build().unwrap();
        assistant.run(RunRequest::prompt("go")).text().await.unwrap();
        assistant.shutdown().await;
        let started = kept.json().into_iter().find(|record| record["action"] == "call_started").unwrap();
        assert_eq!(started["arguments"]["cents"].as_f64(), Some(0.0));
        digests.push(started["argumentsDigest"].clone());
    }
    // printf '{"cents":0}' | sha256sum
    assert_eq!(digests, ["af73e64537c4ced5072f02317db937ea13096c2e4f568cb672315da08c585b8a"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_waits_until_its_record_is_accepted() {
    let kept = Kept::blocked();
    let (tool, ran) = counted();
    let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(tool).audit(kept.clone()).build().unwrap();
    let answer = tokio::spawn(assistant.run(RunRequest::prompt("go")).text());
    sleep(Duration::from_secs(5)).await;
    assert_eq!((ran.load(Ordering::SeqCst), kept.actions()), (0, vec!["run_started"]));
    kept.calls.add_permits(1);
    assert_eq!(answer.await.unwrap().unwrap(), "Done.");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    assistant.shutdown().await;
    assert_eq!(kept.actions(), ["run_started", "call_started", "call_ended", "run_ended"]);
    let ended = kept.json()[2]["durationMs"].clone();
    assert_eq!(ended, 5_000, "the duration must include the wait");
}

#[tokio::test(start_paused = true)]
async fn a_tool_whose_record_is_never_accepted_times_out_and_never_runs() {
    let kept = Kept::blocked();
    let (tool, ran) = counted();
    let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(tool).audit(kept.clone()).build().unwrap();
    assistant.run(RunRequest::prompt("go")).text().await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    let started = Instant::now();
    assistant.drain(Duration::from_secs(3)).await;
    assert!(started.elapsed() < Duration::from_secs(10), "a drain must end at its deadline");
    kept.calls.add_permits(1);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(kept.json()[2]["outcome"], "timeout");
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_fails_or_panics_receives_the_same_records_again() {
    let kept = Kept::default();
    kept.failures.store(5, Ordering::SeqCst);
    let (tool, ran) = counted();
    let model = ScriptedProvider::new().turn(call("work", json!({}))).turn(text("Done."));
    let assistant = Assistant::builder(model).tool(tool).audit(kept.clone()).build().unwrap();
    let started = Instant::now();
    assistant.run(RunRequest::prompt("go")).text().await.unwrap();
    assistant.shutdown().await;
    assert_eq!(kept.actions(), ["run_started", "call_started", "call_ended", "run_ended"]);
    assert_eq!((kept.failures.load(Ordering::SeqCst), ran.load(Ordering::SeqCst)), (0, 1));
    assert_eq!(started.elapsed().as_millis(), 100 + 200 + 400 + 800 + 1_600);
}

#[tokio::test(start_paused = true)]
async fn records_over_the_capacity_are_dropped_and_counted() {
    // The smaller capacity is one record too small, so the last record is dropped.
    for (capacity, dropped) in [(3, 0), (2, 1)] {
        let kept = Kept::blocked();
        let (tool, ran) = counted();
        let model = ScriptedProvider::new().turn(call("work", json!({}))).otherwise(|_| text("Done."));
        let log = AuditLog::new(kept.clone()).when_slow(WhenSlow::Drop { capacity });
        let assistant = Assistant::builder(model).tool(tool).audit(log.clone()).build().unwrap();
        let run = assistant.run(RunRequest::prompt("go"));
        // The sink accepts the start of the run and blocks at the start of the call.
        log.flush().await;
        assert_eq!(run.text().await.unwrap(), "Done.", "the run must not wait for the sink");
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        assert_eq!(log.dropped(), dropped, "call_started, call_ended and run_ended must wait in the log");
        kept.calls.add_permits(1);
        assistant.shutdown().await;
        let last = if dropped == 0 { json!("run_ended") } else { json!("records_dropped") };
        let records = kept.json();
        assert_eq!(records.last().unwrap()["action"], last);
        assert_eq!(records.len(), 4, "{records:?}");
    }
}

/// A sink that never accepts a record.
struct Silent;

impl AuditSink for Silent {
    fn record<'a>(&'a self, _: &'a [AuditEvent]) -> AuditFuture<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_log_with_10_000_waiting_records_refuses_runs() {
    let log = AuditLog::new(Silent);
    let assistant = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello")))
        .rate_limit(
            |attempt: &Attempt<'_>| {
                if attempt.principal().id() == "ada" { Ok(()) } else { Err(Duration::from_secs(1)) }
            },
        )
        .audit(log.clone())
        .build()
        .unwrap();
    let begin = |user: &str| {
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new(user));
        assistant.try_run(RunRequest::prompt("go"), extensions).now_or_never().unwrap()
    };
    for _ in 0..9_999 {
        assert_eq!(begin("bob").unwrap_err().code(), ErrorCode::RateLimited);
    }
    let run = begin("ada").unwrap();
    let refused = begin("ada").unwrap_err();
    assert_eq!((refused.code(), log.dropped()), (ErrorCode::Overloaded, 1));
    assert!(refused.is_unavailable() && refused.retry_after().is_some());
    drop(run);
    assert_eq!(log.dropped(), 1, "the end of a run must never be dropped");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("omniassist-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Counts the decisions that an observer receives.
#[derive(Clone, Default)]
struct Decisions {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Observe for Decisions {
    fn run_started(&self, _: &RunInfo) {
        self.started.fetch_add(1, Ordering::SeqCst);
    }

    fn run_ended(&self, _: &RunReport) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn run_refused(&self, _: &Principal, _: &Error) {
        self.refused.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_drain_under_load_writes_one_line_for_each_decision() {
    let folder = Folder::new("audit-drain");
    let decisions = Decisions::default();
    let (tool, ran) = counted();
    let model = ScriptedProvider::new().otherwise(|payload| {
        if payload.transcript.len() > 6 {
            text("Done.")
        } else {
            call("work", json!({})).then(Turn::delay(Duration::from_millis(3)))
        }
    });
    let mut limits = Limits::default();
    limits.max_runs = 60;
    limits.max_runs_per_principal = 60;
    let assistant = Assistant::builder(model)
        .tool(tool)
        .limits(limits)
        .observe(decisions.clone())
        .audit(JsonLinesFile::open(folder.file()).unwrap())
        .build()
        .unwrap();
    let clients: Vec<_> = (0..100)
        .map(|client: usize| {
            let assistant = assistant.clone();
            tokio::spawn(async move {
                while !assistant.is_draining() {
                    let mut extensions = Extensions::new();
                    extensions.insert(Principal::new(format!("user-{client}")));
                    match assistant.try_run(RunRequest::prompt("go"), extensions).await {
                        // Some clients disconnect.
                        Ok(run) if client.is_multiple_of(5) => {
                            drop(run.take(client + 1).collect::<Vec<_>>().await);
                            sleep(Duration::from_millis(1)).await;
                        }
                        Ok(run) => drop(run.collect::<Vec<_>>().await),
                        Err(_) => sleep(Duration::from_millis(20)).await,
                    }
                }
            })
        })
        .collect();
    while ran.load(Ordering::SeqCst) < 500 {
        sleep(Duration::from_millis(1)).await;
    }
    assistant.drain(Duration::ZERO).await;
    let lines = lines(&folder.file());
    for client in clients {
        client.await.unwrap();
    }

    let count = |action: &str| lines.iter().filter(|line| line["action"] == action).count();
    let load = |count: &AtomicUsize| count.load(Ordering::SeqCst);
    assert_eq!(count("run_started"), load(&decisions.started));
    assert_eq!(count("run_ended"), load(&decisions.ended));
    assert_eq!(count("run_started"), count("run_ended"));
    assert_eq!(count("call_started"), count("call_ended"));
    let never_ran = lines.iter().filter(|line| line["outcome"] == "cancelled").count();
    assert!((count("call_started") - never_ran..=count("call_started")).contains(&load(&ran)));
    assert!(count("run_refused") > 0 && count("run_refused") <= load(&decisions.refused));
    let outcomes: std::collections::BTreeSet<_> =
        lines.iter().filter_map(|line| line["outcome"].as_str()).collect();
    assert!(outcomes.is_superset(&["finish", "server_shutdown", "dropped", "ok"].into()), "{outcomes:?}");
}

#[tokio::test]
async fn a_file_is_rotated_between_records() {
    let folder = Folder::new("audit-rotation");
    // The last line is incomplete, as after a crash.
    std::fs::write(folder.file(), "{}\n{}").unwrap();
    let model = ScriptedProvider::new().otherwise(|_| text("Done."));
    let file = JsonLinesFile::open(folder.file()).unwrap().rotate(600, 3).sync(true);
    let assistant = Assistant::builder(model).audit(file).build().unwrap();
    let mut ids = Vec::new();
    for _ in 0..4 {
        let run = assistant.run(RunRequest::prompt("go"));
        run.text().await.unwrap();
    }
    assistant.shutdown().await;
    let older = |number: u32| folder.0.join(format!("audit.jsonl.{number}"));
    for path in [older(3), older(2), older(1), folder.file()] {
        assert!(std::fs::metadata(&path).unwrap().len() <= 600, "{path:?}");
        ids.extend(lines(&path).into_iter().map(|line| line["action"].clone()));
    }
    assert!(!older(4).exists());
    let started = ids.iter().filter(|action| **action == "run_started").count();
    assert!(started >= 3, "{ids:?}");
    assert_eq!(ids.last().unwrap(), "run_ended");
    let missing = JsonLinesFile::open(folder.0.join("none/audit.jsonl"));
    assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_rotation_that_failed_once_deletes_no_second_file() {
    let folder = Folder::new("audit-failed-rotation");
    let older = |number: u32| folder.0.join(format!("audit.jsonl.{number}"));
    for number in 1..=3 {
        std::fs::write(older(number), number.to_string()).unwrap();
    }
    std::fs::write(folder.file(), "{}\n").unwrap();
    // Each record has its own file.
    let file = JsonLinesFile::open(folder.file()).unwrap().rotate(1, 3);
    // Another program has removed the file, so it cannot be renamed.
    std::fs::remove_file(folder.file()).unwrap();
    let model = ScriptedProvider::new().turn(text("Done."));
    let assistant = Assistant::builder(model).audit(file).build().unwrap();
    assistant.run(RunRequest::prompt("go")).text().await.unwrap();
    assistant.shutdown().await;
    let kept = [3, 2].map(|number| std::fs::read_to_string(older(number)).unwrap());
    assert_eq!(kept, ["2", "1"]);
    let actions = [older(1), folder.file()].map(|path| lines(&path)[0]["action"].clone());
    assert_eq!(actions, ["run_started", "run_ended"]);
}

#[tokio::test]
async fn the_tracing_sink_writes_events() {
    let log = crate::tools::log::logged(async {
        let model = ScriptedProvider::new().otherwise(|_| text("Done."));
        let assistant = Assistant::builder(model).audit(TracingSink::new()).build().unwrap();
        assistant.run(RunRequest::prompt("go")).text().await.unwrap();
        assistant.shutdown().await;
    });
    let log = log.await;
    let lines: Vec<_> = log.lines().filter(|line| line.contains("omniassist::audit")).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(
        lines[0].contains("action=\"run_started\"") && lines[1].contains("action=\"run_ended\""),
        "{log}"
    );
}
