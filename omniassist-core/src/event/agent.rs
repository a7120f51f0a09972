//! The work of agents that a run asks, as its clients see it.

use serde::{Deserialize, Serialize};

use super::Usage;
use crate::{JsonText, Text};

/// The state of an agent that a run has asked. A later one of the same agent replaces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct AgentState {
    /// The id of the agent's work, unique.
    pub agent_id: Text,
    /// The work of the agent that asked. `None` for the agent of the run.
    pub parent_id: Option<Text>,
    /// The name of the agent.
    pub name: Text,
    /// The call whose tool asked.
    pub tool_call_id: Text,
    /// The depth in the tree: 1 for an agent that the agent of the run has asked.
    pub depth: u32,
    /// The state.
    pub status: AgentStatus,
    /// The task. A long one is cut; the input of the call has it.
    pub task: Text,
    /// The reason for another outcome than completion: the name of a limit, the code of a failure, `empty`, `length`, `other`,
    /// `stopped`, or `interrupted` if the server stopped. `state_too_long` means that the agent of a run without a store had to
    /// wait for the user, and its client cannot keep its state. `invalid_answer` means that the answer of an agent with a type of
    /// output does not fit it, and `answer_too_long` that the answer does not fit into the result of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The answer, at the end. A long one is cut; the result of the call has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    /// The tokens of the agent, with those of the agents that it asked, at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl AgentState {
    /// Creates the state of an agent that begins, asked by the agent of the run.
    #[must_use]
    pub fn begun(agent_id: Text, name: Text, tool_call_id: Text, task: Text) -> Self {
        let (parent_id, reason, text, usage) = (None, None, None, None);
        let (depth, status) = (1, AgentStatus::Running);
        Self { agent_id, parent_id, name, tool_call_id, depth, status, task, reason, text, usage }
    }
}

/// The state of an agent's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AgentStatus {
    /// The agent works. Its text begins anew: another server that goes on with it sends the state again, and then the text of
    /// its complete turns.
    Running,
    /// The agent waits for the user: for an approval, the input of a form, or the output of a front-end tool.
    Waiting,
    /// The agent has answered.
    Completed,
    /// A limit ended the work. There may be a part of an answer, or an answer with what the agent had.
    Incomplete,
    /// The agent failed, or has written nothing.
    Failed,
    /// The work was stopped.
    Cancelled,
}

/// A part of the work of an agent. Clients show it and do not keep it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum AgentDelta {
    /// The agent writes text.
    Text {
        /// The next piece.
        delta: Text,
    },
    /// The agent calls a tool.
    ToolCall {
        /// The call.
        tool_call_id: Text,
        /// The tool.
        tool_name: Text,
        /// The arguments.
        input: JsonText,
    },
    /// A tool call of the agent has ended.
    ToolEnd {
        /// The call.
        tool_call_id: Text,
        /// `true` if it failed.
        failed: bool,
    },
}
