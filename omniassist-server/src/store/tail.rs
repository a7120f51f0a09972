use super::{RunId, RunState, Scope, Segment};

/// A question for the segments of one run after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TailOf {
    /// The owner. The tail of another owner's run is `None`.
    pub scope: Scope,
    /// The run.
    pub run: RunId,
    /// The last position that is known; 0 for the whole journal.
    pub after: u32,
}

impl TailOf {
    /// Creates a question.
    #[must_use]
    pub fn new(scope: Scope, run: RunId, after: u32) -> Self {
        Self { scope, run, after }
    }
}

/// The segments of a run after a position, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tail {
    /// The segments, in order. There are more if the last one's position is below `head`.
    pub segments: Vec<Segment>,
    /// The position of the last segment; 0 if the journal was swept.
    pub head: u32,
    /// The state of the run.
    pub state: RunState,
    /// The number of the latest claim.
    pub epoch: u32,
}

impl Tail {
    /// Creates a tail.
    #[must_use]
    pub fn new(segments: Vec<Segment>, head: u32, state: RunState, epoch: u32) -> Self {
        Self { segments, head, state, epoch }
    }
}
