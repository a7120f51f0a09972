use std::time::Duration;

use futures_util::{StreamExt, stream};
use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::filter::{OutputFilter, Pii, Stage, TextFilter, TextKind, Verdict, WordList};
use omniassist_server::core::message::Part;
use omniassist_server::core::{FinishReason, LlmEvent, Message, RunRequest, TranscriptItem};
use omniassist_server::provider::from_fn;
use omniassist_server::testing::{ScriptedProvider, Turn, call, reasoning, text};
use omniassist_server::{Assistant, LlmProvider, Tool, ToolError};
use serde_json::json;

use super::{deltas, failure, timed};
use crate::approvals::post;

async fn ping() -> Result<&'static str, ToolError> {
    Ok("pong")
}

#[tokio::test]
async fn the_client_the_seals_and_the_next_request_contain_the_filtered_text() {
    let first = Turn::from([
        reasoning("They gave ada@example.org."),
        Turn::text_chunks(["Key: sk-abc", "def1234", "56789, ok"]),
        call("ping", json!({})),
    ]);
    let model = ScriptedProvider::new().turn(first).turn(text("Done.")).turn(text("Yes."));
    let assistant = Assistant::builder(model.clone())
        .tool(Tool::new("ping", "Pings", ping))
        .refuse_unsealed_text(true)
        .output_filter(Pii::new())
        .build()
        .unwrap();

    let (mut messages, _) = post(&assistant, "c", vec![Message::user("q", "The key?")]).await;
    let parts = &messages.last().unwrap().parts;
    assert!(parts.iter().any(|part| matches!(part, Part::Text(part) if part.text == "Key: [redacted], ok")));
    assert!(
        parts
            .iter()
            .any(|part| matches!(part, Part::Reasoning(part) if part.text == "They gave [redacted]."))
    );
    let again = &model.payloads()[1].transcript;
    assert!(
        again
            .iter()
            .any(|item| matches!(item, TranscriptItem::Text { text, .. } if *text == "Key: [redacted], ok"))
    );
    assert!(!format!("{again:?}").contains("ada@example.org"));

    // The seals cover the filtered text. A conversation with unsealed text would be refused.
    messages.push(Message::user("q2", "Sure?"));
    let (messages, _) = post(&assistant, "c", messages).await;
    assert_eq!(messages.last().unwrap().text(), "Yes.");
}

/// Returns a model that writes these pieces of one text, each after a delay in milliseconds.
fn slow(pieces: &'static [(u64, &'static str)]) -> impl LlmProvider {
    from_fn("slow", move |_| {
        let deltas = stream::iter(pieces).then(|(delay, piece)| async move {
            tokio::time::sleep(Duration::from_millis(*delay)).await;
            Ok(LlmEvent::TextDelta { block: 0, delta: (*piece).into() })
        });
        let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
        deltas.chain(stream::iter([Ok(finish)]))
    })
}

async fn shown(pieces: &'static [(u64, &'static str)]) -> Vec<(u64, String)> {
    let assistant = Assistant::builder(slow(pieces)).output_filter(Pii::new()).build().unwrap();
    deltas(&timed(assistant.run(RunRequest::prompt("Who?"))).await)
}

#[tokio::test(start_paused = true)]
async fn text_is_withheld_for_200_ms_at_most_and_secrets_are_still_redacted() {
    let shown = shown(&[(0, "Mail Ada.Love"), (1000, "lace@exam"), (1000, "ple.org today")]).await;
    let shown: Vec<_> = shown.iter().map(|(at, delta)| (*at, delta.as_str())).collect();
    assert_eq!(
        shown,
        [(0, "Mail "), (100, "Ada.Love"), (1100, "lace[redacted]"), (2000, " "), (2000, "today")]
    );
}

#[tokio::test(start_paused = true)]
async fn text_in_small_pieces_is_withheld_for_200_ms_at_most() {
    // Each piece is part of one word and arrives before the delay of the previous piece ends.
    let shown = shown(&[(1, "sk"), (98, "-le"), (98, "arn"), (98, "er"), (98, "s ")]).await;
    let all: String = shown.iter().map(|(_, delta)| delta.as_str()).collect();
    assert_eq!(all, "sk-[redacted]s ", "{shown:?}");
    assert!(shown[0].0 <= 201, "{shown:?}");
}

#[tokio::test(start_paused = true)]
async fn text_that_is_decided_within_100_ms_is_not_cut() {
    let shown = shown(&[(0, "To ada@exam"), (99, "ple.org now. sk-"), (99, "learn "), (0, "on")]).await;
    let all: String = shown.into_iter().map(|(_, delta)| delta).collect();
    assert_eq!(all, "To [redacted] now. sk-learn on");
}

#[tokio::test]
async fn a_filter_ends_the_run_with_a_code_and_a_message() {
    let model = ScriptedProvider::new().turn(Turn::text_chunks(["About Blue", "bird: it is", " secret"]));
    let words = WordList::new(["Bluebird"]).stop_run("I cannot talk about this.");
    let assistant = Assistant::builder(model).output_filter(words).build().unwrap();
    let failure = assistant.run(RunRequest::prompt("?")).message().await.unwrap_err();
    assert_eq!(failure.code(), Some(RunErrorCode::Refused("output_refused")));
    assert_eq!(failure.to_string(), "I cannot talk about this.");
    assert_eq!(failure.into_partial().text(), "About ");
}

/// A filter that panics at the second piece of text.
struct Panics;

impl OutputFilter for Panics {
    fn begin(&self, _kind: TextKind) -> Option<Box<dyn TextFilter>> {
        Some(Box::new(Self))
    }
}

impl TextFilter for Panics {
    fn check(&mut self, held: &str, _stage: Stage) -> Verdict {
        assert!(!held.contains("two"), "a filter that panics");
        Verdict::Pass(held.len().min(4))
    }
}

#[tokio::test]
async fn a_filter_that_panics_fails_the_run_and_withheld_text_is_not_sent() {
    let model = ScriptedProvider::new().turn(Turn::text_chunks(["one, held", "two", "three"]));
    let assistant = Assistant::builder(model).output_filter(Panics).build().unwrap();
    let events = timed(assistant.run(RunRequest::prompt("?"))).await;
    let shown: String = deltas(&events).into_iter().map(|(_, delta)| delta).collect();
    assert_eq!(shown, "one,");
    assert_eq!(failure(&events).unwrap().0, RunErrorCode::Internal);
}

#[tokio::test]
async fn an_interrupted_stream_sends_its_checked_text_before_the_error() {
    let broken = omniassist_server::Error::provider(omniassist_server::ProviderErrorKind::Interrupted);
    let model = ScriptedProvider::new().turn([text("Call 4111 1111 1111 1111"), Turn::error(broken)]);
    let assistant = Assistant::builder(model).output_filter(Pii::new()).build().unwrap();
    let events = timed(assistant.run(RunRequest::prompt("?"))).await;
    let shown: String = deltas(&events).into_iter().map(|(_, delta)| delta).collect();
    assert_eq!(shown, "Call [redacted]");
    assert_eq!(failure(&events).unwrap().0, RunErrorCode::StreamInterrupted);
}
