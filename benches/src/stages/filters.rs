//! The filter of personal data.

use std::hint::black_box;
use std::sync::Arc;

use omniassist_core::filter::{FilteredTurn, Pii};
use omniassist_core::{EventBuf, LlmEvent, Text};

use super::{DELTA, Outcome};

pub(super) fn deltas(events: usize) -> Outcome<usize> {
    let mut turn = FilteredTurn::new(vec![Arc::new(Pii::new())]);
    let mut out = EventBuf::new();
    let text = Text::from(DELTA.as_str().to_owned());
    let mut count = 0;
    for _ in 0..events {
        turn.take(LlmEvent::TextDelta { block: 0, delta: black_box(&text).clone() }, &mut out)?;
        while let Some(event) = out.pop() {
            count += usize::from(matches!(black_box(event), LlmEvent::TextDelta { .. }));
        }
    }
    Ok(count)
}
