use bytes::Bytes;

use super::{Change, Obligation, RunState, Segment};

/// The end of an instance's work on a run, for [`RunStore::settle`](super::RunStore::settle).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// The last segment of the writer.
    pub last: Segment,
    /// The state in which the writer leaves the run.
    pub ending: Ending,
    /// The messages that the run wrote. Default: none, as where another store keeps conversations.
    pub change: Option<Change>,
    /// The usage of the run so far. The store does not read it. Default: none, which keeps what an earlier one said.
    pub usage: Option<Bytes>,
}

impl Settled {
    /// Creates the end of a writer's work, without messages.
    #[must_use]
    pub fn new(last: Segment, ending: Ending) -> Self {
        Self { last, ending, change: None, usage: None }
    }
}

/// The state in which a writer leaves a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The run goes on at the next instance that claims it.
    Released,
    /// The run waits for answers. The questions replace earlier ones.
    Waiting(Vec<Obligation>),
    /// The run ended by itself.
    Finished,
    /// The run ended with an error.
    Failed,
    /// Somebody stopped the run.
    Stopped,
    /// The server gave the run up.
    Interrupted,
}

impl Ending {
    /// Returns the state of a run that was left so.
    #[must_use]
    pub const fn state(&self) -> RunState {
        match self {
            Self::Released => RunState::Running,
            Self::Waiting(_) => RunState::Waiting,
            Self::Finished => RunState::Finished,
            Self::Failed => RunState::Failed,
            Self::Stopped => RunState::Stopped,
            Self::Interrupted => RunState::Interrupted,
        }
    }
}
