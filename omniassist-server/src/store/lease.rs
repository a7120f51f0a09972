use bytes::Bytes;

use super::{Received, RunHead, RunId, Writer};

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
