use std::time::Duration;

use omniassist_core::context::ContextReceipt;
use omniassist_core::event::RunErrorCode;
use omniassist_core::{FinishReason, Text, Usage};

use crate::{Cost, Principal};

/// The identity of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The id of the run, which is `omniassist.run.id` of its span.
    pub run_id: Text,
    /// The client's id of the chat.
    pub chat_id: Option<Text>,
    /// The principal. It is anonymous for a run of the host.
    pub principal: Principal,
    /// The name of the [agent](crate::Agent). `None` for the assistant itself.
    pub agent: Option<Text>,
    /// The name of the provider.
    pub provider: Text,
    /// The requested model, if it is known.
    pub model: Option<Text>,
}

/// The report of a run that ended. A [stored](crate::AssistantBuilder::store) run that waits for its client, or that another
/// server goes on with, has one for each of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunReport {
    /// The identity of the run.
    pub run: RunInfo,
    /// The outcome.
    pub outcome: RunEnd,
    /// The time from the beginning to the last event. It does not include the time in which the client reads that event.
    pub duration: Duration,
    /// The time from the beginning to the first text, reasoning or tool call. `None` if the model wrote nothing.
    pub time_to_first_token: Option<Duration>,
    /// The number of model calls. A summary of the context does not count.
    pub steps: u32,
    /// The number of server tool calls that began.
    pub tool_calls: u32,
    /// The tokens of all model calls, as reported by the providers. A summary of the context counts.
    pub usage: Usage,
    /// The cost of these tokens. `None` without [prices](crate::AssistantBuilder::prices), or if the cost of a call is not
    /// known: its model has no price, its tokens were not reported, or it was cut off.
    pub cost: Option<Cost>,
    /// The numbers of the context that the run began with.
    pub context: ContextReceipt,
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The run finished, or waits for its client.
    Finished(FinishReason),
    /// The run failed.
    Failed(RunErrorCode),
    /// The run was stopped, or superseded by another post.
    Stopped,
    /// The client disconnected, or did not read the response.
    Dropped,
    /// The server left a [stored](crate::AssistantBuilder::store) run to another one, or to its next start. The run goes on
    /// there, where it begins and ends once more for observers.
    Released,
}

impl RunEnd {
    /// Returns a value for a label: `finish`, `abort`, `dropped`, `released`, or the code of a failure, such as
    /// `provider_error`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Finished(_) => "finish",
            Self::Failed(code) => code.as_str(),
            Self::Stopped => "abort",
            Self::Dropped => "dropped",
            Self::Released => "released",
        }
    }
}
