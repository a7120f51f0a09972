//! The answers of a run whose model is not called.

use futures_util::stream;
use omniassist_core::event::CallKind;
use omniassist_core::{FinishReason, JsonText, LlmEvent, Text};

use crate::provider::LlmStream;

/// One call of a tool, and an empty answer after it.
pub(super) struct Script {
    /// `None` once it was made.
    call: Option<Call>,
}

struct Call {
    id: Text,
    name: Text,
    arguments: JsonText,
}

impl Script {
    /// Creates a script that makes this call.
    pub(super) fn call(id: Text, name: Text, arguments: JsonText) -> Self {
        Self { call: Some(Call { id, name, arguments }) }
    }

    /// Creates a script for a run that goes on with a call that was made earlier.
    pub(super) fn after_call() -> Self {
        Self { call: None }
    }

    /// Returns the next answer.
    pub(super) fn answer(&mut self) -> LlmStream {
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
