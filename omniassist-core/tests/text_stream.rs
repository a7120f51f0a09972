//! Tests of the plain text stream.

use bytes::BytesMut;
use omniassist_core::dialect::DialectEncoder;
use omniassist_core::dialect::text::{Encoder, HEADERS};
use omniassist_core::event::{BlockId, FinishReason, RunErrorCode, Usage};
use omniassist_core::{JsonText, RunEvent};

fn text(words: &str) -> RunEvent {
    RunEvent::TextDelta { id: BlockId(0), delta: words.into() }
}

fn finish(reason: FinishReason) -> RunEvent {
    RunEvent::Finish { reason, usage: Usage::default() }
}

fn streamed(mut encoder: Encoder, events: &[RunEvent]) -> (String, bool) {
    let mut out = BytesMut::new();
    for event in events {
        encoder.encode(event, &mut out);
    }
    encoder.finish(&mut out);
    (String::from_utf8(out.into()).unwrap(), encoder.is_cut())
}

#[test]
fn only_text_is_written() {
    let call = RunEvent::ToolInputAvailable {
        call_id: "c".into(),
        name: "ping".into(),
        input: JsonText::EMPTY_OBJECT,
        provider_executed: false,
        metadata: None,
    };
    let events = [
        RunEvent::StepStart,
        RunEvent::ReasoningDelta { id: BlockId(1), delta: "Hm".into() },
        text("Let me\r\n"),
        text("look: \"x\""),
        call,
        RunEvent::StepStart,
        text("Found."),
        finish(FinishReason::Stop),
    ];
    assert_eq!(streamed(Encoder::new(), &events), ("Let me\r\nlook: \"x\"\n\nFound.".to_owned(), false));
    assert_eq!(HEADERS[0], ("content-type", "text/plain; charset=utf-8"));
    assert!(!Encoder::new().takes_comments());
}

#[test]
fn an_unsuccessful_run_is_cut_off() {
    let failed = RunEvent::Error { code: RunErrorCode::Timeout, message: "x".into() };
    for (end, cut, cut_if_whole) in [
        (Some(finish(FinishReason::Stop)), false, false),
        (Some(finish(FinishReason::Length)), false, true),
        (Some(finish(FinishReason::Refusal)), false, true),
        (Some(finish(FinishReason::ContentFilter)), false, true),
        (Some(finish(FinishReason::ToolCalls)), false, true),
        (Some(finish(FinishReason::Error)), true, true),
        (Some(failed), true, true),
        (Some(RunEvent::Abort { reason: "x".into() }), true, true),
        (None, true, true),
    ] {
        let events: Vec<RunEvent> = [text("Half")].into_iter().chain(end.clone()).collect();
        assert_eq!(streamed(Encoder::new(), &events), ("Half".to_owned(), cut), "{end:?}");
        assert_eq!(streamed(Encoder::new().whole_only(true), &events).1, cut_if_whole, "{end:?}");
    }
}

#[test]
fn a_blank_line_separates_the_texts_of_two_steps() {
    let joined = |steps: &[&[&str]]| {
        let events = steps.iter().flat_map(|pieces| {
            std::iter::once(RunEvent::StepStart).chain(pieces.iter().map(|piece| text(piece)))
        });
        streamed(Encoder::new(), &events.collect::<Vec<_>>()).0
    };
    let steps: &[&[&str]] = &[&["Let me ", "look."], &[], &["It is ", "on its way."]];
    assert_eq!(joined(steps), "Let me look.\n\nIt is on its way.");
    assert_eq!(joined(&[&[], &["Hi"]]), "Hi");
    assert_eq!(joined(&[&["One\n"], &["two"]]), "One\n\ntwo");
    assert_eq!(joined(&[&["One", "\n", "\n"], &["two"]]), "One\n\ntwo");
    assert_eq!(joined(&[&["One\n\n\n"], &["two"]]), "One\n\n\ntwo");
}
