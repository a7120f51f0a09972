use serde::Serialize;

use super::{CallQuery, NodeState};
use crate::{Text, Usage};

/// A frame of the server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ServerFrame {
    /// The state of an agent has changed.
    AgentState {
        /// The agent.
        agent_id: Text,
        /// Its state.
        state: Box<NodeState>,
    },
    /// An agent writes.
    TextDelta {
        /// The agent.
        agent_id: Text,
        /// The next piece.
        delta: Text,
    },
    /// An agent asks the user, and waits for the answer. A question about a call is answered with `call-response`, and any
    /// other one with `user-response`.
    UserQuery {
        /// The agent.
        agent_id: Text,
        /// The question.
        prompt: Text,
        /// The id of the question. Only with the extended protocol.
        #[serde(skip_serializing_if = "Option::is_none")]
        query_id: Option<Text>,
        /// The call, if the question is about one. Only with the extended protocol.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallQuery>>,
    },
    /// The root has answered. The fields are sent with the extended protocol only.
    AgentCompleted {
        /// The root.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_id: Option<Text>,
        /// The answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Text>,
        /// The tokens of the tree.
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A frame cannot be used, or the tree has failed.
    Error {
        /// A sentence for the user.
        error: Text,
        /// The code for programs. Only with the extended protocol.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<Text>,
        /// The agent that failed. Only with the extended protocol.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_id: Option<Text>,
    },
    /// The end of the answer to `get-agent-tree`.
    AgentTree {
        /// All agents, parents first.
        agent_ids: Vec<Text>,
    },
}

#[derive(Serialize)]
struct Numbered<'a> {
    #[serde(flatten)]
    frame: &'a ServerFrame,
    seq: u64,
}

impl ServerFrame {
    /// Creates the frame of a state.
    #[must_use]
    pub fn state(state: NodeState) -> Self {
        Self::AgentState { agent_id: state.agent_id.clone(), state: Box::new(state) }
    }

    /// Creates the frame of an error.
    #[must_use]
    pub fn error(code: impl Into<Text>, error: impl Into<Text>) -> Self {
        Self::Error { error: error.into(), code: Some(code.into()), agent_id: None }
    }

    /// Returns the frame without the fields of the extended protocol.
    #[must_use]
    pub fn bare(mut self) -> Self {
        match &mut self {
            Self::UserQuery { query_id, call, .. } => (*query_id, *call) = (None, None),
            Self::AgentState { state, .. } => state.queries = Vec::new(),
            Self::AgentCompleted { agent_id, result, usage } => {
                (*agent_id, *result, *usage) = (None, None, None);
            }
            Self::Error { code, agent_id, .. } => (*code, *agent_id) = (None, None),
            _ => {}
        }
        self
    }

    /// Returns the JSON text, with the fields that are set.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Texts, numbers and JSON that was parsed always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the JSON text of the extended protocol, with the number of the frame on its connection.
    #[must_use]
    pub fn to_numbered_json(&self, seq: u64) -> String {
        serde_json::to_string(&Numbered { frame: self, seq }).unwrap_or_default()
    }
}
