use super::ClientAbilities;
use crate::{Limits, Text};

/// The settings of a run. Ids are part of them, since the machine draws no random numbers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunConfig {
    /// Id of the assistant message, if the run starts a new one.
    pub message_id: Text,
    /// Rendered application context, for the head of the last user message. Default: none.
    pub context: Option<Text>,
    /// Model calls since the last user message. Default: that of [`Limits`].
    pub max_steps: u32,
    /// Turns in a row in which every call is unusable. Default: that of [`Limits`].
    pub max_invalid_turns: u32,
    /// Bytes of one call's arguments. Default: that of [`Limits`].
    pub max_tool_args_bytes: usize,
    /// The abilities of the client, from the request. Default: all.
    pub abilities: ClientAbilities,
    /// Calls of one turn. Default: that of [`Limits`].
    pub max_calls_per_turn: usize,
    /// Bytes of a call's id. A longer one is replaced. Default: that of [`Limits`].
    pub max_id_bytes: usize,
    /// Levels of arrays and objects in a call's arguments or output. Default: 16 fewer than
    /// [`max_json_depth`](Limits::max_json_depth), so that the message that carries the value can be read again.
    pub max_value_depth: usize,
    /// Approved calls that must not run, with the reason. Default: none.
    pub refused_approvals: Vec<RefusedApproval>,
}

impl RunConfig {
    /// The defaults, with the id for a new assistant message.
    #[must_use]
    pub fn new(message_id: impl Into<Text>) -> Self {
        Self::with_limits(message_id, &Limits::default())
    }

    /// The limits that concern the run loop, with the id for a new assistant message.
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
            refused_approvals: Vec::new(),
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
