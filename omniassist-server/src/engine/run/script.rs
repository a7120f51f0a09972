//! The answers of a run whose model is not called.

use std::sync::Arc;

use futures_util::stream;
use omniassist_core::event::CallKind;
use omniassist_core::{FinishReason, JsonText, LlmEvent, Text};

use crate::provider::LlmStream;
use crate::tool::RegisteredTool;

/// One call of a tool, and an empty answer after it.
pub(in crate::engine) struct Script {
    /// `None` once it was made.
    call: Option<Call>,
    /// The tool of an action. It is the only one of the run, which does not take the place of another run of its chat.
    action: Option<Arc<RegisteredTool>>,
}

struct Call {
    id: Text,
    name: Text,
    arguments: JsonText,
}

impl Script {
    /// Creates a script that makes this call.
    pub(in crate::engine) fn call(id: Text, name: Text, arguments: JsonText) -> Self {
        Self { call: Some(Call { id, name, arguments }), action: None }
    }

    /// Creates a script for a run that goes on with a call that was made earlier.
    pub(in crate::engine) fn after_call() -> Self {
        Self { call: None, action: None }
    }

    /// Creates a script that calls the tool of an action.
    pub(in crate::engine) fn action(id: Text, tool: &Arc<RegisteredTool>, arguments: JsonText) -> Self {
        Self { action: Some(Arc::clone(tool)), ..Self::call(id, tool.spec().name.clone(), arguments) }
    }

    /// Returns the tool of an action.
    pub(in crate::engine) fn action_tool(&self) -> Option<&Arc<RegisteredTool>> {
        self.action.as_ref()
    }

    /// Returns the next answer.
    pub(in crate::engine) fn answer(&mut self) -> LlmStream {
        let finish = |reason| LlmEvent::Finish { reason, raw: None, truncated: false };
        let events = match self.call.take() {
            Some(Call { id, name, arguments }) => vec![
                LlmEvent::ToolCallStart { call: 0, id, name, kind: CallKind::Function },
                LlmEvent::ToolCallEnd { call: 0, arguments: arguments.as_str().into(), metadata: None },
                finish(FinishReason::ToolCalls),
            ],
            None => vec![finish(FinishReason::Stop)],
        };
        Box::pin(stream::iter(events.into_iter().map(Ok)))
    }
}
