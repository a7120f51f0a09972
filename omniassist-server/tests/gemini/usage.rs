//! Tests of the token counts that the API reports while the model writes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use http::Extensions;
use omniassist_server::core::message::Message;
use omniassist_server::core::{LlmEvent, RunEvent, RunRequest, Usage};
use omniassist_server::observe::RunReport;
use omniassist_server::testing::{FakeProvider, Reply};
use omniassist_server::{Assistant, Principal};
use serde_json::{Value, json};

use super::provider::provider;
use super::streams::{last, parts, sse};
use super::whole;
use crate::spent_tokens::SpentTokens;

/// Returns a chunk with text and the token counts so far.
fn counted(text: &str, output: u64, thoughts: u64) -> Value {
    let mut chunk = parts(json!([{"text": text}]));
    chunk["usageMetadata"] = json!({"promptTokenCount": 100, "candidatesTokenCount": output,
        "thoughtsTokenCount": thoughts, "totalTokenCount": 100 + output + thoughts});
    chunk
}

#[tokio::test]
async fn reported_tokens_of_an_answer_without_an_end_count() {
    let body = sse(&[counted("Hel", 2, 500), counted("lo", 4, 900), last(json!([]), "STOP")]);
    let end = body.len() - sse(&[last(json!([]), "STOP")]).len();
    for (what, reply) in [
        ("the client leaves", Reply::sse(body.clone()).stall_after(end)),
        ("the connection breaks", Reply::sse(body.clone()).cut_after(end)),
        (
            "the connection is reset",
            Reply::sse(body.clone()).reset_after(end + 1).chunked_by(end).pace(Duration::from_millis(20)),
        ),
    ] {
        let server = FakeProvider::start().await.unwrap();
        server.reply(reply);
        let (purse, report) = (SpentTokens::default(), Arc::<Mutex<Option<RunReport>>>::default());
        let kept = Arc::clone(&report);
        let assistant = Assistant::builder(provider(&server))
            .token_budget(purse.clone())
            .on_run_end(move |report: &RunReport| *kept.lock().unwrap() = Some(report.clone()))
            .build()
            .unwrap();
        let mut principal = Extensions::new();
        principal.insert(Principal::new("ada"));
        let request = RunRequest::new(vec![Message::user("m1", "Hi")]);
        let mut run = assistant.try_run(request, principal).await.unwrap();
        let mut said = String::new();
        while let Some(event) = run.next().await {
            if let RunEvent::TextDelta { delta, .. } = event {
                said.push_str(&delta);
            }
            if what == "the client leaves" && said == "Hello" {
                break;
            }
        }
        drop(run);
        assert_eq!(said, "Hello", "{what}");
        let counts = |usage: Usage| (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens);
        let expected = (Some(100), Some(904), Some(900));
        assert_eq!(counts(report.lock().unwrap().take().unwrap().usage), expected, "{what}");
        let spent = purse.0.lock().unwrap().pop().unwrap();
        assert_eq!((counts(spent.usage), spent.tokens(), spent.estimated), (expected, 1_004, true), "{what}");
    }
}

#[test]
fn counts_are_sent_before_the_end_only_if_they_have_grown() {
    let mut chunks: Vec<_> = (1..=200).map(|tokens| counted("a", tokens, 500)).collect();
    chunks.push(last(json!([]), "STOP"));
    let events = whole(&sse(&chunks)).events;
    let sent: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            LlmEvent::Usage(usage) => usage.output_tokens,
            _ => None,
        })
        .collect();
    assert_eq!(sent, [501, 566, 631, 696, 7]);
}
