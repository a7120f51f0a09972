//! The events of an agent as its client gets them: data of the run that it works for.

use omniassist_core::{JsonText, RunEvent, Text, Usage};
use serde::Serialize;
use uuid::Uuid;

use crate::tool::{AgentReport, AgentStatus, cap_text};

/// The name of the data about an agent. The client keeps it, and the last one replaces the earlier ones.
const AGENT: &str = "agent";

/// The name of the data with what an agent writes and does. The client does not keep it.
const DELTA: &str = "agent-delta";

/// The bytes of an answer that are kept for the client. The result of the call has it all.
const KEPT: usize = 4 * 1024;

/// An agent at work, as its client sees it.
pub(super) struct Shown {
    agent: Described,
}

/// The data about an agent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    agent_id: Text,
    /// The agent that asked. `None` for the agent of the run.
    parent_id: Option<Text>,
    name: Text,
    /// The call whose tool asked.
    tool_call_id: Text,
    depth: u32,
    status: &'static str,
    task: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Delta<'a> {
    Text {
        agent_id: &'a Text,
        delta: &'a Text,
    },
    Tool {
        agent_id: &'a Text,
        tool_call_id: &'a Text,
        state: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_name: Option<&'a Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<&'a JsonText>,
    },
}

impl Shown {
    pub(super) fn new(
        parent_id: Option<Text>,
        name: Text,
        tool_call_id: Text,
        depth: u32,
        task: Text,
    ) -> Self {
        let agent_id = Uuid::now_v7().simple().to_string().into();
        let (status, reason, text, usage) = ("running", None, None, None);
        let agent =
            Described { agent_id, parent_id, name, tool_call_id, depth, status, task, reason, text, usage };
        Self { agent }
    }

    pub(super) fn agent_id(&self) -> &Text {
        &self.agent.agent_id
    }

    /// Returns the event of the agent's beginning.
    pub(super) fn began(&self) -> RunEvent {
        data(AGENT, Some(self.agent_id()), &self.agent)
    }

    /// Returns the event of the agent's end.
    pub(super) fn ended(&self, report: &AgentReport) -> RunEvent {
        let text = match report.result.len() {
            0..=KEPT => report.result.clone(),
            _ => cap_text(&report.result, KEPT).into(),
        };
        let status = match report.status {
            AgentStatus::Completed => "completed",
            AgentStatus::Incomplete => "incomplete",
            AgentStatus::Failed => "failed",
            AgentStatus::Cancelled => "cancelled",
        };
        let ended = Described {
            status,
            reason: report.reason.clone(),
            text: Some(text),
            usage: Some(report.usage),
            ..self.agent.clone()
        };
        data(AGENT, Some(self.agent_id()), &ended)
    }

    /// Returns the event that shows one of the agent's own, if the client is shown it. Data passes unchanged: that of the
    /// host's tools, and that of the agents below.
    pub(super) fn event(&self, event: RunEvent) -> Option<RunEvent> {
        let agent_id = self.agent_id();
        let tool = |tool_call_id, state, tool_name, input| {
            Some(data(DELTA, None, &Delta::Tool { agent_id, tool_call_id, state, tool_name, input }))
        };
        match &event {
            RunEvent::TextDelta { delta, .. } => Some(data(DELTA, None, &Delta::Text { agent_id, delta })),
            RunEvent::ToolInputAvailable { call_id, name, input, .. } => {
                tool(call_id, "input-available", Some(name), Some(input))
            }
            RunEvent::ToolOutput { call_id, preliminary: false, .. } => {
                tool(call_id, "output-available", None, None)
            }
            RunEvent::ToolError { call_id, .. } | RunEvent::ToolRefused { call_id, .. } => {
                tool(call_id, "output-error", None, None)
            }
            RunEvent::Data { .. } => Some(event),
            _ => None,
        }
    }
}

fn data(name: &'static str, id: Option<&Text>, content: &impl Serialize) -> RunEvent {
    // The types above have a JSON form.
    let data = JsonText::from_serialize(content).unwrap_or_default();
    RunEvent::Data { name: Text::from_static(name), id: id.cloned(), data, transient: id.is_none() }
}
