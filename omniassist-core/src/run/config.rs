use super::{AnswerCheck, ClientAbilities};
use crate::history::View;
use crate::{Limits, Text};

/// The settings of a run. They include ids, because the machine generates no random numbers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunConfig {
    /// The id of the assistant message, if the run creates one.
    pub message_id: Text,
    /// The rendered application context, inserted at the start of the last user message. Default: none.
    pub context: Option<Text>,
    /// The limit of model calls since the last user message. Default: that of [`Limits`].
    pub max_steps: u32,
    /// The limit of consecutive turns without a valid call. Default: that of [`Limits`].
    pub max_invalid_turns: u32,
    /// The limit of bytes of one call's arguments. Default: that of [`Limits`].
    pub max_tool_args_bytes: usize,
    /// The abilities of the client, from the request. Default: all.
    pub abilities: ClientAbilities,
    /// The limit of calls in one turn. Default: that of [`Limits`].
    pub max_calls_per_turn: usize,
    /// The limit of bytes of a call's id. A longer one is replaced. Default: that of [`Limits`].
    pub max_id_bytes: usize,
    /// The nesting limit of a call's arguments and output. Default: 16 less than
    /// [`max_json_depth`](Limits::max_json_depth), so that a message with the value can be read again.
    pub max_value_depth: usize,
    /// The part of the conversation that is sent to the model. Default: all.
    pub view: Option<View>,
    /// Approved calls that must not run, with the reason. Default: none.
    pub refused_approvals: Vec<RefusedApproval>,
    /// The end of the id of each call, for a run whose calls appear in the conversation of another one. Default: none.
    pub call_id_suffix: Option<Text>,
    /// `true` if the machine makes a [record](super::TurnRecord) of each turn for the run's
    /// [journal](crate::journal). Default: `false`.
    pub journaled: bool,
    /// The check of the answer. Default: none.
    pub answer_check: Option<AnswerCheck>,
}

impl RunConfig {
    /// Returns the default settings, with the id for a new assistant message.
    #[must_use]
    pub fn new(message_id: impl Into<Text>) -> Self {
        Self::with_limits(message_id, &Limits::default())
    }

    /// Returns the settings from `limits`, with the id for a new assistant message.
    #[must_use]
    pub fn with_limits(message_id: impl Into<Text>, limits: &Limits) -> Self {
        Self {
            message_id: message_id.into(),
            context: None,
            max_steps: limits.max_steps,
            max_invalid_turns: limits.max_invalid_turns,
            max_tool_args_bytes: limits.max_tool_args_bytes,
            abilities: ClientAbilities::default(),
            max_calls_per_turn: limits.max_calls_per_turn,
            max_id_bytes: limits.max_id_bytes,
            max_value_depth: limits.max_json_depth.saturating_sub(16),
            view: None,
            refused_approvals: Vec::new(),
            call_id_suffix: None,
            journaled: false,
            answer_check: None,
        }
    }
}

/// An approved call that must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedApproval {
    /// The call.
    pub call_id: Text,
    /// The reason, for the user and the model.
    pub reason: Text,
}
