use futures_util::stream;
use omniassist_core::event::CallKind;
use omniassist_core::{FinishReason, LlmEvent, Text};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::provider::{LlmProvider, from_fn};

/// An answer of the model that a developer wrote.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Turn {
    text: Text,
    calls: Vec<Call>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: Text,
    arguments: Value,
}

impl Turn {
    fn events(&self) -> Vec<LlmEvent> {
        let mut events = vec![LlmEvent::Start { id: None, model: None }];
        if !self.text.is_empty() {
            events.push(LlmEvent::TextDelta { block: 0, delta: self.text.clone() });
            events.push(LlmEvent::TextEnd { block: 0, metadata: None });
        }
        for (call, Call { name, arguments }) in (0..).zip(&self.calls) {
            // Another run of the same call is another call, so its id is new.
            let id = Text::from(format!("call_{}", Uuid::now_v7().simple()));
            let arguments = Text::from(arguments.to_string());
            events.push(LlmEvent::ToolCallStart { call, id, name: name.clone(), kind: CallKind::Function });
            events.push(LlmEvent::ToolCallDelta { call, delta: arguments.clone() });
            events.push(LlmEvent::ToolCallEnd { call, arguments, metadata: None });
        }
        let reason = if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        events.push(LlmEvent::Finish { reason, raw: None, truncated: false });
        events
    }
}

/// Returns a model that answers with this turn.
pub(super) fn played(turn: Turn) -> impl LlmProvider {
    from_fn("playground", move |_| stream::iter(turn.events().into_iter().map(Ok)))
}
