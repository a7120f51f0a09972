//! Tests of the limits on concurrent runs, per principal and in total.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use http::{Extensions, StatusCode};
use omniassist_server::core::message::Message;
use omniassist_server::core::{ErrorCode, Limits, RunEvent, RunRequest};
use omniassist_server::http::{AssistantBody, AssistantService};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::tool::Approval;
use omniassist_server::{Assistant, Principal, Run, Tool, ToolError};
use serde_json::json;

use crate::dialects::{ROUTES, note, read_until};

fn stuck() -> ScriptedProvider {
    ScriptedProvider::new().otherwise(|_| text("So far").then(Turn::pending()))
}

fn limited(model: &ScriptedProvider, per_principal: usize, total: usize) -> Assistant {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = per_principal;
    limits.max_runs = total;
    Assistant::builder(model.clone()).allow_anonymous().limits(limits).object(note()).build().unwrap()
}

fn chat(id: &str, words: &str) -> RunRequest {
    let mut request = RunRequest::new(vec![Message::user("m1", words)]);
    request.chat_id = Some(id.into());
    request
}

fn as_user(name: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Principal::new(name));
    extensions
}

fn begin(assistant: &Assistant, user: &str) -> Result<Run, ErrorCode> {
    let run = assistant.try_run(RunRequest::prompt("go"), as_user(user));
    run.now_or_never().unwrap().map_err(|error| error.code())
}

/// Returns the body of a response that has begun to stream.
async fn under_way(service: &AssistantService, principal: Principal) -> AssistantBody {
    let response = service.handle(ROUTES[0].request(principal)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    read_until(&mut body, "So far").await;
    body
}

#[test]
fn the_defaults_are_four_and_ten_thousand() {
    let limits = Limits::default();
    assert_eq!((limits.max_runs_per_principal, limits.max_runs), (4, 10_000));
}

#[tokio::test]
async fn one_run_too_many_of_a_principal_is_refused_in_every_dialect() {
    let model = stuck();
    let service = AssistantService::new(limited(&model, 2, 10_000));
    let ada = Principal::new("ada");
    let mut bodies = vec![under_way(&service, ada.clone()).await, under_way(&service, ada.clone()).await];
    for route in ROUTES {
        let refused = route.refusal(service.handle(route.request(ada.clone())).await).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{route:?}");
        assert_eq!((refused.code.as_str(), refused.retry_after()), ("too_many_runs", 1));
        assert!(refused.message.starts_with("2 runs are already active"), "{}", refused.message);
        assert!(refused.kind.is_empty() || refused.kind == "rate_limit_error", "{}", refused.kind);
    }
    assert_eq!(model.payloads().len(), 2, "a refused run must not call the model");

    // Other principals are not affected, and anonymous callers do not share a limit.
    bodies.push(under_way(&service, Principal::new("bob")).await);
    for _ in 0..5 {
        bodies.push(under_way(&service, Principal::anonymous()).await);
    }
    drop(bodies.remove(0));
    bodies.push(under_way(&service, ada).await);
    assert_eq!(service.assistant().live_runs(), 8);
}

#[tokio::test]
async fn one_run_too_many_of_all_is_refused_in_every_dialect() {
    let model = stuck();
    let service = AssistantService::new(limited(&model, 4, 3));
    let principals = [Principal::new("ada"), Principal::anonymous(), Principal::anonymous()];
    let mut bodies = Vec::new();
    for principal in principals {
        bodies.push(under_way(&service, principal).await);
    }
    for route in ROUTES {
        let refused = route.refusal(route.ask(&service).await).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{route:?}");
        assert_eq!((refused.code.as_str(), refused.retry_after()), ("overloaded", 2));
        assert!(!refused.headers.contains_key("connection"), "the connection must stay usable");
        assert!(refused.kind.is_empty() || refused.kind == "server_error", "{}", refused.kind);
    }
    assert_eq!(model.payloads().len(), 3);
    drop(bodies.pop());
    drop(under_way(&service, Principal::anonymous()).await);

    let full = limited(&stuck(), 4, 0);
    assert_eq!(begin(&full, "ada").unwrap_err(), ErrorCode::Overloaded);
    let none = limited(&stuck(), 0, 10);
    assert_eq!(begin(&none, "ada").unwrap_err(), ErrorCode::TooManyRuns);
    drop(none.try_run(RunRequest::prompt("go"), Extensions::new()).await.unwrap());
}

#[tokio::test]
async fn a_post_that_replaces_a_run_takes_its_slot() {
    let model = stuck();
    for (per_principal, total) in [(1, 10), (4, 1)] {
        let assistant = limited(&model, per_principal, total);
        let mut run = assistant.try_run(chat("c", "first"), as_user("ada")).await.unwrap();
        for n in 0..20 {
            run.next().await.unwrap();
            let next = assistant.try_run(chat("c", &format!("again {n}")), as_user("ada")).await.unwrap();
            let code = assistant.try_run(chat("d", "other"), as_user("ada")).await.unwrap_err().code();
            assert!(matches!(code, ErrorCode::TooManyRuns | ErrorCode::Overloaded), "{code:?}");
            let rest: Vec<_> = run.collect().await;
            assert!(matches!(rest.last(), Some(RunEvent::Abort { .. })));
            // The end of the replaced run frees no slot, because the new run holds it.
            assistant.try_run(chat("d", "other"), as_user("ada")).await.unwrap_err();
            run = next;
        }
        assert_eq!(
            assistant.try_run(chat("c", "again 19"), as_user("ada")).await.unwrap_err().code(),
            ErrorCode::DuplicateRun,
            "a repeated post must have its own error, even at the limit of the principal"
        );
        drop(run);
        drop(assistant.try_run(chat("d", "other"), as_user("ada")).await.unwrap());
    }
}

#[tokio::test]
async fn a_slot_is_free_when_the_client_has_the_last_event() {
    let ask = Tool::new("refund", "Gives money back", async || Ok::<_, ToolError>("done"))
        .requires_approval(Approval::always());
    let model = ScriptedProvider::new().turn(text("Hello")).turn(call("refund", json!({}))).turn(text("Bye"));
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    let assistant = Assistant::builder(model).allow_anonymous().limits(limits).tool(ask).build().unwrap();
    // The server still holds the responses of a run that has ended and of one that waits for its client.
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut run = begin(&assistant, "ada").unwrap();
        begin(&assistant, "ada").unwrap_err();
        while !run.next().await.expect("a last event").is_terminal() {}
        held.push(run);
    }
    assert_eq!(assistant.live_runs(), 3);
}

