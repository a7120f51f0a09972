use omniassist_core::event::AgentStatus;
use omniassist_core::{Text, Usage};
use serde::Serialize;
use tokio::sync::oneshot;

use super::ToolError;

/// A question of a tool to an agent. Dropping it answers with an error.
#[derive(Debug)]
pub struct AgentAsk {
    pub(crate) agent: Text,
    pub(crate) task: Text,
    /// The call whose tool asks.
    pub(crate) call_id: Text,
    /// `true` if the tool runs again with the same arguments when the agent has waited for the user.
    pub(crate) may_wait: bool,
    pub(crate) reply: oneshot::Sender<Result<AgentReport, ToolError>>,
}

/// The report of an agent that was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentReport {
    /// The outcome.
    pub status: AgentStatus,
    /// The reason for another outcome than completion: the name of a limit, the code of a failure, `empty`, `length`, `other`,
    /// `stopped`, or `interrupted` if the server stopped. `state_too_long` means that the agent of a run without a store had
    /// to wait for the user, and its client cannot keep its state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The answer, or the part of it that was written. It is cut at 32 KiB, or where the budget of the asking agent would not
    /// allow an answer.
    pub result: Text,
    /// The id of the agent in the tree of the run.
    pub agent_id: Text,
    /// The tokens of the agent, with those of the agents that it asked.
    pub usage: Usage,
}
