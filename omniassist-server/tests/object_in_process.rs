//! Tests of answers as a Rust type in process.

use std::error::Error as _;

use omniassist_server::core::event::RunErrorCode;
use omniassist_server::core::transcript::UserContent;
use omniassist_server::core::{FinishReason, Limits, LlmPayload, RunRequest, TranscriptItem};
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::{Assistant, Error, ObjectFailure, ProviderErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;

/// A ticket of a shop.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
struct Ticket {
    /// One sentence.
    summary: String,
    #[schemars(range(min = 1, max = 5))]
    urgency: u8,
}

const GOOD: &str = r#"{"summary":"The lamp is broken.","urgency":2}"#;

async fn ask(model: ScriptedProvider) -> (Result<Ticket, ObjectFailure>, Vec<LlmPayload>) {
    let assistant = Assistant::builder(model.clone()).build().unwrap();
    let ticket = assistant.object(RunRequest::prompt("My lamp is broken.")).await;
    (ticket, model.payloads())
}

/// Returns the texts of a conversation, with the role of each.
fn said(payload: &LlmPayload) -> Vec<(&'static str, String)> {
    let user = |content: &[UserContent]| match content {
        [UserContent::Text { text }] => text.to_string(),
        other => panic!("one text was expected, found {other:?}"),
    };
    let items = payload.transcript.iter().map(|item| match item {
        TranscriptItem::User { content } => ("user", user(content)),
        TranscriptItem::Text { text, .. } => ("assistant", text.to_string()),
        other => panic!("a text was expected, found {other:?}"),
    });
    items.collect()
}

#[tokio::test]
async fn the_request_has_the_schema_and_the_answer_becomes_the_type() {
    let (ticket, asked) = ask(ScriptedProvider::new().turn(text(GOOD))).await;
    assert_eq!(ticket.unwrap(), Ticket { summary: "The lamp is broken.".to_owned(), urgency: 2 });
    let [asked] = asked.as_slice() else { panic!("one model call was expected") };
    let (name, schema) = asked.options.response_schema.as_ref().unwrap();
    assert_eq!(name, "Ticket");
    assert_eq!(schema["properties"]["summary"]["description"], "One sentence.");
    assert_eq!(schema["properties"]["urgency"]["maximum"], 5);
}

#[tokio::test]
async fn an_invalid_answer_is_sent_back_with_the_reason() {
    for (answer, reason) in [
        ("Here is your ticket.", "The answer is not valid JSON: expected value at line 1 column 1."),
        (r#"{"summary":"The lamp is broken.","urgency":6}"#, "urgency"),
        (r#"{"summary":"The lamp is broken."}"#, "urgency"),
    ] {
        let model = ScriptedProvider::new().turn(text(answer)).turn(text(GOOD));
        let (ticket, asked) = ask(model).await;
        assert_eq!(ticket.unwrap().urgency, 2, "{answer}");
        let [_, corrected] = asked.as_slice() else { panic!("two model calls were expected") };
        let said = said(corrected);
        let [question, repeated, (role, correction)] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!(*question, ("user", "My lamp is broken.".to_owned()));
        assert_eq!(*repeated, ("assistant", answer.to_owned()));
        assert_eq!(*role, "user");
        assert!(correction.contains(reason), "{correction}");
        assert!(corrected.options.response_schema.is_some());
    }
}

#[tokio::test]
async fn the_error_has_the_last_invalid_answer() {
    for repetitions in [0, 1, 3] {
        let mut limits = Limits::default();
        limits.max_invalid_turns = repetitions;
        let model =
            ScriptedProvider::new().otherwise(|payload| text(format!("No. {}", payload.transcript.len())));
        let assistant = Assistant::builder(model.clone()).limits(limits).build().unwrap();
        let failure = assistant.object::<Ticket>(RunRequest::prompt("My lamp is broken.")).await.unwrap_err();
        assert_eq!(model.payloads().len(), 1 + repetitions as usize);
        assert_eq!(failure.answer(), Some(format!("No. {}", 1 + 2 * repetitions).as_str()));
        assert!(failure.run().is_none());
        assert!(failure.source().unwrap().to_string().contains("not valid JSON"));
    }
}

#[tokio::test]
async fn a_run_that_fails_is_not_repeated() {
    let refused = Error::provider(ProviderErrorKind::Auth);
    let (ticket, asked) = ask(ScriptedProvider::new().turn(Turn::error(refused))).await;
    let failure = ticket.unwrap_err();
    assert_eq!(failure.run().unwrap().code(), Some(RunErrorCode::ProviderAuth));
    assert_eq!((failure.answer(), asked.len()), (None, 1));
}

#[tokio::test]
async fn a_type_other_than_an_object_is_refused_before_the_model_is_called() {
    let model = ScriptedProvider::new().otherwise(|_| text("[1]"));
    let assistant = Assistant::builder(model.clone()).build().unwrap();
    let failure = assistant.object::<Vec<u8>>(RunRequest::prompt("Numbers!")).await.unwrap_err();
    assert!(failure.run().is_none() && failure.answer().is_none());
    assert_eq!(model.payloads().len(), 0);
    assert!(failure.source().unwrap().to_string().contains("object"), "{failure:?}");
}

#[tokio::test]
async fn a_refusal_is_not_asked_again() {
    for reason in [FinishReason::Refusal, FinishReason::ContentFilter] {
        let model = ScriptedProvider::new()
            .turn(text("I cannot help.").then(Turn::finish(reason.clone())))
            .turn(text(GOOD));
        let (ticket, asked) = ask(model).await;
        assert_eq!(asked.len(), 1, "{reason:?}");
        assert_eq!(ticket.unwrap_err().answer(), Some("I cannot help."), "{reason:?}");
    }
}