#[tokio::test]
async fn a_request_that_is_refused_for_another_reason_takes_no_slot() {
    let assistant = limited(&stuck(), 1, 1);
    for _ in 0..3 {
        let mut request = RunRequest::prompt("go");
        let spec = omniassist_server::core::ToolSpec::new("a b", "Bad", json!({"type": "object"}));
        request.tools.push(Arc::new(spec));
        let refused = assistant.try_run(request, as_user("ada")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidTool);
    }
    drop(begin(&assistant, "ada").unwrap());
}

#[tokio::test]
async fn host_runs_are_neither_counted_nor_refused() {
    let assistant = limited(&stuck(), 1, 1);
    let own: Vec<_> = (0..3).map(|_| assistant.run(RunRequest::prompt("go"))).collect();
    let run = begin(&assistant, "ada").unwrap();
    assert_eq!(assistant.live_runs(), 4);
    begin(&assistant, "bob").unwrap_err();
    let failed = assistant.run(RunRequest::prompt("go")).next().await;
    assert!(matches!(failed, Some(RunEvent::Start { .. })));
    drop((own, run));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_concurrent_posts_never_exceed_the_limits() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, peak) = (Arc::clone(&now), Arc::clone(&most));
    let model = ScriptedProvider::new().otherwise(move |_| {
        peak.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Turn::delay(Duration::from_millis(2)).then(text("Hello"))
    });
    let assistant = limited(&model, 3, 8);
    let posts: Vec<_> = (0..1_000)
        .map(|n| {
            let (assistant, now) = (assistant.clone(), Arc::clone(&now));
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                match begin(&assistant, &format!("user-{}", n % 5)) {
                    Ok(run) => {
                        run.collect::<Vec<_>>().await;
                        now.fetch_sub(1, Ordering::SeqCst);
                        true
                    }
                    Err(code) => {
                        assert!(matches!(code, ErrorCode::TooManyRuns | ErrorCode::Overloaded));
                        false
                    }
                }
            })
        })
        .collect();
    let mut answered = 0;
    for post in posts {
        answered += usize::from(post.await.unwrap());
    }
    // A run releases its slot before the test counts it out in the same poll, so each thread can hold one more run.
    assert!(most.load(Ordering::SeqCst) <= 8 + 2, "{most:?}");
    assert!(answered >= 8 && model.payloads().len() == answered, "{answered}");
    assert_eq!(assistant.live_runs(), 0);
    let again: Vec<_> = (0..3).map(|_| begin(&assistant, "ada").unwrap()).collect();
    assert_eq!(again.len(), assistant.live_runs());
}
