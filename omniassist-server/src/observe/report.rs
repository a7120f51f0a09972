use std::time::Duration;

use omniassist_core::event::RunErrorCode;
use omniassist_core::{FinishReason, Text, Usage};

use crate::{Cost, Principal};

/// Which run it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// Its id, made by the server: `omniassist.run.id` of its span.
    pub run_id: Text,
    /// The chat, as the client names it.
    pub chat_id: Option<Text>,
    /// Who it is for. Anonymous for a run that the host started itself.
    pub principal: Principal,
    /// The name of the provider.
    pub provider: Text,
    /// The model that is asked for, where it has a name.
    pub model: Option<Text>,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunReport {
    /// Which run it was.
    pub run: RunInfo,
    /// How it ended.
    pub outcome: RunEnd,
    /// From its beginning to its last event. What the client takes to read that is not in it.
    pub duration: Duration,
    /// From its beginning to the first piece of text, reasoning or a tool call. `None` where the model wrote nothing.
    pub time_to_first_token: Option<Duration>,
    /// Model calls.
    pub steps: u32,
    /// Calls of the server's tools that were begun.
    pub tool_calls: u32,
    /// Tokens of all model calls, as far as the provider reported them.
    pub usage: Usage,
    /// What they cost. `None` without [prices](crate::AssistantBuilder::prices), or where a call cannot be priced.
    pub cost: Option<Cost>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// Well, or it waits for its client.
    Finished(FinishReason),
    /// It failed.
    Failed(RunErrorCode),
    /// Somebody stopped it, or another post took its place.
    Stopped,
    /// Its client left, or nobody read it.
    Dropped,
}

impl RunEnd {
    /// A word for a label: `finish`, `abort`, `dropped`, or the stable code of a failure, such as `provider_error`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Finished(_) => "finish",
            Self::Failed(code) => code.as_str(),
            Self::Stopped => "abort",
            Self::Dropped => "dropped",
        }
    }
}
