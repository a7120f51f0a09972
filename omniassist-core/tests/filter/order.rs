use std::sync::Arc;

use omniassist_core::event::CallKind;
use omniassist_core::filter::{FilteredTurn, Pii, WordList};
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{EventBuf, FinishReason, LlmEvent, Usage};

use super::{stopped, text, turn, written};

fn call() -> LlmEvent {
    LlmEvent::ToolCallStart { call: 0, id: "c".into(), name: "t".into(), kind: CallKind::Function }
}

fn reasoning(delta: &str) -> LlmEvent {
    LlmEvent::ReasoningDelta { block: 1, delta: delta.into() }
}

fn state() -> Option<ProviderMetadata> {
    let value = serde_json::json!({ "anthropic": { "signature": "s" } });
    serde_json::from_value(value).unwrap()
}

#[test]
fn events_except_usage_wait_for_withheld_text() {
    let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
    for event in [text("Look: sk-"), call(), LlmEvent::Usage(Usage::default()), reasoning("hm ")] {
        turn.take(event, &mut events).unwrap();
    }
    let early: Vec<_> = events.drain().collect();
    assert_eq!(early, [text("Look: "), LlmEvent::Usage(Usage::default())]);
    let finish = LlmEvent::Finish { reason: FinishReason::Stop, raw: None, truncated: false };
    turn.take(finish.clone(), &mut events).unwrap();
    let late: Vec<_> = events.drain().collect();
    assert_eq!(late, [text("sk-"), call(), reasoning("hm "), finish]);
}

#[test]
fn a_secret_around_a_call_does_not_leak() {
    let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
    for event in [text("sk-abcdefgh"), call(), text("ijkl1234 and "), text("more")] {
        turn.take(event, &mut events).unwrap();
    }
    turn.end(&mut events).unwrap();
    let all: Vec<_> = events.drain().collect();
    assert_eq!(all, [text("[redacted] and "), call(), text("more")]);
}

#[test]
fn at_most_sixty_four_events_wait() {
    let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
    turn.take(text("sk-abc"), &mut events).unwrap();
    for _ in 0..64 {
        turn.take(call(), &mut events).unwrap();
    }
    assert_eq!(events.len(), 0);
    turn.take(call(), &mut events).unwrap();
    assert_eq!(events.len(), 66);
    assert_eq!(events.pop(), Some(text("sk-[redacted]")));
}

#[test]
fn provider_state_is_removed_with_replaced_text() {
    let block = |filtered: &str| {
        let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
        turn.take(reasoning(filtered), &mut events).unwrap();
        turn.take(LlmEvent::ReasoningEnd { block: 1, metadata: state() }, &mut events).unwrap();
        let last = events.drain().last();
        match last {
            Some(LlmEvent::ReasoningEnd { metadata, .. }) => metadata,
            other => panic!("{other:?}"),
        }
    };
    assert!(state().is_some());
    assert_eq!(block("They asked."), state());
    assert_eq!(block("They wrote ada@example.org."), None);
}

#[test]
fn a_block_without_text_keeps_its_state() {
    let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
    let end = LlmEvent::ReasoningEnd { block: 3, metadata: state() };
    turn.take(end.clone(), &mut events).unwrap();
    assert_eq!(events.pop(), Some(end));
}

#[test]
fn reasoning_and_refusals_are_filtered_too() {
    let (mut turn, mut events) = (turn(Pii::new()), EventBuf::new());
    turn.take(reasoning("to ada@example.org "), &mut events).unwrap();
    let refusal = |delta: &str| LlmEvent::RefusalDelta { block: 0, delta: delta.into() };
    turn.take(refusal("not to bob@example.org "), &mut events).unwrap();
    turn.end(&mut events).unwrap();
    let all: Vec<_> = events.drain().collect();
    assert_eq!(all, [reasoning("to [redacted] "), refusal("not to [redacted] ")]);
}

#[test]
fn a_later_filter_receives_the_output_of_an_earlier_one() {
    let words = WordList::new(["Bluebird"]).replacement("ada@example.org");
    let mut turn = FilteredTurn::new(vec![Arc::new(words), Arc::new(Pii::new())]);
    let mut events = EventBuf::new();
    turn.take(text("Ask Blue"), &mut events).unwrap();
    turn.take(text("bird now."), &mut events).unwrap();
    turn.end(&mut events).unwrap();
    assert_eq!(written(&mut events), "Ask [redacted] now.");
}

#[test]
fn a_filter_that_stops_the_run_passes_the_text_before_the_match() {
    let sentence = Some("Not here.".into());
    let words = WordList::new(["bluebird"]).stop_run("Not here.");
    assert_eq!(stopped(words, &["About Blue", "bird", "? no"]), ("About ".to_owned(), sentence.clone()));
    let cards = Pii::new().stop_run("Not here.");
    assert_eq!(stopped(cards, &["Pay 4111 1111 ", "1111 1111"]), ("Pay ".to_owned(), sentence));
}
