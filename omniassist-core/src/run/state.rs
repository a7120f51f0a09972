use serde::{Deserialize, Serialize};

use super::call_ids::CallIds;
use super::turn::Turn;
use crate::event::CallKind;
use crate::history::Sent;
use crate::message::ProviderMetadata;
use crate::transcript::ToolCall;
use crate::{JsonText, Text, TranscriptItem, Usage};

/// The version of the serialised form. A state with another version is not resumed.
pub(super) const VERSION: u32 = 2;

/// The complete, serialisable state of a run. Take it only if no events are pending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    pub(super) version: u32,
    pub(super) message_id: Text,
    pub(super) phase: Phase,
    /// The conversation before the current turn.
    pub(super) transcript: Vec<TranscriptItem>,
    /// Ids of calls that the client has, and that were removed from the transcript or never part of it.
    pub(super) left_out_calls: Vec<Text>,
    /// The part of the conversation that is sent to the model. The transcript holds that part only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) window: Option<Box<Sent>>,
    #[serde(skip)]
    pub(super) call_ids: CallIds,
    /// Calls of which nobody knows if they took effect: the tool and the canonical arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown_calls: Vec<(Text, JsonText)>,
    /// Model calls since the last user message, including those of earlier requests.
    pub(super) steps: u32,
    /// Consecutive turns without a valid call.
    pub(super) invalid_turns: u32,
    pub(super) next_block: u32,
    pub(super) usage: Usage,
    pub(super) turn: Turn,
    /// The calls of the last turn, in order.
    pub(super) calls: Vec<OpenCall>,
    /// `true` if these calls are from an earlier request and are now approved. Their step is complete, and their
    /// results replace the placeholders in the transcript.
    pub(super) resumed: bool,
    /// `true` if the model was asked to correct its answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) corrected: bool,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// The next action is a model call.
    ModelDue,
    /// The model is streaming.
    Model,
    /// The next action is to run server tools.
    ToolsDue,
    /// Server tools are running.
    Tools,
    /// The client has open obligations: outputs of front-end tools, approvals or form input.
    Suspended,
    /// The terminal event was written.
    Done,
}

/// A call of the last turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) id: Text,
    pub(super) name: Text,
    pub(super) arguments: JsonText,
    pub(super) state: CallState,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CallState {
    /// A running server tool.
    Running,
    /// The client settles the call: a front-end tool, a form, or an approval.
    HandedOver,
    /// The call ran.
    Answered {
        /// The output, or the text of an error as a JSON string.
        output: JsonText,
        /// `true` if the call failed.
        is_error: bool,
    },
    /// The call could not run: the tool does not exist, or the arguments are invalid.
    Invalid {
        /// The reason.
        error_text: Text,
    },
    /// The call is complete and must not run.
    Refused {
        /// The reason.
        error_text: Text,
    },
    /// The call is incomplete.
    Cut {
        /// The reason.
        error_text: Text,
    },
}

impl OpenCall {
    pub(super) fn new(id: Text, name: Text, arguments: JsonText, state: CallState) -> Self {
        Self { id, name, arguments, state }
    }

    /// Returns the call as it is in the conversation.
    pub(super) fn to_call(&self, metadata: Option<ProviderMetadata>) -> ToolCall {
        let (id, name, arguments) = (self.id.clone(), self.name.clone(), self.arguments.clone());
        ToolCall { id, name, arguments, kind: CallKind::Function, metadata }
    }
}
