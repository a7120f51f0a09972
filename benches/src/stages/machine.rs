//! The run machine, and the loop that feeds it the events of the model.

use std::hint::black_box;

use omniassist_core::run::{Input, NoTools, RunConfig, RunMachine};
use omniassist_core::{EventBuf, LlmEvent, RunEvent, RunRequest, Text};

use super::{DELTA, Outcome};

/// Returns a machine that waits for the model's answer.
pub(super) fn started(events: &mut EventBuf<RunEvent>) -> RunMachine {
    let mut machine =
        RunMachine::start(&RunRequest::prompt("Hello"), RunConfig::new("msg-2"), &NoTools, events);
    machine.next_action();
    machine
}

pub(super) fn deltas(events: usize) -> Outcome<usize> {
    let mut out = EventBuf::new();
    let mut machine = started(&mut out);
    // The text is on the heap like a decoder's views. A static text would be cheaper to clone and drop.
    let text = Text::from(DELTA.as_str().to_owned());
    let mut count = 0;
    for _ in 0..events {
        let delta = LlmEvent::TextDelta { block: 0, delta: black_box(&text).clone() };
        machine.step(Input::Model(delta), &NoTools, &mut out);
        while let Some(event) = out.pop() {
            count += usize::from(matches!(black_box(event), RunEvent::TextDelta { .. }));
        }
    }
    Ok(count)
}
