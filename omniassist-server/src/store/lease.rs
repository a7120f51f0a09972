use bytes::Bytes;

use super::{InstanceId, Received, RunHead, RunId, RunState, Writer};

/// The answer to an instance that says that it lives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Beat {
    /// All signals of the runs that the instance drives. Those that it knows by their number are among them.
    pub signals: Vec<Received>,
    /// Runs that a claim may get, the oldest first.
    pub free: Vec<RunId>,
}

/// The condition of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Claim {
    /// Nobody drives the run: it was released, it waits, it is next in its queue, or the lease of its instance is over.
    #[default]
    IfFree,
    /// This instance drives the run. It repeats a claim, or the begin of a run, whose answer was lost.
    Again,
    /// The run goes on or waits, also if its instance lives. That instance is fenced.
    Force,
}

/// The lease of a run, which decides if a claim gets it. A store reads it, and [`admits`](Self::admits) decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLease {
    /// The state of the run.
    pub state: RunState,
    /// The instance that drives the run.
    pub instance: Option<InstanceId>,
    /// `true` if the lease of that instance is not over.
    pub is_driven: bool,
    /// `true` if the run is queued, and another run of the conversation comes first.
    pub is_behind: bool,
}

impl RunLease {
    /// Returns `true` if this instance may claim the run on this condition.
    #[must_use]
    pub fn admits(&self, me: InstanceId, condition: Claim) -> bool {
        match condition {
            Claim::IfFree => self.is_free(),
            Claim::Again => self.instance == Some(me),
            Claim::Force => self.state.is_live(),
        }
    }

    /// Returns `true` if nobody drives the run, and it has not ended.
    #[must_use]
    pub fn is_free(&self) -> bool {
        match self.state {
            RunState::Queued => !self.is_behind,
            RunState::Running => !self.is_driven,
            state => state == RunState::Waiting,
        }
    }
}

/// A claimed run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claimed {
    /// The right to write the run. Its next segment has the position `head.head + 1`.
    pub writer: Writer,
    /// The run, with the mark of this claim as its last segment.
    pub head: RunHead,
    /// The input of [`NewRun`](super::NewRun).
    pub input: Bytes,
    /// All signals that the run has received, in order.
    pub signals: Vec<Received>,
    /// The number of take-overs since the last consequence, this one included.
    pub takeovers: u32,
}

impl Claimed {
    /// Creates a claimed run.
    #[must_use]
    pub fn new(writer: Writer, head: RunHead, input: Bytes) -> Self {
        Self { writer, head, input, signals: Vec::new(), takeovers: 0 }
    }
}
