//! Handling of a model that rejects the conversation as too long.

use std::collections::HashSet;

use super::catalog::ToolCatalog;
use super::machine::RunMachine;
use super::state::Phase;
use crate::event::RunErrorCode;
use crate::transcript::{compact, size};
use crate::{EventBuf, RunEvent, Text, TranscriptItem};

impl RunMachine {
    /// Repeats the turn with half of the conversation, because the size of the context window is unknown.
    pub(super) fn context_overflow(&mut self, tools: &dyn ToolCatalog, events: &mut EventBuf<RunEvent>) {
        if self.state.turn.finish.is_some() {
            self.model_end(tools, events);
        } else if !self.shorten() {
            self.fail(RunErrorCode::ContextOverflow, events);
        }
    }

    /// Makes a model call with half of the conversation due. Returns `false` if the turn was repeated before, if the
    /// client has seen a part of it, or if there is nothing to leave out.
    pub(super) fn shorten(&mut self) -> bool {
        let state = &mut self.state;
        let may_repeat = !state.turn.compacted && !state.turn.shown;
        let shorter = may_repeat.then(|| compact(&state.transcript, size(&state.transcript) / 2)).flatten();
        let Some(shorter) = shorter else { return false };
        let left: HashSet<&Text> = calls(&shorter).collect();
        state.left_out_calls.extend(calls(&state.transcript).filter(|id| !left.contains(*id)).cloned());
        state.transcript = shorter;
        state.window = state.window.take().map(|window| Box::new(window.without_exchanges()));
        state.turn.compacted = true;
        // The rejected call does not count as a step.
        state.steps = state.steps.saturating_sub(1);
        state.phase = Phase::ModelDue;
        true
    }
}

fn calls(items: &[TranscriptItem]) -> impl Iterator<Item = &Text> {
    items.iter().filter_map(TranscriptItem::as_call).map(|call| &call.id)
}
