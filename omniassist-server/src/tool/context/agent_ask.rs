use std::any::Any;
use std::sync::Arc;

use omniassist_core::event::AgentStatus;
use omniassist_core::message::ToolState;
use omniassist_core::{JsonText, Text, Usage};
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::tool::ToolError;

/// A question of a tool to an agent, or a call that it makes in the name of its own. Dropping it answers with an error.
#[derive(Debug)]
pub struct AgentAsk {
    pub(crate) agent: Text,
    pub(crate) task: Text,
    /// Set for the call of a tool. No agent works then.
    pub(crate) inner: Option<InnerCall>,
    /// The call whose tool asks.
    pub(crate) call_id: Text,
    /// The same call as the run has it. Set by the run.
    pub(crate) call: Option<AskingCall>,
    /// `true` if the asking tool runs again with the same arguments when the user has answered.
    pub(crate) may_wait: bool,
    pub(crate) reply: oneshot::Sender<Result<Answered, ToolError>>,
}

/// The tool and the arguments of a call that asks. Hooks may have changed the arguments that the tool has.
#[derive(Debug, Clone)]
pub(crate) struct AskingCall {
    pub(crate) tool: Text,
    pub(crate) arguments: JsonText,
}

/// The answer to an [`AgentAsk`].
#[derive(Debug)]
pub(crate) enum Answered {
    Report(AgentReport),
    Call(InnerEnd),
}

/// A call that a tool makes in the name of its own.
#[derive(Debug)]
pub(crate) struct InnerCall {
    pub(crate) tool: InnerTool,
    pub(crate) arguments: JsonText,
    /// The state with which the tool runs again if this call waits for the user.
    pub(crate) state: JsonText,
    /// `true` if another call of the tool is open. The state of one alone can be kept, so neither may wait.
    pub(crate) is_beside: bool,
}

/// The tool of an inner call.
#[derive(Debug)]
pub(crate) enum InnerTool {
    /// The form of the assistant.
    Form,
    /// A tool, or a registered one. Only the engine knows its type.
    Given(Arc<dyn Any + Send + Sync>),
}

/// The end of an inner call.
#[derive(Debug)]
pub(crate) struct InnerEnd {
    pub(crate) state: ToolState,
    /// `true` if the server has made an error of the call or of its answer.
    pub(crate) has_failed: bool,
}

/// The report of an agent that was asked. Its JSON form, which a model that asks reads, has the fields `status`, `reason`,
/// `result`, `agentId` and `usage`. The `result` is a string, or the answer of an agent with a type of
/// [output](crate::Agent::output) as it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AgentReport {
    /// The outcome.
    pub status: AgentStatus,
    /// The reason for another outcome than completion: the name of a limit, the code of a failure, `empty`, `length`, `other`,
    /// `stopped`, or `interrupted` if the server stopped. `state_too_long` means that the agent of a run without a store had
    /// to wait for the user, and its client cannot keep its state. `invalid_answer` means that the answer of an agent with a
    /// type of output does not fit it, and `answer_too_long` that the answer does not fit into `result`.
    pub reason: Option<Text>,
    /// The answer, or the part of it that was written. It is cut at 32 KiB, or where the budget of the asking agent would not
    /// allow an answer.
    pub result: Text,
    /// The id of the agent in the tree of the run.
    pub agent_id: Text,
    /// The tokens of the agent, with those of the agents that it asked.
    pub usage: Usage,
    /// `true` if the agent has a type of output.
    pub(crate) is_typed: bool,
}

impl AgentReport {
    /// Returns the answer of an agent that has completed its task. `T` is usually the type of its
    /// [output](crate::Agent::output).
    ///
    /// # Errors
    ///
    /// Returns an error for the model if the agent has not completed its task, and an internal error if its answer is not
    /// a `T` in JSON.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        if self.status != AgentStatus::Completed {
            let reason = self.reason.as_deref().unwrap_or("other");
            return Err(ToolError::new(format!("The agent did not complete its task: {reason}.")));
        }
        serde_json::from_str(&self.result).map_err(ToolError::internal)
    }

    /// Returns the result of an agent with a type of output, unless a part of it is missing.
    fn json(&self) -> Option<&RawValue> {
        self.is_typed.then(|| serde_json::from_str(&self.result).ok()).flatten()
    }
}

impl Serialize for AgentReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AgentReport", 5)?;
        fields.serialize_field("status", &self.status)?;
        match &self.reason {
            Some(reason) => fields.serialize_field("reason", reason)?,
            None => fields.skip_field("reason")?,
        }
        match self.json() {
            Some(json) => fields.serialize_field("result", json)?,
            None => fields.serialize_field("result", &self.result)?,
        }
        fields.serialize_field("agentId", &self.agent_id)?;
        fields.serialize_field("usage", &self.usage)?;
        fields.end()
    }
}
