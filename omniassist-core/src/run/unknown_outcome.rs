//! Calls of which nobody knows if they took effect.

use super::machine::RunMachine;
use crate::{EventBuf, JsonText, RunEvent, Text, canonical};

/// The error of a call during which the server stopped.
const UNKNOWN: &str = "It is not known whether this took effect: the server stopped while it ran.";

/// The error of another call with the same arguments.
pub(super) const MAY_HAVE_RUN: &str = "The same call was made before, and it is not known whether it took effect. It was \
    not run again. Find out if it took effect, or ask the user.";

impl RunMachine {
    pub(super) fn unknown_outcome(&mut self, call_id: Text, events: &mut EventBuf<RunEvent>) {
        self.remember_unknown(&call_id);
        self.tool_result(call_id, Err(Text::from_static(UNKNOWN)), events);
    }

    /// Remembers the tool and the arguments of a call of this run.
    pub(super) fn remember_unknown(&mut self, call_id: &Text) {
        let mut open = self.state.calls.iter().map(|call| (&call.id, &call.name, &call.arguments));
        let mut said = self.state.transcript.iter().filter_map(|item| {
            let call = item.as_call()?;
            Some((&call.id, &call.name, &call.arguments))
        });
        let call = open.find(|(id, ..)| *id == call_id).or_else(|| said.find(|(id, ..)| *id == call_id));
        if let Some((_, name, arguments)) = call {
            let call = (name.clone(), comparable(arguments));
            if !self.state.unknown_calls.contains(&call) {
                self.state.unknown_calls.push(call);
            }
        }
    }

    /// Returns `true` if a call with these arguments was made before and may have taken effect.
    pub(super) fn may_have_run(&self, name: &Text, arguments: &JsonText) -> bool {
        let unknown = &self.state.unknown_calls;
        !unknown.is_empty() && unknown.contains(&(name.clone(), comparable(arguments)))
    }
}

/// Returns the form in which equal arguments are equal text.
fn comparable(arguments: &JsonText) -> JsonText {
    canonical::of(arguments).map_or_else(|| arguments.clone(), |canonical| canonical.json().clone())
}
