use bytes::Bytes;
use omniassist_core::Text;

use super::{InstanceId, Notice, Received, RunId, Scope};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunState {
    /// Another run of the conversation has to end first.
    Queued,
    /// The run goes on.
    Running,
    /// Somebody has to answer. No instance drives the run.
    Waiting,
    /// The run ended by itself.
    Finished,
    /// The run ended with an error.
    Failed,
    /// Somebody stopped the run.
    Stopped,
    /// The server gave the run up.
    Interrupted,
}

impl RunState {
    /// Returns the number of the state in a database.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Queued => 1,
            Self::Running => 2,
            Self::Waiting => 3,
            Self::Finished => 4,
            Self::Failed => 5,
            Self::Stopped => 6,
            Self::Interrupted => 7,
        }
    }

    /// Returns the state with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Queued,
            2 => Self::Running,
            3 => Self::Waiting,
            4 => Self::Finished,
            5 => Self::Failed,
            6 => Self::Stopped,
            7 => Self::Interrupted,
            _ => return None,
        })
    }

    /// Returns the name of the state, as clients read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns `true` for a run that goes on or waits. A conversation has at most one.
    #[must_use]
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }

    /// Returns `true` for a run that has ended.
    #[must_use]
    pub const fn is_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// The name under which a run is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Which<'a> {
    /// The run that counts for a chat: the live one, else the one that is next in the queue, else the last one.
    Chat(&'a str),
    /// The run with this id.
    Run(RunId),
    /// The latest run of a chat that a post with this [key](super::Post::key) began.
    Post {
        /// The client's name of the conversation.
        chat: &'a str,
        /// The key of the post.
        key: &'a [u8],
    },
}

/// A run, without its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunHead {
    /// The id.
    pub run: RunId,
    /// The owner.
    pub scope: Scope,
    /// The client's name of the conversation.
    pub chat: Text,
    /// The state.
    pub state: RunState,
    /// The number of the latest claim.
    pub epoch: u32,
    /// The instance that drives the run. It may be dead.
    pub instance: Option<InstanceId>,
    /// The position of the last segment; 0 if the journal was swept.
    pub head: u32,
    /// The state of the signals.
    pub notice: Notice,
    /// The questions that the run waits for, by call.
    pub obligations: Vec<Obligation>,
    /// The usage that the run was settled with. The store does not read it.
    pub usage: Option<Bytes>,
    /// The time of the beginning, in milliseconds since 1970.
    pub created_ms: u64,
    /// The time of the end, in milliseconds since 1970.
    pub ended_ms: Option<u64>,
}

impl RunHead {
    /// Creates the head of a run that nobody drives, without segments.
    #[must_use]
    pub fn new(run: RunId, scope: Scope, chat: Text, state: RunState) -> Self {
        Self {
            run,
            scope,
            chat,
            state,
            epoch: 0,
            instance: None,
            head: 0,
            notice: Notice::default(),
            obligations: Vec::new(),
            usage: None,
            created_ms: 0,
            ended_ms: None,
        }
    }
}

/// A run of a chat that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenRun {
    /// The client's name of the conversation.
    pub chat: Text,
    /// The id.
    pub run: RunId,
    /// The state.
    pub state: RunState,
}

impl OpenRun {
    /// Creates the description of a run.
    #[must_use]
    pub fn new(chat: Text, run: RunId, state: RunState) -> Self {
        Self { chat, run, state }
    }
}

/// A question that a run waits for: an approval, a form, or a call of a front-end tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Obligation {
    /// The id of the call.
    pub call: Text,
    /// The question. The store does not read it.
    pub data: Bytes,
    /// The time at which the run goes on without an answer, in milliseconds since 1970. `None`: never.
    pub expires_ms: Option<u64>,
    /// The answer, once there is one.
    pub answer: Option<Received>,
}

impl Obligation {
    /// Creates a question without an answer, which does not expire.
    #[must_use]
    pub fn new(call: impl Into<Text>, data: impl Into<Bytes>) -> Self {
        Self { call: call.into(), data: data.into(), expires_ms: None, answer: None }
    }
}
