//! Measurements. `cargo test -p omniassist-server --test server measured -- --nocapture` prints them.

#![allow(clippy::print_stderr, reason = "the figures are the result")]

use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use omniassist_server::core::dialect::ai_sdk;
use omniassist_server::core::history::{TokenRate, Window, estimate};
use omniassist_server::core::{Limits, Message, ModelOptions, RunRequest};
use omniassist_server::http::AssistantService;
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::{Assistant, History, OpenAiChatProvider};
use serde_json::json;

use super::{ask, talk, texts};

/// Returns the memory of this process in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn the_cost_of_a_window_is_printed_for_each_length() {
    for turns in [50, 500, 5_000] {
        let messages = [talk(turns), vec![Message::user("last", "And now?")]].concat();
        let body = Bytes::from(serde_json::to_vec(&json!({ "id": "chat", "messages": messages })).unwrap());
        drop(messages);
        let before = resident();
        let start = Instant::now();
        let request = ai_sdk::read_request(body.clone(), &Limits::default()).unwrap();
        let read = start.elapsed();
        let start = Instant::now();
        let view = Window::fit(8_000).view(&request.messages, 0, TokenRate::default());
        let chosen = start.elapsed();
        let start = Instant::now();
        let sent = view.transcript(&request.messages);
        let made = start.elapsed();
        eprintln!(
            "{} messages, {} kB: read {read:?} (+{} KiB), chosen {chosen:?}, transcript of {} items, {} tokens, {made:?}",
            request.messages.len(),
            body.len() / 1_000,
            resident().saturating_sub(before),
            sent.len(),
            estimate(&sent),
        );
        drop(request);
        let model = ScriptedProvider::new().turn(text("ok")).turn(text("ok"));
        for history in [Some(History::fit(8_000)), None] {
            let name = if history.is_some() { "window" } else { "all" };
            let mut builder = Assistant::builder(model.clone()).allow_anonymous();
            if let Some(history) = history {
                builder = builder.history(history);
            }
            let service = AssistantService::new(builder.build().unwrap());
            let request = Request::post("/").header("content-type", "application/json");
            let request = request.body(Full::new(body.clone())).unwrap();
            let before = resident();
            let start = Instant::now();
            let response = service.handle(request).await;
            assert_eq!(response.status(), 200);
            response.into_body().collect().await.unwrap();
            let payload = model.payloads().pop().unwrap();
            eprintln!(
                "  whole POST, {name}: {:?}, +{} KiB, {} tokens",
                start.elapsed(),
                resident().saturating_sub(before),
                estimate(&payload.transcript)
            );
        }
    }
}

/// Measures a real model. `OMNIASSIST_SUMMARY_MODEL_URL` names its server with OpenAI's API. Without it, the test does
/// nothing.
#[tokio::test]
async fn a_fact_of_the_third_message_is_answered_after_summarising() {
    let Ok(url) = std::env::var("OMNIASSIST_SUMMARY_MODEL_URL") else { return };
    let facts = [
        ("boat", "Marigold"),
        ("cat", "Pickles"),
        ("dog", "Rufus"),
        ("daughter", "Hannah"),
        ("street", "Elm Road"),
        ("horse", "Thunder"),
        ("company", "Brightwater"),
        ("teacher", "Mrs Dalloway"),
        ("favourite colour", "purple"),
        ("home town", "Bergen"),
    ];
    let provider =
        || OpenAiChatProvider::builder().base_url(&url).model("smollm2-135m-instruct").build().unwrap();
    let (mut in_summary, mut answered) = (0, 0);
    for (thing, name) in facts {
        let seen = ScriptedProvider::new().otherwise(|_| text("ok"));
        let history = History::fit(250).summarise(provider());
        let mut messages =
            vec![Message::user("u0", "Hello!"), Message::assistant("a0", "Hello! How can I help?")];
        messages.push(Message::user("u1", format!("My {thing} is {name}. Remember that.")));
        messages.push(Message::assistant("a1", "I will remember it."));
        for place in ["Rome", "Oslo", "Lima", "Cairo", "Kyoto", "Quito"] {
            messages.push(Message::user(
                format!("u-{place}"),
                format!("What is the weather like in {place} in May?"),
            ));
            let answer = format!(
                "In {place}, May is mild and mostly dry, with some wind. {}",
                "Take a coat. ".repeat(10)
            );
            messages.push(Message::assistant(format!("a-{place}"), answer));
        }
        let question = format!("What is my {thing}?");
        let mut options = ModelOptions::default();
        options.temperature = Some(0.0);
        let builder = Assistant::builder(seen.clone()).history(history.clone());
        let start = Instant::now();
        ask(&builder.build().unwrap(), "ada", messages.clone(), &question).await;
        let payload = seen.payloads().pop().unwrap();
        let sent = texts(&payload);
        let summary = sent[0].to_owned();
        assert!(!sent[1..].iter().any(|text| text.contains(name)), "the message is out of the window");
        in_summary += usize::from(summary.contains(name));
        // The summary exists already, so this costs only the answer.
        let assistant =
            Assistant::builder(provider()).model_options(options).history(history).build().unwrap();
        messages.push(Message::user("last", question));
        let answer = assistant.run(RunRequest::new(messages)).text().await.unwrap();
        answered += usize::from(answer.contains(name));
        eprintln!("{thing}: {:?}\n{summary}\n→ {answer}\n", start.elapsed());
    }
    eprintln!("in the summary: {in_summary} of 10, answered: {answered} of 10");
}
