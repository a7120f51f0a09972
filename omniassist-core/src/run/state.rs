use serde::{Deserialize, Serialize};

use super::call_ids::CallIds;
use super::turn::Turn;
use crate::{JsonText, Text, TranscriptItem, Usage};

/// Version of the serialised form; one that this code does not know is not resumed.
pub(super) const VERSION: u32 = 2;

/// All that a run knows, in a form that serialises. Take it only when no events wait to be delivered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    pub(super) version: u32,
    pub(super) message_id: Text,
    pub(super) phase: Phase,
    /// The conversation up to the turn that is under way.
    pub(super) transcript: Vec<TranscriptItem>,
    /// Ids of calls that compacting took out of the transcript. The client still has them.
    pub(super) left_out_calls: Vec<Text>,
    #[serde(skip)]
    pub(super) call_ids: CallIds,
    /// Model calls since the last user message, those of earlier requests included.
    pub(super) steps: u32,
    /// Turns in a row in which every call was unusable.
    pub(super) invalid_turns: u32,
    pub(super) next_block: u32,
    pub(super) usage: Usage,
    pub(super) turn: Turn,
    /// The calls of the turn that just ended, in their order.
    pub(super) calls: Vec<OpenCall>,
    /// `true` if these calls are from an earlier request and were approved since. Their step is over, and their results
    /// replace the placeholders in the transcript.
    pub(super) resumed: bool,
}

/// Where the run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// A model call is due and not yet asked for.
    ModelDue,
    /// The model is speaking.
    Model,
    /// Server tools are due and not yet asked for.
    ToolsDue,
    /// Server tools are running.
    Tools,
    /// The client owes outputs of front-end tools, approvals or forms.
    Suspended,
    /// The terminal event was written.
    Done,
}

/// A call of the turn that just ended.
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
    /// A server tool that has not answered yet.
    Running,
    /// The client answers: a front-end tool, a form, or an approval.
    HandedOver,
    /// It ran.
    Answered {
        /// The output; for a failure, its text as a JSON string.
        output: JsonText,
        /// `true` if it failed.
        is_error: bool,
    },
    /// It could not be run: no such tool, or arguments that do not fit.
    Invalid {
        /// The reason.
        error_text: Text,
    },
    /// It is whole, and must not run.
    Refused {
        /// The reason.
        error_text: Text,
    },
    /// The provider never finished it.
    Cut {
        /// The reason.
        error_text: Text,
    },
}

impl OpenCall {
    pub(super) fn new(id: Text, name: Text, arguments: JsonText, state: CallState) -> Self {
        Self { id, name, arguments, state }
    }
}
