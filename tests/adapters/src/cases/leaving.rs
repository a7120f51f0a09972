//! A client that disconnects stops its run in every phase: the connection to the provider closes, and the tools' tokens
//! are cancelled. No keep-alive comment is due meanwhile, so that no failed write reveals the disconnect. A transport
//! that notices a disconnect only by a write is the exception.

use std::time::Duration;

use omniassist_server::Assistant;
use omniassist_server::testing::{FakeProvider, Reply, ScriptedProvider, Turn, call, responses_sse};
use serde_json::json;

use crate::host::Host;
use crate::stage::{Watch, adder, assistant, left, openai, run, silent, stuck_after};
use crate::transport::Transport;
use crate::wire::{Ask, soon, until};

async fn no_run_is_left(assistant: &Assistant) {
    until("the run is gone", || assistant.live_runs() == 0).await;
}

/// Checks that the run continues: without a write, this transport does not notice the disconnect.
async fn the_run_goes_on(asked: &Ask, assistant: &Assistant) {
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(assistant.live_runs(), 1, "{}", asked.path);
    assistant.shutdown().await;
}

/// Returns a provider that reads the request, sends its headers, and then nothing.
async fn speechless() -> FakeProvider {
    let provider = FakeProvider::start().await.unwrap();
    provider.otherwise(Reply::sse(responses_sse::text("never")).stall_after(0));
    provider
}

pub(crate) async fn before_the_first_byte(on: Transport) {
    let provider = speechless().await;
    let assistant = assistant(openai(&provider)).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until(r#""type":"start""#).await;
    soon("the provider receives the request", provider.request(1)).await;
    drop(exchange);
    soon("the provider's connection closes", provider.closed()).await;
    no_run_is_left(&assistant).await;
}

/// No response body exists yet that could be dropped. Streamed responses begin when a comment is due.
pub(crate) async fn before_the_response_begins(on: Transport) {
    for (asked, is_written) in [
        (run("/assistant?protocol=text"), true),
        (Ask::json("/assistant/v1/chat/completions", &crate::stage::chat_request(false)), false),
        (Ask::json("/assistant/v1/chat/completions", &crate::stage::chat_request(true)), true),
    ] {
        let provider = speechless().await;
        let assistant = assistant(openai(&provider)).limits(left(on)).build().unwrap();
        let host = Host::start(on, &assistant).await;
        let exchange = host.ask(&asked).await;
        soon("the provider receives the request", provider.request(1)).await;
        drop(exchange);
        if !is_written && !on.notices_in_silence() {
            the_run_goes_on(&asked, &assistant).await;
        }
        soon("the provider's connection closes", provider.closed()).await;
        no_run_is_left(&assistant).await;
    }
}

pub(crate) async fn in_the_middle_of_text(on: Transport) {
    for (asked, is_written) in [
        (run("/assistant"), true),
        (run("/assistant").header("accept", "application/x-ndjson"), false),
        (run("/assistant?protocol=text"), false),
        (Ask::json("/assistant/completion?protocol=text", &json!({ "prompt": "hi" })), false),
        (Ask::json("/assistant/ag-ui", &crate::stage::ag_ui_input("t")), true),
        (Ask::json("/assistant/v1/chat/completions", &crate::stage::chat_request(true)), true),
    ] {
        let model = stuck_after("so far");
        let assistant = assistant(model.clone()).limits(left(on)).build().unwrap();
        let host = Host::start(on, &assistant).await;
        let mut exchange = host.ask(&asked).await;
        exchange.until("so far").await;
        drop(exchange);
        if !is_written && !on.notices_in_silence() {
            the_run_goes_on(&asked, &assistant).await;
        }
        soon("the model's stream is dropped", model.dropped()).await;
        no_run_is_left(&assistant).await;
    }
}

pub(crate) async fn in_the_middle_of_a_tool(on: Transport) {
    let watch = Watch::default();
    let model = ScriptedProvider::new().turn(call("wait", json!({})));
    let assistant = assistant(model).tool(watch.tool()).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until("tool-input-available").await;
    watch.begun().await;
    drop(exchange);
    watch.fired().await;
    no_run_is_left(&assistant).await;
}

/// The tool has finished, and the provider has not answered the next request.
pub(crate) async fn between_steps(on: Transport) {
    let provider = FakeProvider::start().await.unwrap();
    let arguments = json!({ "one": 1, "other": 2 });
    provider.reply(Reply::sse(responses_sse::call("call_1", "add", arguments))).reply(Reply::silence());
    let assistant = assistant(openai(&provider)).tool(adder()).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until("tool-output-available").await;
    soon("the provider receives the second request", provider.request(2)).await;
    drop(exchange);
    soon("the provider's connection closes", provider.closed()).await;
    no_run_is_left(&assistant).await;
}

pub(crate) async fn while_a_retry_is_awaited(on: Transport) {
    let provider = FakeProvider::start().await.unwrap();
    let body = json!({ "error": { "message": "slow down" } });
    provider.otherwise(Reply::json(429, &body).header("retry-after", "100"));
    let assistant = assistant(openai(&provider)).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut exchange = host.ask(&run("/assistant")).await;
    exchange.until(r#""type":"start""#).await;
    soon("the provider receives the request", provider.request(1)).await;
    drop(exchange);
    no_run_is_left(&assistant).await;
    assert_eq!(provider.requests().len(), 1, "the request is not repeated");
}

pub(crate) async fn in_the_middle_of_the_request(on: Transport) {
    let model = ScriptedProvider::new().otherwise(|_| Turn::pending());
    let assistant = assistant(model.clone()).limits(silent()).build().unwrap();
    let host = Host::start(on, &assistant).await;
    for asked in [run("/assistant").unfinished(), run("/assistant").pieces(10).unannounced().unfinished()] {
        let mut connection = host.connect().await;
        let exchange = connection.ask(&asked).await;
        connection.hang_up(exchange);
    }
    // The server still answers, and the model has received no request.
    let answer = host.ask(&Ask::get("/assistant/manifest.json")).await.whole().await;
    assert_eq!((answer.status(), model.payloads().len(), assistant.live_runs()), (200, 0, 0));
}

/// The client closes the connection with everything on it.
pub(crate) async fn by_closing_the_connection(on: Transport) {
    let model = stuck_after("so far");
    let assistant = assistant(model.clone()).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut connection = host.connect().await;
    let mut exchange = connection.ask(&run("/assistant")).await;
    exchange.until("so far").await;
    connection.hang_up(exchange);
    soon("the model's stream is dropped", model.dropped()).await;
    no_run_is_left(&assistant).await;
}

/// A client that shuts down its sending half counts as disconnected. No browser does this and continues to read.
pub(crate) async fn by_closing_one_half(on: Transport) {
    let model = stuck_after("so far");
    let assistant = assistant(model.clone()).limits(left(on)).build().unwrap();
    let host = Host::start(on, &assistant).await;
    let mut connection = host.connect().await;
    let mut exchange = connection.ask(&run("/assistant")).await;
    exchange.until("so far").await;
    connection.half_close();
    soon("the model's stream is dropped", model.dropped()).await;
    exchange.gone().await;
    no_run_is_left(&assistant).await;
}
