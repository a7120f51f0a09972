use std::time::Duration;

use omniassist_core::{JsonText, Text, Usage, canonical};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::clock::{millis, now_ms};
use crate::observe::RunEnd;
use crate::{Cost, Principal, RunContext};

/// One record of the audit log. Its JSON form is one flat object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditEvent {
    /// The id of the record. A sink that receives a record again can recognise it by its id.
    pub id: Text,
    /// The time of the decision, in milliseconds since 1970.
    pub time: u64,
    /// The principal. It is anonymous for a run of the host, and `null` in JSON.
    #[serde(serialize_with = "known_id")]
    pub principal: Principal,
    /// The client's id of the chat.
    pub chat_id: Option<Text>,
    /// The id of the run. `None` for a run that was refused.
    pub run_id: Option<Text>,
    /// The name of the [agent](crate::Agent) of the run. `None` for the assistant itself, and for a run that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// The decision.
    #[serde(flatten)]
    pub action: AuditAction,
}

/// The decision that a record is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum AuditAction {
    /// A client's run was refused: a limit is reached, or its history is refused.
    RunRefused {
        /// The code of the refusal, such as `rate_limited`.
        code: &'static str,
    },
    /// A run began.
    RunStarted,
    /// A run ended.
    RunEnded {
        /// The outcome: `finish`, `abort`, `dropped`, `released`, or the code of a failure. A refusal by
        /// [`prepare`](crate::AssistantBuilder::prepare) has its own code.
        #[serde(serialize_with = "outcome_name")]
        outcome: RunEnd,
        /// The time since the run began.
        #[serde(rename = "durationMs", serialize_with = "milliseconds")]
        duration: Duration,
        /// The tokens of all model calls.
        usage: Usage,
        /// The cost of these tokens; see [`RunReport::cost`](crate::observe::RunReport::cost).
        cost: Option<Cost>,
    },
    /// A call was refused without a request for approval: by the host's policy or a
    /// [`before_tool`](crate::AssistantBuilder::before_tool) function, because its arguments or its tool are not valid,
    /// or because its approval is no longer valid.
    CallRefused {
        /// The call.
        #[serde(flatten)]
        call: AuditedCall,
        /// The reason, as the model reads it.
        reason: Text,
    },
    /// A call waits for an approval.
    ApprovalRequested {
        /// The call.
        #[serde(flatten)]
        call: AuditedCall,
    },
    /// The principal of the run denied a call.
    CallDenied {
        /// The call.
        #[serde(flatten)]
        call: AuditedCall,
    },
    /// A [`before_tool`](crate::AssistantBuilder::before_tool) function answered a call. Its tool does not run.
    CallAnswered {
        /// The call.
        #[serde(flatten)]
        call: AuditedCall,
    },
    /// A call runs elsewhere. Its outcome has no record.
    CallDelegated {
        /// The call. Providers do not report arguments, so those of their tools count as empty.
        #[serde(flatten)]
        call: AuditedCall,
        /// The side that runs the call.
        to: Delegate,
    },
    /// A server tool starts.
    CallStarted {
        /// The call, with the arguments that the tool gets.
        #[serde(flatten)]
        call: AuditedCall,
        /// The principal that approved the call. `None` if it needed no approval.
        #[serde(serialize_with = "optional_id")]
        approved_by: Option<Principal>,
    },
    /// A server tool ended. There is one such record for each call that started.
    CallEnded {
        /// The call.
        #[serde(flatten)]
        call: AuditedCall,
        /// The outcome: `ok`, or the kind of the error, such as `timeout` or `cancelled`. It is `unknown` if the server
        /// stopped while the tool ran; the run's next server writes this record.
        outcome: &'static str,
        /// The time since the call started. It includes the time in which its record waited to be accepted. It is zero if
        /// the outcome is `unknown`.
        #[serde(rename = "durationMs", serialize_with = "milliseconds")]
        duration: Duration,
    },
    /// Records were dropped before this one, because the sink was too slow; see [`WhenSlow::Drop`](super::WhenSlow).
    RecordsDropped {
        /// The number of records.
        count: u64,
    },
}

/// The side that runs a call in place of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delegate {
    /// The client runs a front-end tool.
    Client,
    /// The provider has run a built-in tool.
    Provider,
}

/// A tool call in the audit log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditedCall {
    /// The id of the call.
    pub call_id: Text,
    /// The name of the tool.
    pub tool: Text,
    /// The SHA-256 of the arguments in [canonical](omniassist_core::canonical) JSON, as 64 hexadecimal digits.
    pub arguments_digest: Text,
    /// The arguments. `None` unless the log [records arguments](super::AuditLog::record_arguments).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<JsonText>,
}

impl AuditEvent {
    pub(crate) fn new(
        principal: Principal,
        chat_id: Option<Text>,
        run: Option<&RunContext>,
        action: AuditAction,
    ) -> Self {
        let id = Uuid::now_v7().simple().to_string().into();
        let run_id = run.map(|run| run.run_id().clone());
        let agent = run.and_then(RunContext::agent).cloned();
        Self { id, time: now_ms(), principal, chat_id, run_id, agent, action }
    }
}

impl AuditAction {
    /// Returns the name of the decision, which is `action` in JSON.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::RunRefused { .. } => "run_refused",
            Self::RunStarted => "run_started",
            Self::RunEnded { .. } => "run_ended",
            Self::CallRefused { .. } => "call_refused",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::CallDenied { .. } => "call_denied",
            Self::CallAnswered { .. } => "call_answered",
            Self::CallDelegated { .. } => "call_delegated",
            Self::CallStarted { .. } => "call_started",
            Self::CallEnded { .. } => "call_ended",
            Self::RecordsDropped { .. } => "records_dropped",
        }
    }
}

impl AuditedCall {
    pub(crate) fn new(call_id: Text, tool: Text, arguments: &JsonText, records_arguments: bool) -> Self {
        let canonical = canonical::of(arguments);
        let bytes = canonical.as_ref().map_or(arguments, |canonical| canonical.json()).as_str();
        let digest = Sha256::digest(bytes);
        let arguments_digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let arguments = records_arguments.then(|| arguments.clone());
        Self { call_id, tool, arguments_digest, arguments }
    }
}

fn known_id<S: Serializer>(principal: &Principal, serializer: S) -> Result<S::Ok, S::Error> {
    principal.known_id().serialize(serializer)
}

fn optional_id<S: Serializer>(principal: &Option<Principal>, serializer: S) -> Result<S::Ok, S::Error> {
    principal.as_ref().map(ToString::to_string).serialize(serializer)
}

fn outcome_name<S: Serializer>(outcome: &RunEnd, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(outcome.as_str())
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(millis(*duration))
}
