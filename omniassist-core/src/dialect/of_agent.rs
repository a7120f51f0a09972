use serde::Serialize;

use crate::event::AgentDelta;
use crate::{JsonText, Text};

/// A part of the work of an agent as clients get it, with the agent's id.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum OfAgent<'a> {
    Text { agent_id: &'a Text, delta: &'a Text },
    ToolCall { agent_id: &'a Text, tool_call_id: &'a Text, tool_name: &'a Text, input: &'a JsonText },
    ToolEnd { agent_id: &'a Text, tool_call_id: &'a Text, failed: bool },
}

impl<'a> OfAgent<'a> {
    pub(super) fn new(agent_id: &'a Text, delta: &'a AgentDelta) -> Self {
        match delta {
            AgentDelta::Text { delta } => Self::Text { agent_id, delta },
            AgentDelta::ToolCall { tool_call_id, tool_name, input } => {
                Self::ToolCall { agent_id, tool_call_id, tool_name, input }
            }
            AgentDelta::ToolEnd { tool_call_id, failed } => {
                Self::ToolEnd { agent_id, tool_call_id, failed: *failed }
            }
        }
    }
}
