//! Tests of the time for which tools stay loaded.

use omniassist_server::core::message::Message;
use omniassist_server::core::{ToolChoice, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, Turn, call, text};
use omniassist_server::{Error, History, ProviderErrorKind, Refusal, RunContext, StepPlan};
use serde_json::json;

use super::catalogue::Calls;
use super::deferred::{ask, last, numbered, offered, search, shop, tool};

/// Adds this many exchanges of about 100 tokens.
fn talk(messages: &mut Vec<Message>, exchanges: usize) {
    for exchange in 0..exchanges {
        messages.push(Message::user(format!("u{exchange}"), "where ".repeat(30)));
        messages.push(Message::assistant(format!("a{exchange}"), "there ".repeat(30)));
    }
}

fn searches(transcript: &[TranscriptItem]) -> usize {
    transcript.iter().filter_map(TranscriptItem::as_call).filter(|call| call.name == "tool_search").count()
}

#[tokio::test]
async fn tools_stay_loaded_after_their_search_leaves_the_window() {
    let model = ScriptedProvider::new()
        .turn(search("refund order"))
        .turn(text("Which one?"))
        .turn(call("refund_order", json!({ "id": 17 })))
        .otherwise(|_| text("Done."));
    let calls = Calls::default();
    let assistant = shop(&model, &calls).history(History::fit(3_000)).build().unwrap();
    let (mut messages, _) = ask(&assistant, Vec::new(), "Give the customer her money back").await;
    let found = last(&model);
    assert_eq!(found[..2], ["tool_search", "refund_order"]);
    talk(&mut messages, 40);
    ask(&assistant, messages, "Order 17").await;
    assert_eq!(*calls.lock().unwrap(), ["refund_order"]);
    let payloads = model.payloads();
    assert!((10..70).contains(&payloads[2].transcript.len()), "{}", payloads[2].transcript.len());
    assert_eq!(searches(&payloads[2].transcript), 0, "the window must no longer contain the search");
    assert_eq!(offered(&model)[2..], [found.clone(), found]);
}

#[tokio::test]
async fn tools_stay_loaded_after_a_context_overflow() {
    let model = ScriptedProvider::new()
        .turn(search("refund order"))
        .turn(text("Which one?"))
        .turn(Turn::error(Error::provider(ProviderErrorKind::ContextOverflow)))
        .otherwise(|_| text("Done."));
    let assistant = shop(&model, &Calls::default()).build().unwrap();
    let (mut messages, _) = ask(&assistant, Vec::new(), "Give the customer her money back").await;
    talk(&mut messages, 40);
    ask(&assistant, messages, "Order 17").await;
    let payloads = model.payloads();
    assert_eq!([2, 3].map(|at| searches(&payloads[at].transcript)), [1, 0]);
    assert_eq!(offered(&model)[3], offered(&model)[1]);
}

#[tokio::test]
async fn tools_that_another_caller_loaded_stay_hidden() {
    let model = ScriptedProvider::new().turn(search("secret")).otherwise(|_| text("Hi"));
    let of = |is_admin: bool| {
        let secret = tool("secret").visible_to(move |_: &RunContext| is_admin);
        numbered(&model, 50).tool(secret).build().unwrap()
    };
    let (messages, _) = ask(&of(true), Vec::new(), "Hi").await;
    assert_eq!(last(&model), ["tool_search", "secret"]);
    ask(&of(false), messages, "Hi").await;
    assert_eq!(last(&model), ["tool_search"]);
}

#[tokio::test]
async fn deferred_definitions_do_not_count_towards_the_window() {
    let model = ScriptedProvider::new().otherwise(|_| text("Done."));
    let assistant = shop(&model, &Calls::default()).history(History::fit(3_000)).build().unwrap();
    let mut messages = Vec::new();
    talk(&mut messages, 20);
    ask(&assistant, messages, "Order 17").await;
    assert_eq!(model.payloads()[0].transcript.len(), 41);
}

#[tokio::test]
async fn the_number_of_loaded_tools_is_limited_to_the_threshold() {
    let calls = |numbers: std::ops::Range<usize>| {
        numbers.map(|number| call(format!("tool_{number:03}"), json!({}))).collect::<Vec<_>>()
    };
    let model = ScriptedProvider::new()
        .turn(calls(0..20))
        .turn(calls(20..40))
        .turn(calls(0..1))
        .turn(calls(40..41))
        .otherwise(|_| text("Hi"));
    let assistant = numbered(&model, 60).build().unwrap();
    let (messages, _) = ask(&assistant, Vec::new(), "Hi").await;
    let steps = offered(&model);
    assert_eq!(steps[2].len(), 41);
    assert_eq!(steps[3], steps[2]);
    // The more recently used half of the tools stays, in the order in which the tools were loaded.
    assert_eq!(steps[4].len(), 21);
    assert_eq!(steps[4][..3], ["tool_search", "tool_000", "tool_022"]);
    assert_eq!(steps[4][20], "tool_040");
    // The next run reads the same tools from the conversation.
    ask(&assistant, messages, "And now?").await;
    assert_eq!(last(&model), steps[4]);
}

#[tokio::test]
async fn no_call_is_required_if_no_tool_is_offered() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let prepare_step = |step: &mut StepPlan| {
        step.deny_tools(["tool_search"]).tool_choice(ToolChoice::Required);
        std::future::ready(Ok::<_, Refusal>(()))
    };
    let assistant = numbered(&model, 50).prepare_step(prepare_step).build().unwrap();
    ask(&assistant, Vec::new(), "Hi").await;
    let payload = model.payloads().remove(0);
    assert!(payload.tools.is_empty());
    assert_eq!(payload.tool_choice, ToolChoice::Auto);
}
