//! Encoding of run events into a client's bytes.

use std::hint::black_box;

use bytes::BytesMut;
use omniassist_core::dialect::ai_sdk::{self, Framing};
use omniassist_core::dialect::{DialectEncoder, ag_ui, chat_completions, text as plain_text};
use omniassist_core::event::BlockId;
use omniassist_core::{RunEvent, Text};

use super::{DELTA, Outcome};

const ID: BlockId = BlockId(0);

pub(super) fn ai_sdk(events: usize, framing: Framing, delta: Text) -> Outcome<usize> {
    deltas(events, &mut ai_sdk::Encoder::new(framing), delta)
}

pub(super) fn ag_ui(events: usize) -> Outcome<usize> {
    let (thread, run) = (Text::from_static("thread-0123456789"), Text::from_static("run-0123456789"));
    deltas(events, &mut ag_ui::Encoder::new(thread, run, ag_ui::Version::default()), DELTA)
}

pub(super) fn chat(events: usize) -> Outcome<usize> {
    let head =
        chat_completions::AnswerHead::new("chatcmpl-0123456789abcdef0123456789abc", 1_764_000_000, "gpt-x");
    deltas(events, &mut chat_completions::Encoder::new(&head, []), DELTA)
}

pub(super) fn text(events: usize) -> Outcome<usize> {
    deltas(events, &mut plain_text::Encoder::new(), DELTA)
}

/// Measures an encoder with deltas of one block, written into a buffer that is reused.
fn deltas(events: usize, encoder: &mut dyn DialectEncoder, delta: Text) -> Outcome<usize> {
    let mut out = BytesMut::new();
    let message_id = Text::from_static("msg_0123456789abcdef");
    let opening =
        [RunEvent::Start { message_id, metadata: None }, RunEvent::StepStart, RunEvent::TextStart { id: ID }];
    for event in &opening {
        encoder.encode(event, &mut out);
    }
    let event = RunEvent::TextDelta { id: ID, delta };
    let mut count = 0;
    for _ in 0..events {
        out.clear();
        encoder.encode(black_box(&event), &mut out);
        count += usize::from(!black_box(&out).is_empty());
    }
    Ok(count)
}
