use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApprovalRequest, FinishReason, InputRequest, Source, Usage};
use crate::provider_metadata::ProviderMetadata;
use crate::{JsonText, Text};

/// Number of a text or reasoning block, unique within one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// An event of a run. Events are in the order in which they happen. A run ends with exactly one of [`Finish`](Self::Finish),
/// [`Error`](Self::Error) and [`Abort`](Self::Abort).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// The run begins; always the first event.
    Start {
        /// Id of the assistant message being written: that of the message continued, or a new one.
        message_id: Text,
        /// Metadata that the client should keep with the message.
        metadata: Option<Map<String, Value>>,
    },
    /// A model call begins.
    StepStart,
    /// A step is over: its text has ended and its server tools have run.
    StepFinish {
        /// The reason why the model stopped.
        reason: FinishReason,
        /// Tokens of this step.
        usage: Usage,
    },
    /// A text block opens.
    TextStart {
        /// The block.
        id: BlockId,
    },
    /// More text.
    TextDelta {
        /// The block.
        id: BlockId,
        /// The piece; never empty.
        delta: Text,
    },
    /// A text block is complete.
    TextEnd {
        /// The block.
        id: BlockId,
        /// State that must come back with the message.
        metadata: Option<ProviderMetadata>,
    },
    /// A reasoning block opens.
    ReasoningStart {
        /// The block.
        id: BlockId,
    },
    /// More reasoning.
    ReasoningDelta {
        /// The block.
        id: BlockId,
        /// The piece; never empty.
        delta: Text,
    },
    /// A reasoning block is complete.
    ReasoningEnd {
        /// The block.
        id: BlockId,
        /// State that must come back with the message.
        metadata: Option<ProviderMetadata>,
    },
    /// A tool call begins; its arguments follow.
    ToolInputStart {
        /// The call.
        call_id: Text,
        /// The tool.
        name: Text,
        /// The tool's name for people.
        title: Option<Text>,
    },
    /// A piece of a call's arguments.
    ToolInputDelta {
        /// The call.
        call_id: Text,
        /// The piece; never empty.
        delta: Text,
    },
    /// A call is complete, its arguments fit the tool, and it will be run.
    ToolInputAvailable {
        /// The call.
        call_id: Text,
        /// The tool.
        name: Text,
        /// The arguments.
        input: JsonText,
        /// `true` if the provider runs it itself.
        provider_executed: bool,
        /// State that must come back with the call.
        metadata: Option<ProviderMetadata>,
    },
    /// A call cannot be run: it was cut off, its arguments do not fit, or there is no such tool.
    ToolInputError {
        /// The call.
        call_id: Text,
        /// The tool it named.
        name: Text,
        /// The arguments: the parsed value, or a JSON string of the raw text where it does not parse.
        input: JsonText,
        /// The reason, for the user and the model.
        error_text: Text,
        /// State that must come back with the call.
        metadata: Option<ProviderMetadata>,
    },
    /// A tool gave an output.
    ToolOutput {
        /// The call.
        call_id: Text,
        /// The output.
        output: JsonText,
        /// `true` for progress, which the next output of the same call replaces.
        preliminary: bool,
        /// `true` if the provider ran it itself.
        provider_executed: bool,
    },
    /// A tool failed.
    ToolError {
        /// The call.
        call_id: Text,
        /// The reason, for the user and the model.
        error_text: Text,
        /// `true` if the provider ran it itself.
        provider_executed: bool,
    },
    /// A call waits for somebody's approval and does not run before.
    ToolApprovalRequest(ApprovalRequest),
    /// Somebody denied a call; it does not run.
    ToolDenied {
        /// The call.
        call_id: Text,
        /// The reason that the user gave.
        reason: Option<Text>,
    },
    /// A call was refused without asking anybody: by the host's policy, or because the client cannot ask.
    ToolRefused {
        /// The call.
        call_id: Text,
        /// The reason, for the user and the model.
        reason: Text,
    },
    /// Proof that this server wrote a call's output (or its failure), for the client to send back with it. Follows the
    /// output at once.
    OutputSeal {
        /// The call.
        call_id: Text,
        /// The proof.
        seal: Text,
    },
    /// A call asks the user to fill in a form: the client shows it and gives back what was entered as the call's
    /// output.
    InputRequest(InputRequest),
    /// The state that the server and the client share, whole.
    StateSnapshot(JsonText),
    /// A change of the shared state: an array of JSON Patch operations (RFC 6902).
    StateDelta(JsonText),
    /// Something under way that the client shows and the model does not see, whole.
    ActivitySnapshot {
        /// Unique within the conversation.
        id: Text,
        /// Its kind; the client picks how to show it by this.
        kind: Text,
        /// The content: an object.
        content: JsonText,
    },
    /// Something the answer rests on.
    Source(Source),
    /// A file that the model made.
    File {
        /// Its media type.
        media_type: Text,
        /// An `https:` or `data:` URL.
        url: Text,
    },
    /// Data of the host's own for its client.
    Data {
        /// Its kind, without a prefix.
        name: Text,
        /// The same id replaces earlier data of the same kind.
        id: Option<Text>,
        /// The data.
        data: JsonText,
        /// `true` if the client should not keep it with the message.
        transient: bool,
    },
    /// More metadata for the message; merged into what is there.
    Metadata(Map<String, Value>),
    /// The run is over, or waits for the client (a front-end tool); the last event.
    Finish {
        /// The reason for the end of the last step.
        reason: FinishReason,
        /// Tokens of all steps of this run.
        usage: Usage,
    },
    /// The run failed; the last event. What was sent before stays valid.
    Error {
        /// A stable code.
        code: RunErrorCode,
        /// A sentence that is safe to show to anyone.
        message: Text,
    },
    /// The run was stopped; the last event.
    Abort {
        /// By what.
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

/// The stable code of a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum RunErrorCode {
    /// The provider refused the request or answered with an error.
    ProviderError,
    /// The provider refused our credentials.
    ProviderAuth,
    /// The provider could not be reached, or is overloaded.
    ProviderUnavailable,
    /// The provider's rate limit or quota is used up.
    RateLimited,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The provider's stream ended before its answer did.
    StreamInterrupted,
    /// A deadline passed.
    Timeout,
    /// The run made as many model calls as it may.
    MaxSteps,
    /// The model kept making tool calls that cannot be run.
    InvalidToolCalls,
    /// A limit was passed.
    LimitExceeded,
    /// The request is not acceptable.
    InvalidRequest,
    /// Something failed inside the host (the system prompt, the summariser).
    Internal,
    /// The server shut down before the run was over.
    ServerShutdown,
    /// The principal has used the tokens that it may use for now.
    TokenBudgetExceeded,
    /// The host refused the run, for the reason that this code of its own names. It is not read back.
    #[serde(untagged, skip_deserializing)]
    Refused(#[serde(skip_deserializing)] &'static str),
}

impl RunErrorCode {
    /// The code as it is written on the wire.
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
            Self::LimitExceeded => "limit_exceeded",
            Self::InvalidRequest => "invalid_request",
            Self::Internal => "internal",
            Self::ServerShutdown => "server_shutdown",
            Self::TokenBudgetExceeded => "token_budget_exceeded",
            Self::Refused(code) => code,
        }
    }

    /// A sentence that is safe to show to anyone.
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
            Self::LimitExceeded => "The answer passed a size limit.",
            Self::InvalidRequest => "The request is not acceptable.",
            Self::Internal => "An internal error occurred.",
            Self::Refused(_) => "The request was refused.",
            Self::ServerShutdown => {
                "The server was restarted before the answer was complete. Please send your message again."
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
