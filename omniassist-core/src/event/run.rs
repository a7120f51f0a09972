use std::fmt;

use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{
    AgentDelta, AgentState, ApprovalRequest, ComponentEvent, FinishReason, InputRequest, Source, Usage,
    literal,
};
use crate::provider_metadata::ProviderMetadata;
use crate::{JsonText, Text, ToolApp};

/// The number of a text or reasoning block, unique within one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// An event of a run, in chronological order. A run ends with exactly one of [`Finish`](Self::Finish),
/// [`Error`](Self::Error) and [`Abort`](Self::Abort).
///
/// The serialised form is that of the [journal](crate::journal). The formats of clients are those of the
/// [dialects](crate::dialect).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum RunEvent {
    /// The run begins. Always the first event.
    Start {
        /// The id of the assistant message: that of the continued message, or a new one.
        message_id: Text,
        /// Metadata to store with the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Map<String, Value>>,
    },
    /// A model call begins.
    StepStart,
    /// The model call is repeated: everything since the last [`StepStart`](Self::StepStart) is withdrawn, and the events
    /// of the second attempt follow. A server writes it after a restart. Only version 7 of the AI SDK can withdraw parts,
    /// so the responses of other clients must be cut off instead.
    StepReset,
    /// A step is complete: its text has ended and its server tools have run.
    StepFinish {
        /// The reason for the end of the model's turn.
        reason: FinishReason,
        /// The token usage of this step.
        usage: Usage,
    },
    /// A text block begins.
    TextStart {
        /// The block.
        id: BlockId,
    },
    /// A text delta.
    TextDelta {
        /// The block.
        id: BlockId,
        /// The delta, never empty.
        delta: Text,
    },
    /// A text block is complete.
    TextEnd {
        /// The block.
        id: BlockId,
        /// State that the client returns with the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A reasoning block begins.
    ReasoningStart {
        /// The block.
        id: BlockId,
    },
    /// A reasoning delta.
    ReasoningDelta {
        /// The block.
        id: BlockId,
        /// The delta, never empty.
        delta: Text,
    },
    /// A reasoning block is complete.
    ReasoningEnd {
        /// The block.
        id: BlockId,
        /// State that the client returns with the message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A tool call begins; its arguments follow.
    ToolInputStart {
        /// The call.
        call_id: Text,
        /// The tool.
        name: Text,
        /// The display name of the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<Text>,
        /// The app that shows the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        app: Option<Box<ToolApp>>,
    },
    /// A delta of a call's arguments.
    ToolInputDelta {
        /// The call.
        call_id: Text,
        /// The delta, never empty.
        delta: Text,
    },
    /// A call is complete, its arguments are valid, and it will run.
    ToolInputAvailable {
        /// The call.
        call_id: Text,
        /// The tool.
        name: Text,
        /// The arguments.
        input: JsonText,
        /// `true` if the provider executes the call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
        /// State that the client returns with the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A call cannot run: it is incomplete, its arguments are invalid, or the tool does not exist.
    ToolInputError {
        /// The call.
        call_id: Text,
        /// The name of the tool in the call.
        name: Text,
        /// The parsed arguments, or their text as a JSON string if it does not parse.
        input: JsonText,
        /// The reason, for the user and the model.
        error_text: Text,
        /// State that the client returns with the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// The output of a call.
    ToolOutput {
        /// The call.
        call_id: Text,
        /// The output.
        output: JsonText,
        /// `true` for progress, which the next output of the same call replaces.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
        /// `true` if the provider executed the call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    /// A call failed.
    ToolError {
        /// The call.
        call_id: Text,
        /// The reason, for the user and the model.
        error_text: Text,
        /// `true` if the provider executed the call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    /// A call awaits approval and does not run before it.
    ToolApprovalRequest(ApprovalRequest),
    /// The user denied a call. It does not run.
    ToolDenied {
        /// The call.
        call_id: Text,
        /// The reason given by the user.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// A call was refused without asking the user: by the host's policy, or because the client cannot ask.
    ToolRefused {
        /// The call.
        call_id: Text,
        /// The reason, for the user and the model.
        reason: Text,
    },
    /// Proof that this server wrote the output or the error of a call. The client returns it with the output. It
    /// follows the output immediately.
    OutputSeal {
        /// The call.
        call_id: Text,
        /// The proof.
        seal: Text,
    },
    /// A call requests user input. The client shows a form and returns the input as the call's output.
    InputRequest(InputRequest),
    /// The complete state that server and client share.
    StateSnapshot(JsonText),
    /// A change of the shared state: an array of JSON Patch operations (RFC 6902).
    StateDelta(JsonText),
    /// An activity that the client displays and the model does not see, with its complete content.
    ActivitySnapshot {
        /// Unique within the conversation.
        id: Text,
        /// Its kind. The client selects the presentation by it.
        kind: Text,
        /// The content, a JSON object.
        content: JsonText,
    },
    /// A source of the answer.
    Source(Source),
    /// A file that the model generated.
    File {
        /// Its media type.
        media_type: Text,
        /// An `https:` or `data:` URL.
        url: Text,
    },
    /// Data of the host for its client.
    Data {
        /// Its kind, without a prefix.
        name: Text,
        /// The id. Data with the same id and kind replaces earlier data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Text>,
        /// The data.
        data: JsonText,
        /// `true` if the client should not store the data with the message.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        transient: bool,
    },
    /// A component that the server shows, or the state of one.
    Component(Box<ComponentEvent>),
    /// The state of an agent that the run has asked.
    AgentState(Box<AgentState>),
    /// A part of the work of an agent that the run has asked.
    AgentDelta {
        /// The agent.
        agent_id: Text,
        /// The part.
        delta: AgentDelta,
    },
    /// Further metadata of the message, merged with the existing metadata.
    Metadata(Map<String, Value>),
    /// The run is complete, or waits for the client (such as for a front-end tool). The last event.
    Finish {
        /// The reason for the end of the last step.
        reason: FinishReason,
        /// The token usage of all steps of this run.
        usage: Usage,
    },
    /// The run failed. The last event. Events sent before stay valid.
    Error {
        /// The stable code.
        #[serde(deserialize_with = "error_code")]
        code: RunErrorCode,
        /// A message that is safe to show to anyone.
        message: Text,
    },
    /// The run was stopped. The last event.
    Abort {
        /// The reason for the stop.
        reason: Text,
    },
}

impl RunEvent {
    /// Returns `true` if this event ends the run.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Finish { .. } | Self::Error { .. } | Self::Abort { .. })
    }
}

/// Reads the code of an error. An unknown one is that of a host, or of a later version of this crate.
fn error_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RunErrorCode, D::Error> {
    let code = Text::deserialize(deserializer)?;
    let text: StrDeserializer<'_, Error> = code.as_str().into_deserializer();
    let refused = || literal::literal(&code).map_or(RunErrorCode::Internal, RunErrorCode::Refused);
    Ok(RunErrorCode::deserialize(text).unwrap_or_else(|_| refused()))
}

/// The stable code of a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum RunErrorCode {
    /// The provider rejected the request or answered with an error.
    ProviderError,
    /// The provider rejected the server's credentials.
    ProviderAuth,
    /// The provider is unreachable or overloaded.
    ProviderUnavailable,
    /// The provider's rate limit or quota is exhausted.
    RateLimited,
    /// The conversation exceeds the model's context window.
    ContextOverflow,
    /// The provider's stream ended before the answer was complete.
    StreamInterrupted,
    /// A deadline passed.
    Timeout,
    /// The run reached its limit of model calls.
    MaxSteps,
    /// The model repeatedly made tool calls that cannot run.
    InvalidToolCalls,
    /// The answer does not have the form that was asked for, also after a correction.
    InvalidAnswer,
    /// A limit was exceeded.
    LimitExceeded,
    /// The request is invalid.
    InvalidRequest,
    /// The host failed, for example in its system prompt or summariser.
    Internal,
    /// The server shut down before the run ended.
    ServerShutdown,
    /// The principal has used up its token budget.
    TokenBudgetExceeded,
    /// A limit of the host could not be checked.
    LimitsUnavailable,
    /// The host refused the run. The code is the host's own and is not deserialised.
    #[serde(untagged, skip_deserializing)]
    Refused(#[serde(skip_deserializing)] &'static str),
}

impl RunErrorCode {
    /// Returns the code as sent to clients.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderError => "provider_error",
            Self::ProviderAuth => "provider_auth",
            Self::ProviderUnavailable => "provider_unavailable",
            Self::RateLimited => "rate_limited",
            Self::ContextOverflow => "context_overflow",
            Self::StreamInterrupted => "stream_interrupted",
            Self::Timeout => "timeout",
            Self::MaxSteps => "max_steps",
            Self::InvalidToolCalls => "invalid_tool_calls",
            Self::InvalidAnswer => "invalid_answer",
            Self::LimitExceeded => "limit_exceeded",
            Self::InvalidRequest => "invalid_request",
            Self::Internal => "internal",
            Self::ServerShutdown => "server_shutdown",
            Self::TokenBudgetExceeded => "token_budget_exceeded",
            Self::LimitsUnavailable => "limits_unavailable",
            Self::Refused(code) => code,
        }
    }

    /// Returns a message that is safe to show to anyone.
    #[must_use]
    pub fn safe_message(self) -> &'static str {
        match self {
            Self::ProviderError => "The model could not answer this request.",
            Self::ProviderAuth => {
                "The assistant is not set up correctly: the model provider refused its credentials."
            }
            Self::ProviderUnavailable => "The model is not available right now. Please try again.",
            Self::RateLimited => "The model is busy right now. Please try again later.",
            Self::ContextOverflow => "The conversation is too long for the model.",
            Self::StreamInterrupted => "The answer was interrupted before it was complete.",
            Self::Timeout => "The answer took too long.",
            Self::MaxSteps => "The assistant stopped: it reached its limit of steps for one question.",
            Self::InvalidToolCalls => {
                "The assistant stopped: the model kept making calls that cannot be run."
            }
            Self::InvalidAnswer => {
                "The assistant stopped: its answer does not have the form that was asked for."
            }
            Self::LimitExceeded => "The answer exceeded a size limit.",
            Self::InvalidRequest => "The request is invalid.",
            Self::Internal => "An internal error occurred.",
            Self::Refused(_) => "The request was refused.",
            Self::ServerShutdown => {
                "The server was restarted before the answer was complete. Please send your message again."
            }
            Self::LimitsUnavailable => {
                "The answer was stopped: the limits of this user cannot be checked. Please try again later."
            }
            Self::TokenBudgetExceeded => {
                "The answer was stopped: the token budget is used up. Please try again later."
            }
        }
    }
}

impl fmt::Display for RunErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
