//! The calls that tools make in the name of their own, and that may wait for the user.

use omniassist_core::message::{Part, ToolPart};
use omniassist_core::{JsonText, RunEvent, Text, canonical};

use super::asking::{Suspended, own_call};
use super::branch::Branch;
use crate::tool::{InnerCall, InnerTool};

/// The name of the data by which the message of an inner call keeps the state of its tool.
const STATE: &str = "state";

impl Suspended {
    /// Returns the state of the tool that has made an inner call. `None` for an agent.
    pub(in crate::engine) fn state(&self) -> Option<JsonText> {
        let text = self.message.parts.iter().find_map(|part| match part {
            Part::Data(data) if data.name == STATE => data.data.to_str_value(),
            _ => None,
        })?;
        JsonText::parse(text).ok()
    }

    /// Returns `true` if this is the inner call that is made now. Its numbers may be written in another way.
    fn is_of(&self, name: &str, call: &InnerCall) -> bool {
        let arguments = canonical::with_exact_numbers(&call.arguments);
        let arguments = arguments.as_ref().unwrap_or(&call.arguments).to_value();
        // The form has the name that the assistant gives it.
        let is_form = matches!(call.tool, InnerTool::Form);
        let is_same = |part: &ToolPart| {
            (is_form || part.name == name)
                && part.state.input().is_some_and(|input| input.to_value() == arguments)
        };
        self.state().is_some() && own_call(&self.message).is_some_and(is_same)
    }
}

/// Returns the event by which the message of an inner call gets the state of its tool.
pub(super) fn state_event(call: &InnerCall) -> RunEvent {
    let (name, id) = (Text::from_static(STATE), Some(Text::from_static(STATE)));
    let data = JsonText::from_str_value(call.state.as_str());
    RunEvent::Data { name, id, data, transient: false }
}

impl Branch {
    /// Returns the state of the tool of a call that waited for the user.
    pub(in crate::engine) fn resumed_state(&self, call_id: &Text) -> Option<JsonText> {
        self.suspended.get(call_id)?.state()
    }

    /// Removes and returns the inner call that waited for the user, if it is this one.
    pub(super) fn take_suspended_call(
        &mut self,
        call_id: &Text,
        name: &str,
        call: &InnerCall,
    ) -> Option<Suspended> {
        self.suspended.get(call_id).filter(|suspended| suspended.is_of(name, call))?;
        self.suspended.remove(call_id)
    }
}
