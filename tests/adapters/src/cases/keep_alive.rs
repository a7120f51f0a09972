//! Keep-alive of a silent response.

use std::time::Duration;

use omniassist_server::core::Limits;
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use serde_json::json;

use crate::host::Host;
use crate::stage::{Watch, ag_ui_input, assistant, chat_request, conversation, run, says, stuck_after};
use crate::transport::Transport;
use crate::wire::{Ask, Exchange};

const COMMENT: &str = ": keep-alive\n\n";

fn talkative() -> Limits {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_millis(50);
    limits
}

async fn comments(exchange: &mut Exchange, wanted: usize) -> String {
    exchange.until(&COMMENT.repeat(wanted)).await
}

pub(crate) async fn comments_while_the_model_is_silent(on: Transport) {
    let model = stuck_after("so far");
    let host = Host::start(on, &assistant(model).limits(talkative()).build().unwrap()).await;
    for asked in [
        run("/assistant"),
        Ask::json("/assistant/ag-ui", &ag_ui_input("t")),
        Ask::json("/assistant/v1/chat/completions", &chat_request(true)),
    ] {
        let mut exchange = host.ask(&asked).await;
        exchange.until("so far").await;
        comments(&mut exchange, 3).await;
    }
}

pub(crate) async fn comments_while_a_tool_runs(on: Transport) {
    let watch = Watch::default();
    let model = ScriptedProvider::new().turn(call("wait", json!({})));
    let assistant = assistant(model).tool(watch.tool()).limits(talkative());
    let host = Host::start(on, &assistant.build().unwrap()).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until("tool-input-available").await;
    watch.begun().await;
    comments(&mut exchange, 2).await;
    drop(exchange);
    watch.fired().await;
}

/// Comments stand between events and never within one.
pub(crate) async fn comments_do_not_break_events(on: Transport) {
    let pause = || Turn::delay(Duration::from_millis(200));
    let model = ScriptedProvider::new().otherwise(move |_| {
        text("One, ").then(pause()).then(text("two, ")).then(pause()).then(text("three"))
    });
    let host = Host::start(on, &assistant(model).limits(talkative()).build().unwrap()).await;
    let answer = host.ask(&run("/assistant")).await.whole().await;
    assert!(answer.text().contains(COMMENT));
    assert_eq!(answer.words(), "One, two, three");
    let events = answer.text().split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
    for event in events {
        assert!(event.starts_with("id: ") || event == "data: [DONE]", "{event:?}");
    }
}

pub(crate) async fn formats_without_comments_have_none(on: Transport) {
    let model = ScriptedProvider::new()
        .otherwise(|_| text("One, ").then(Turn::delay(Duration::from_millis(300))).then(text("two")));
    let host = Host::start(on, &assistant(model).limits(talkative()).build().unwrap()).await;
    let plain = host.ask(&run("/assistant?protocol=text")).await.whole().await;
    assert_eq!(plain.text(), "One, two");
    let lines = host.ask(&run("/assistant").header("accept", "application/x-ndjson")).await.whole().await;
    for line in lines.text().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].is_string());
    }
}

/// The status of these responses depends on the first event. Without one, they begin after the keep-alive interval.
pub(crate) async fn a_silent_response_begins_in_time(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
    let host = Host::start(on, &assistant(model).limits(talkative()).build().unwrap()).await;
    for asked in [
        Ask::json("/assistant?protocol=text", &conversation("c")),
        Ask::json("/assistant/v1/chat/completions", &chat_request(true)),
    ] {
        let mut exchange = host.ask(&asked).await;
        assert_eq!(exchange.head().await.status, 200);
    }
}

pub(crate) async fn a_quick_answer_has_no_comment(on: Transport) {
    let mut limits = Limits::default();
    limits.keep_alive = Duration::from_secs(60);
    let host = Host::start(on, &assistant(says("Hello")).limits(limits).build().unwrap()).await;
    let answer = host.ask(&run("/assistant")).await.whole().await;
    assert!(answer.text().lines().all(|line| !line.starts_with(':')), "{}", answer.text());
}
