use std::mem;

use omniassist_core::journal::Content;
use omniassist_core::{RunEvent, Usage};

/// The tokens that a run has used so far. The turn of a step is counted with its record or with the end of the step, whichever
/// comes first. A step that is stopped has no end.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine::stored) struct UsageSum {
    usage: Usage,
    /// `true` if the turn of the step is counted.
    is_counted: bool,
}

impl UsageSum {
    pub(in crate::engine::stored) fn take(&mut self, content: &Content) {
        match content {
            Content::Event(event) => self.take_event(event),
            Content::Turn(turn) => self.count(turn.usage()),
            _ => {}
        }
    }

    pub(super) fn take_event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::StepStart | RunEvent::StepReset => self.is_counted = false,
            RunEvent::StepFinish { usage, .. } => self.count(Some(*usage)),
            RunEvent::Finish { usage, .. } => self.usage = *usage,
            _ => {}
        }
    }

    fn count(&mut self, turn: Option<Usage>) {
        if !mem::replace(&mut self.is_counted, true) {
            self.usage.add(&turn.unwrap_or_default());
        }
    }

    pub(in crate::engine::stored) fn usage(&self) -> Usage {
        self.usage
    }
}

impl From<Usage> for UsageSum {
    fn from(usage: Usage) -> Self {
        Self { usage, is_counted: false }
    }
}
