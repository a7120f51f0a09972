use serde::{Deserialize, Serialize};

use super::state::{CallState, OpenCall};
use super::turn::{Finish, Said, Turn};
use crate::{JsonText, Text, Usage};

/// The part of a model's turn that its events do not show: the order of its items, the items that only the model reads,
/// and the state of each call. A [journal](crate::journal) keeps it beside the events, and a run is recovered from both.
///
/// It holds no text, argument or metadata that an event before it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnRecord {
    /// `true` if the turn was repeated with a compacted conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) compacted: bool,
    /// `true` if the calls are those that an earlier run left to the user. There was no turn of the model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) resumed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) said: Vec<Said>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<CallRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) finish: Option<Finish>,
}

/// A call of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallRecord {
    pub(super) id: Text,
    /// The tool, if no event of the run names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Text>,
    /// The arguments, if the call's event has none or other ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<JsonText>,
    pub(super) state: CallState,
}

impl TurnRecord {
    /// Returns the record of a turn that has ended.
    pub(super) fn new(turn: &Turn, calls: Vec<CallRecord>) -> Self {
        Self {
            compacted: turn.compacted,
            resumed: false,
            said: turn.said(),
            calls,
            usage: turn.usage,
            finish: turn.finish.clone(),
        }
    }

    /// Returns `true` if the model was called.
    #[must_use]
    pub fn is_of_model(&self) -> bool {
        !self.resumed
    }

    /// Returns the tokens of the turn, if the provider has reported them.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the record of calls that an earlier run left to the user.
    pub(super) fn resumed(calls: &[OpenCall]) -> Self {
        let whole = |call: &OpenCall| CallRecord {
            id: call.id.clone(),
            name: Some(call.name.clone()),
            arguments: Some(call.arguments.clone()),
            state: call.state.clone(),
        };
        Self {
            compacted: false,
            resumed: true,
            said: Vec::new(),
            calls: calls.iter().map(whole).collect(),
            usage: None,
            finish: None,
        }
    }
}

impl CallRecord {
    /// Returns the record of a call whose event has the arguments `shown`.
    pub(super) fn new(call: &OpenCall, shown: &JsonText) -> Self {
        Self {
            id: call.id.clone(),
            name: None,
            arguments: (call.arguments != *shown).then(|| call.arguments.clone()),
            state: call.state.clone(),
        }
    }
}
