use bytes::Bytes;
use omniassist_core::message::{Message, Part, ToolPart, ToolState};
use serde_json::json;

use crate::store::Obligation;

/// Returns the questions that a message leaves open: approvals, and calls that the client settles.
pub(in crate::engine::stored) fn obligations(message: &Message) -> Vec<Obligation> {
    let step = message.parts.get(message.last_step()..).unwrap_or_default();
    // A call whose agent waits is settled by the answers to the agent's own calls.
    let waits = |call: &ToolPart| message.tools().any(|asked| asked.asked_by() == Some(&call.call_id));
    step.iter()
        .filter_map(|part| {
            let Part::Tool(part) = part else { return None };
            let kind = match &part.state {
                ToolState::ApprovalRequested { .. } => "approval",
                ToolState::InputAvailable { .. } if !part.provider_executed && !waits(part) => "output",
                _ => return None,
            };
            let input = part.state.input();
            let data = json!({ "kind": kind, "toolName": part.name, "input": input });
            Some(Obligation::new(part.call_id.clone(), Bytes::from(data.to_string())))
        })
        .collect()
}
