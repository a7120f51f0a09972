//! Tests of the assistant without a key and a network.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking; clippy's own exception covers only test functions, not the functions they call"
)]

use offline_tests::{Orders, assistant};
use omniassist_server::OpenAiProvider;
use omniassist_server::core::message::ToolState;
use omniassist_server::core::{Message, RunRequest};
use omniassist_server::testing::{Cassette, Replay, ScriptedProvider, call, text};
use serde_json::{Value, json};

/// Returns the output or the error of the only tool call.
fn outcome(message: &Message) -> Result<Value, String> {
    let tools: Vec<_> = message.tools().collect();
    assert_eq!(tools.len(), 1);
    match &tools[0].state {
        ToolState::OutputAvailable { output, .. } => Ok(serde_json::from_str(output.as_str()).unwrap()),
        ToolState::OutputError { error_text, .. } => Err(error_text.to_string()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_model_calls_the_tool() {
    let model =
        ScriptedProvider::new().turn(call("order_status", json!({"number": 8}))).turn(text("Not yet."));
    let assistant = assistant(model.clone(), Orders::sample()).unwrap();
    let message = assistant.run(RunRequest::prompt("Is order 8 on its way?")).message().await.unwrap();
    assert_eq!(outcome(&message), Ok(json!({"number": 8, "status": "pending"})));
    assert_eq!(message.text(), "Not yet.");

    let asked = model.payloads();
    assert_eq!(asked[0].system.as_deref(), Some("You help with orders."));
    assert_eq!(asked[0].tools[0].name, "order_status");
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn an_unknown_order_does_not_fail_the_run() {
    let model = ScriptedProvider::new()
        .turn(call("order_status", json!({"number": 99})))
        .turn(text("I cannot find that order."));
    let assistant = assistant(model, Orders::sample()).unwrap();
    let message = assistant.run(RunRequest::prompt("And order 99?")).message().await.unwrap();
    assert_eq!(outcome(&message), Err("There is no order 99.".to_owned()));
    assert_eq!(message.text(), "I cannot find that order.");
}

/// Reads the recorded stream of a real provider with the real decoder, as recorded and in other pieces.
#[tokio::test]
async fn a_recorded_answer_calls_the_tool() {
    let cuttings: [fn(Replay) -> Replay; 3] =
        [|replay| replay, |replay| replay.rechunked(1), Replay::byte_by_byte];
    for cutting in cuttings {
        let replay = Cassette::replay("tests/cassettes/order_status.jsonl").unwrap();
        let player = cutting(replay).start().await.unwrap();
        let provider = OpenAiProvider::builder().base_url(player.base_url()).build().unwrap();
        let assistant = assistant(provider, Orders::sample()).unwrap();
        let outcome_of_run = assistant.run(RunRequest::prompt("Where is order 7?")).outcome().await.unwrap();
        assert_eq!(outcome(&outcome_of_run.message), Ok(json!({"number": 7, "status": "shipped"})));
        assert_eq!(outcome_of_run.message.text(), "Order 7 has shipped. 📦");
        assert_eq!(outcome_of_run.usage.total_tokens, Some(179));
        assert_eq!(player.unused(), 0);
    }
}
