//! The answers of a backend that shuts down or has too many runs.

use std::time::Duration;

use omniassist_server::Assistant;
use omniassist_server::core::Limits;
use omniassist_server::testing::{ScriptedProvider, call};
use omniassist_server::throttle::Attempt;
use serde_json::json;

use crate::host::Host;
use crate::stage::{Watch, assistant, invoice, left, model_routes, prompted, run, silent, stuck_after};
use crate::transport::Transport;
use crate::wire::{Ask, soon, until};

fn stuck() -> Assistant {
    assistant(stuck_after("so far")).limits(silent()).object(invoice()).build().unwrap()
}

/// The text in the error of a run that a shutdown has ended.
const SHUT_DOWN: &str = "Please send your message again.";

pub(crate) async fn drain_sends_an_error_to_every_live_stream(on: Transport) {
    let assistant = stuck();
    let host = Host::start(on, &assistant).await;
    let mut live = Vec::new();
    for asked in model_routes("/assistant") {
        let is_plain = asked.path.contains("protocol=text") || asked.path.contains("/object");
        if asked.is_for_whole_answer() {
            continue;
        }
        let mut exchange = host.ask(&asked).await;
        exchange.until("so far").await;
        live.push((is_plain, exchange));
    }
    let count = live.len();
    let drained = soon("the runs end", assistant.drain(Duration::from_millis(200))).await;
    assert_eq!((drained.finished, drained.ended), (0, count));
    for (is_plain, exchange) in live {
        if is_plain {
            assert_eq!(exchange.cut().await.text(), "so far");
        } else {
            let answer = exchange.whole().await;
            assert!(answer.text().contains(SHUT_DOWN), "{}", answer.text());
        }
    }
    until("the runs are gone", || assistant.live_runs() == 0).await;
}

pub(crate) async fn drain_waits_for_runs_that_end_in_time(on: Transport) {
    let (prompter, model) = prompted();
    let assistant = assistant(model).limits(silent()).build().unwrap();
    let host = Host::start(on, &assistant).await;
    prompter.say("so far");
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until("so far").await;
    let draining = tokio::spawn({
        let assistant = assistant.clone();
        async move { assistant.drain(Duration::from_secs(3600)).await }
    });
    until("the drain begins", || assistant.is_draining()).await;
    prompter.say(", and the rest");
    prompter.finish();
    assert_eq!(exchange.whole().await.words(), "so far, and the rest");
    let drained = soon("the drain is over", draining).await.unwrap();
    assert_eq!((drained.finished, drained.ended), (1, 0));
}

pub(crate) async fn drain_refuses_new_runs(on: Transport) {
    let assistant = stuck();
    let host = Host::start(on, &assistant).await;
    assistant.drain(Duration::ZERO).await;
    for asked in model_routes("/assistant") {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!(answer.status(), 503, "{}", asked.path);
        assert_eq!(answer.header("retry-after"), Some("2"), "{}", asked.path);
        // HTTP/2 has no such header.
        let closes = answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        assert_eq!(closes, !on.is_http2(), "{}", asked.path);
    }
    // Other requests are still answered.
    assert_eq!(host.ask(&Ask::get("/assistant/manifest.json")).await.whole().await.status(), 200);
    assert_eq!(host.ask(&Ask::get("/health")).await.whole().await.status(), 200);
}

pub(crate) async fn drain_cancels_the_tokens_of_tools(on: Transport) {
    let watch = Watch::default();
    let model = ScriptedProvider::new().turn(call("wait", json!({})));
    let assistant = assistant(model).tool(watch.tool()).limits(silent()).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until("tool-input-available").await;
    watch.begun().await;
    soon("the drain ends", assistant.drain(Duration::ZERO)).await;
    watch.fired().await;
    assert!(exchange.whole().await.text().contains(SHUT_DOWN));
}

fn limited(on: Transport, per_principal: usize, total: usize) -> Assistant {
    let mut limits: Limits = left(on);
    limits.max_runs_per_principal = per_principal;
    limits.max_runs = total;
    assistant(stuck_after("so far")).limits(limits).object(invoice()).build().unwrap()
}

pub(crate) async fn runs_of_one_user_are_limited(on: Transport) {
    let assistant = limited(on, 1, 100);
    let host = Host::start(on, &assistant).await;
    let mut first = host.ask(&run("/assistant").user("ann")).await;
    first.until("so far").await;
    for asked in model_routes("/assistant").into_iter().skip(1) {
        let answer = host.ask(&asked.user("ann")).await.whole().await;
        assert_eq!((answer.status(), answer.header("retry-after")), (429, Some("1")), "{}", answer.text());
    }
    // Other users are not affected.
    let mut second = host.ask(&run("/assistant").user("bob")).await;
    second.until("so far").await;
    drop(first);
    until("the run is gone", || assistant.live_runs() == 1).await;
    let mut third = host.ask(&run("/assistant").user("ann")).await;
    third.until("so far").await;
}

pub(crate) async fn runs_of_all_users_are_limited(on: Transport) {
    let host = Host::start(on, &limited(on, 100, 1)).await;
    let mut first = host.ask(&run("/assistant").user("ann")).await;
    first.until("so far").await;
    let answer = host.ask(&run("/assistant").user("bob")).await.whole().await;
    assert_eq!((answer.status(), &answer.json()["error"]["code"]), (503, &json!("overloaded")));
    assert!(answer.header("retry-after").is_some());
}

pub(crate) async fn a_rate_limit_refuses_runs(on: Transport) {
    let limit = |_: &Attempt<'_>| Err(Duration::from_millis(2_500));
    let assistant = assistant(stuck_after("so far")).object(invoice()).rate_limit(limit).build().unwrap();
    let host = Host::start(on, &assistant).await;
    for asked in model_routes("/assistant") {
        let answer = host.ask(&asked).await.whole().await;
        assert_eq!((answer.status(), answer.header("retry-after")), (429, Some("3")), "{}", answer.text());
    }
}
