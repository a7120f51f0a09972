//! The agents that a run asks: sub-runs of a client of 1.0, and activities of an earlier one.

use bytes::BytesMut;

use super::encoder::{Encoder, OpenAgent};
use super::frame;
use super::view::custom;
use crate::Text;
use crate::dialect::ag_ui::Version;
use crate::dialect::of_agent::OfAgent;
use crate::event::{AgentDelta, AgentState, AgentStatus};

/// The kind of the activity that shows an agent.
const ACTIVITY: &str = "omniassist-agent";

impl Encoder {
    pub(super) fn agent_state(&mut self, state: &AgentState, out: &mut BytesMut) {
        if self.version < Version::V1 {
            return frame::write(out, "ACTIVITY_SNAPSHOT", |object| {
                object
                    .field("messageId", &state.agent_id)
                    .field("activityType", ACTIVITY)
                    .field("content", state)
            });
        }
        let open = self.agents.iter().position(|agent| agent.id == state.agent_id);
        match (state.status, open) {
            (AgentStatus::Running, None) => {
                // A client that came back has not seen the parent begin.
                let parent =
                    state.parent_id.as_ref().filter(|id| self.agents.iter().any(|agent| agent.id == **id));
                frame::write(out, "SUBAGENT_STARTED", |object| {
                    let object = object.field("subagentRunId", &state.agent_id).field("name", &state.name);
                    let object = object.field("description", &state.task).some("parentSubagentRunId", parent);
                    object.field("parentToolCallId", &state.tool_call_id)
                });
                self.agents.push(OpenAgent { id: state.agent_id.clone(), messages: 0, is_writing: false });
            }
            // The agent begins its text anew. The protocol withdraws no text, so this is another message.
            (AgentStatus::Running, Some(at)) => self.end_message(at, out),
            (_, None) => {}
            (AgentStatus::Completed | AgentStatus::Incomplete | AgentStatus::Waiting, Some(at)) => {
                self.close_agent(at, out);
                frame::write(out, "SUBAGENT_FINISHED", |object| {
                    object.field("subagentRunId", &state.agent_id).field("result", state)
                });
            }
            (_, Some(at)) => {
                self.close_agent(at, out);
                let reason = state.reason.as_deref().unwrap_or_default();
                agent_error(&state.agent_id, "The agent has not answered.", reason, out);
            }
        }
    }

    pub(super) fn agent_delta(&mut self, agent_id: &Text, delta: &AgentDelta, out: &mut BytesMut) {
        let open = self.agents.iter_mut().find(|agent| agent.id == *agent_id);
        match (delta, open) {
            (AgentDelta::Text { delta }, Some(agent)) if !delta.is_empty() => {
                if !std::mem::replace(&mut agent.is_writing, true) {
                    agent.messages += 1;
                    frame::write(out, "TEXT_MESSAGE_START", |object| {
                        let object =
                            object.field("messageId", &agent.message_id()).field("role", "assistant");
                        object.field("subagentRunId", agent_id)
                    });
                }
                frame::write(out, "TEXT_MESSAGE_CONTENT", |object| {
                    let object = object.field("messageId", &agent.message_id()).field("delta", delta);
                    object.field("subagentRunId", agent_id)
                });
            }
            // A call in the protocol's form could run a tool of the page.
            _ => custom(out, "agent-delta", &OfAgent::new(agent_id, delta)),
        }
    }

    /// Closes the agents that are still at work when the run ends.
    pub(super) fn close_agents(&mut self, out: &mut BytesMut) {
        // Those below end before those above.
        while let Some(at) = self.agents.len().checked_sub(1) {
            let id = self.close_agent(at, out);
            agent_error(&id, "The agent was stopped.", "stopped", out);
        }
    }

    /// Closes the message of an agent, and removes the agent.
    fn close_agent(&mut self, at: usize, out: &mut BytesMut) -> Text {
        self.end_message(at, out);
        self.agents.remove(at).id
    }

    fn end_message(&mut self, at: usize, out: &mut BytesMut) {
        if let Some(agent) = self.agents.get_mut(at)
            && std::mem::take(&mut agent.is_writing)
        {
            frame::write(out, "TEXT_MESSAGE_END", |object| {
                object.field("messageId", &agent.message_id()).field("subagentRunId", &agent.id)
            });
        }
    }
}

impl OpenAgent {
    fn message_id(&self) -> Text {
        match self.messages {
            0 | 1 => self.id.clone(),
            number => format!("{}-{number}", self.id).into(),
        }
    }
}

fn agent_error(id: &Text, message: &str, code: &str, out: &mut BytesMut) {
    frame::write(out, "SUBAGENT_ERROR", |object| {
        object.field("subagentRunId", id).field("message", message).field("code", code)
    });
}
