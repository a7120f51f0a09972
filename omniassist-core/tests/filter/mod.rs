//! Tests of the filters for a model's text.

mod bounds;
mod clean;
mod leaks;
mod order;
mod secrets;
mod words;

use std::sync::Arc;

use omniassist_core::filter::{FilteredTurn, OutputFilter, Stopped};
use omniassist_core::{EventBuf, LlmEvent, Text};

fn turn(filter: impl OutputFilter) -> FilteredTurn {
    FilteredTurn::new(vec![Arc::new(filter)])
}

fn text(delta: &str) -> LlmEvent {
    LlmEvent::TextDelta { block: 0, delta: delta.into() }
}

fn end() -> LlmEvent {
    LlmEvent::TextEnd { block: 0, metadata: None }
}

/// Returns the text that passes for these deltas. With `slow`, the time bound passes after each delta.
fn filtered<'a>(filter: impl OutputFilter, pieces: impl IntoIterator<Item = &'a str>, slow: bool) -> String {
    let (mut turn, mut events) = (turn(filter), EventBuf::new());
    for piece in pieces {
        turn.take(text(piece), &mut events).unwrap();
        if slow {
            turn.due(&mut events).unwrap();
            assert_eq!(turn.held().1, 0);
        }
    }
    turn.take(end(), &mut events).unwrap();
    written(&mut events)
}

fn written(events: &mut EventBuf<LlmEvent>) -> String {
    let mut written = String::new();
    for event in events.drain() {
        if let LlmEvent::TextDelta { delta, .. } = event {
            assert!(!delta.is_empty());
            written.push_str(&delta);
        }
    }
    written
}

/// Splits the text into characters.
fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.split("").filter(|piece| !piece.is_empty())
}

/// Returns the text that passes for these deltas, and the message of a stop.
fn stopped(filter: impl OutputFilter, pieces: &[&str]) -> (String, Option<Text>) {
    let (mut turn, mut events) = (turn(filter), EventBuf::new());
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| turn.take(text(piece), &mut events));
    }
    let result = result.and_then(|()| turn.end(&mut events));
    (written(&mut events), result.err().map(|stopped: Stopped| stopped.message().clone()))
}
