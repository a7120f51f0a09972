//! Tests of the limits on runs of clients that post the last message only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use omniassist_server::core::Limits;
use omniassist_server::core::message::Message;
use omniassist_server::http::{AssistantService, PostedRun};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::throttle::{Attempt, InMemoryTokenBudget};
use omniassist_server::{Assistant, AssistantBuilder, Principal, Refusal};
use serde_json::{Value, json};

use super::{last, read_response, request};

fn post(chat: &str, question: &str) -> Value {
    let mut body = last(&[Message::user(question, "Hello")], "submit-message", None);
    body["id"] = json!(chat);
    body
}

/// Returns an assistant with a model that does not finish and a loader that counts its calls.
fn counting(loads: &Arc<AtomicUsize>) -> (ScriptedProvider, AssistantBuilder) {
    let count = Arc::clone(loads);
    let load = move || {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok::<_, Refusal>(Vec::<Message>::new()) }
    };
    let model = ScriptedProvider::new().otherwise(|_| text("Hi").then(Turn::pending()));
    (model.clone(), Assistant::builder(model).history_loader(load))
}

/// Allows this many runs and counts the checks.
fn at_most(runs: usize, checks: &Arc<AtomicUsize>) -> impl Fn(&Attempt<'_>) -> Result<(), Duration> + use<> {
    let checks = Arc::clone(checks);
    move |_| {
        if checks.fetch_add(1, Ordering::SeqCst) < runs { Ok(()) } else { Err(Duration::from_secs(5)) }
    }
}

fn with_one_run(builder: AssistantBuilder) -> AssistantBuilder {
    let mut limits = Limits::default();
    limits.max_runs_per_principal = 1;
    builder.limits(limits)
}

#[tokio::test(start_paused = true)]
async fn a_post_over_a_limit_loads_nothing_and_stops_no_run() {
    for (code, chat) in [("rate_limited", "c"), ("token_budget_exceeded", "c"), ("too_many_runs", "other")] {
        let loads = Arc::default();
        let (model, builder) = counting(&loads);
        let assistant = match code {
            "rate_limited" => builder.rate_limit(at_most(1, &Arc::default())),
            // The first run reserves all tokens.
            "token_budget_exceeded" => builder.token_budget(InMemoryTokenBudget::new(10, Duration::MAX)),
            _ => with_one_run(builder),
        };
        let service = AssistantService::new(assistant.build().unwrap());
        let mut first = service.handle(request(&post("c", "q1"))).await.into_body();
        while futures_util::poll!(first.frame()).is_ready() {}
        assert_eq!((model.payloads().len(), loads.load(Ordering::SeqCst)), (1, 1), "{code}");
        let (status, answer) = read_response(service.handle(request(&post(chat, "q2"))).await).await;
        assert_eq!(status, 429, "{answer}");
        assert!(answer.contains(&format!("\"code\":\"{code}\"")), "{answer}");
        assert_eq!(loads.load(Ordering::SeqCst), 1, "{code}: the history must not be loaded");
        assert!(futures_util::poll!(first.frame()).is_pending(), "{code}: the first run must continue");
        assert_eq!((model.drops(), service.assistant().live_runs()), (0, 1), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_replaces_the_run_in_its_chat_within_the_limit() {
    let (model, builder) = counting(&Arc::default());
    let service = AssistantService::new(with_one_run(builder).build().unwrap());
    let mut first = service.handle(request(&post("c", "q1"))).await.into_body();
    while futures_util::poll!(first.frame()).is_ready() {}
    let second = request(&post("c", "q2"));
    let (second, first) = tokio::join!(service.handle(second), first.collect());
    assert_eq!(second.status(), StatusCode::OK);
    assert!(String::from_utf8_lossy(&first.unwrap().to_bytes()).contains(r#""type":"abort""#));
    assert_eq!((model.drops(), service.assistant().live_runs()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_completed_post_is_counted_once() {
    let (checks, loads) = (Arc::default(), Arc::default());
    let (_, builder) = counting(&loads);
    let assistant = with_one_run(builder.rate_limit(at_most(usize::MAX, &checks))).build().unwrap();
    let read = || async { PostedRun::read_for(request(&post("c", "q1")), &assistant).await };
    let checked = || checks.load(Ordering::SeqCst);
    let posted = read().await.unwrap();
    assert_eq!(checked(), 1);
    // A post that was read holds the slot of its run.
    assert_eq!(read().await.unwrap_err().status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(checked(), 1);
    let copy = posted.clone();
    let response = posted.respond(&assistant).await;
    assert_eq!((response.status(), checked()), (StatusCode::OK, 1));
    drop(response);
    // The copy begins another run.
    assert_eq!((copy.respond(&assistant).await.status(), checked()), (StatusCode::OK, 2));
    drop(read().await.unwrap());
    assert_eq!((assistant.live_runs(), checked()), (0, 3));

    // The limits of another assistant, or of another principal, are checked too.
    let closed = Assistant::builder(ScriptedProvider::new()).rate_limit(at_most(0, &Arc::default()));
    let refused = read().await.unwrap().respond(&closed.build().unwrap()).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let mut posted = read().await.unwrap();
    posted.extensions.insert(Principal::new("bob"));
    let before = checked();
    assert_eq!((posted.respond(&assistant).await.status(), checked()), (StatusCode::OK, before + 1));
}
