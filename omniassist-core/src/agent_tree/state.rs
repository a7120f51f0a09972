use serde::{Deserialize, Serialize};

use super::{CoreMessage, OpenQuery};
use crate::Text;

/// The state of an agent of the tree. A later one of the same agent replaces it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeState {
    /// The id, a UUID.
    pub agent_id: Text,
    /// The id of the agent above. `None` for the root.
    pub parent_id: Option<Text>,
    /// The present activity.
    pub status: Status,
    /// The task: the prompt of the user, or the question of the agent above.
    pub user_content: Text,
    /// The last remark of the user.
    pub user_comment: Option<Text>,
    /// The ids of the agents below, in the order of their creation.
    pub subagents: Vec<Text>,
    /// The last messages, without the system prompt.
    pub messages: Vec<CoreMessage>,
    /// The answer, at the end.
    pub result: Option<Text>,
    /// The open questions about calls. Only with the extended protocol, and only if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<OpenQuery>,
    /// Details that clients show beside the task.
    pub metadata: Metadata,
    /// The time of the creation, in milliseconds since 1970.
    pub created_at: u64,
}

impl NodeState {
    /// Creates the state of an agent that begins to work.
    #[must_use]
    pub fn begun(agent_id: Text, parent_id: Option<Text>, task: Text, created_at: u64) -> Self {
        Self {
            agent_id,
            parent_id,
            status: Status::Running,
            user_content: task,
            user_comment: None,
            subagents: Vec::new(),
            messages: Vec::new(),
            result: None,
            queries: Vec::new(),
            metadata: Metadata::default(),
            created_at,
        }
    }
}

/// The name of an agent, its depth, and its step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Metadata {
    /// The name of the agent, or of the program that it follows.
    pub name: Text,
    /// The number of agents above.
    pub depth: u32,
    /// The step of the program, from 1. 0 for an agent without a program.
    pub step: u8,
}

/// The present activity of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// The agent waits for its turn.
    Pending,
    /// The agent works.
    Running,
    /// The agent has asked the user a question.
    WaitingForUser,
    /// The user has paused the agent.
    Paused,
    /// The agent has answered.
    Completed,
    /// The agent failed.
    Failed,
    /// The user has cancelled the agent.
    Cancelled,
}

impl Status {
    /// Returns `true` for a state in which the agent does nothing any more.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
