//! Measurements of long conversations.
//!
//! `cargo test -p omniassist-server --test server measured -- --nocapture` prints them.

#![allow(clippy::print_stderr, reason = "the tests print measurements")]

use std::process::Command;
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

use super::{ask, talk_at, texts};

/// Returns the growth of this process's peak memory during some work, in KiB.
async fn peak<T>(work: impl Future<Output = T>) -> (T, usize) {
    let field = |name: &str| -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    // Resets the peak to the current use (proc(5)).
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = field("VmRSS:");
    let done = work.await;
    (done, field("VmHWM:").saturating_sub(before))
}

/// Runs each case in a separate process, because memory that earlier work released would hide the peak.
#[tokio::test]
async fn the_cost_of_a_window_is_printed_for_each_length() {
    const NAME: &str = "history::measured::the_cost_of_a_window_is_printed_for_each_length";
    const CASE: &str = "OMNIASSIST_MEASURED_CASE";
    if let Ok(case) = std::env::var(CASE) {
        let (turns, name) = case.split_once(' ').unwrap();
        return print_cost(turns.parse().unwrap(), name).await;
    }
    for turns in [50, 500, 5_000] {
        for name in ["read", "window", "all"] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args([NAME, "--exact", "--nocapture"]).env(CASE, format!("{turns} {name}"));
            let output = child.output().unwrap();
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{printed}");
            eprint!("{printed}");
        }
    }
}

async fn print_cost(turns: usize, name: &str) {
    let mut body = String::with_capacity(4 << 20);
    body.push_str("{\"id\":\"chat\",\"messages\":[");
    for at in 0..turns {
        for message in talk_at(at) {
            body.push_str(&serde_json::to_string(&message).unwrap());
            body.push(',');
        }
    }
    body.push_str(&serde_json::to_string(&Message::user("last", "And now?")).unwrap());
    body.push_str("]}");
    let body = Bytes::from(body);
    if name == "read" {
        let start = Instant::now();
        let read = async { ai_sdk::read_request(body.clone(), &Limits::default()).unwrap() };
        let (request, memory) = peak(read).await;
        let read = start.elapsed();
        let start = Instant::now();
        let view = Window::fit(8_000).view(&request.messages, 0, TokenRate::default());
        let chosen = start.elapsed();
        let start = Instant::now();
        let sent = view.transcript(&request.messages);
        let made = start.elapsed();
        eprintln!(
            "{} messages, {} kB: read {read:?} (peak +{memory} KiB), chosen {chosen:?}, transcript of {} items, {} tokens, {made:?}",
            request.messages.len(),
            body.len() / 1_000,
            sent.len(),
            estimate(&sent),
        );
        return;
    }
    let model = ScriptedProvider::new().turn(text("ok"));
    let mut builder = Assistant::builder(model.clone()).allow_anonymous();
    if name == "window" {
        builder = builder.history(History::fit(8_000));
    }
    let service = AssistantService::new(builder.build().unwrap());
    let request = Request::post("/").header("content-type", "application/json");
    let request = request.body(Full::new(body)).unwrap();
    let start = Instant::now();
    let answer = async {
        let response = service.handle(request).await;
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.unwrap()
    };
    let (_, memory) = peak(answer).await;
    let tokens = estimate(&model.payloads().pop().unwrap().transcript);
    eprintln!("  whole POST, {name}: {:?}, peak +{memory} KiB, {tokens} tokens", start.elapsed());
}

/// Measures a real model. `OMNIASSIST_SUMMARY_MODEL_URL` names its server with OpenAI's API. Without it, the test does
/// nothing.
#[tokio::test]
async fn a_fact_of_the_third_message_is_answered_after_summarising() {
    let Ok(url) = std::env::var("OMNIASSIST_SUMMARY_MODEL_URL") else { return };
    let facts = [
        ("My cat is called Pickles.", "What is my cat called?", "Pickles"),
        ("We moved to Bergen last year.", "Where did we move to?", "Bergen"),
        ("Order 4711 arrived broken.", "Which order arrived broken?", "4711"),
        ("I am allergic to peanuts.", "What am I allergic to?", "peanuts"),
        ("Please deliver to 12 Elm Road.", "Where do I want the delivery?", "Elm Road"),
        ("The invoice is due on 3 May.", "When is the invoice due?", "3 May"),
        ("My daughter Hannah turns six on Sunday.", "What is my daughter's name?", "Hannah"),
        ("Our company is Brightwater.", "What is our company?", "Brightwater"),
        ("You can call me Thunder.", "What is my name?", "Thunder"),
        ("My favourite colour is purple.", "What is my favourite colour?", "purple"),
    ];
    let provider =
        || OpenAiChatProvider::builder().base_url(&url).model("smollm2-135m-instruct").build().unwrap();
    let mut options = ModelOptions::default();
    options.temperature = Some(0.0);
    // A small model can repeat itself endlessly.
    options.max_output_tokens = Some(40);
    let (mut in_block, mut in_summary) = (0, 0);
    let mut answered = [0; 3];
    for (fact, question, word) in facts {
        let mut messages =
            vec![Message::user("u0", "Hello!"), Message::assistant("a0", "Hello! How can I help?")];
        messages.push(Message::user("u1", format!("{fact} Remember that.")));
        messages.push(Message::assistant("a1", "I will remember it."));
        for place in ["Rome", "Oslo", "Lima", "Cairo", "Kyoto", "Quito"] {
            let asked = format!("What is the weather like in {place} in May?");
            messages.push(Message::user(format!("u-{place}"), asked));
            let answer = format!(
                "In {place}, May is mild and mostly dry, with some wind. {}",
                "Take a coat. ".repeat(10)
            );
            messages.push(Message::assistant(format!("a-{place}"), answer));
        }
        let history = History::fit(250).summarise(provider());
        let seen = ScriptedProvider::new().otherwise(|_| text("ok"));
        let builder = Assistant::builder(seen.clone()).history(history.clone());
        let start = Instant::now();
        ask(&builder.build().unwrap(), "ada", messages.clone(), question).await;
        let payload = seen.payloads().pop().unwrap();
        let sent = texts(&payload);
        assert!(!sent[1..].iter().any(|text| text.contains(word)), "the window must not contain the message");
        in_block += usize::from(sent[0].contains(word));
        in_summary +=
            usize::from(sent[0].split_once("Summary:").is_some_and(|(_, text)| text.contains(word)));
        eprintln!("{:?}\n{}", start.elapsed(), sent[0]);
        messages.push(Message::user("last", question));
        for (at, history) in [Some(history), Some(History::fit(250)), None].into_iter().enumerate() {
            let mut builder = Assistant::builder(provider()).model_options(options.clone());
            if let Some(history) = history {
                builder = builder.history(history);
            }
            let answer =
                builder.build().unwrap().run(RunRequest::new(messages.clone())).text().await.unwrap();
            answered[at] += usize::from(answer.contains(word));
            eprintln!("{} → {answer}", ["summary", "window", "all"][at]);
        }
    }
    let [with_summary, window, all] = answered;
    eprintln!("of 10: in the summary {in_summary}, in the summary or the statements {in_block}");
    eprintln!(
        "answered of 10: with both {with_summary}, with a window only {window}, with all messages {all}"
    );
}
