use bytes::Bytes;

use super::{InstanceId, ModelUsage, RunId};

/// The right of an instance to write the journal of a run.
///
/// [`RunStore::begin`](super::RunStore::begin) and [`RunStore::claim`](super::RunStore::claim) give it. A later claim ends
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Writer {
    /// The run.
    pub run: RunId,
    /// The number of the claim: 1 for the instance that began the run.
    pub epoch: u32,
    /// The instance. It tells a repeated append from that of another writer.
    pub instance: InstanceId,
}

/// The events of a run since its last segment. The store does not read the data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The run, and the right to write it.
    pub writer: Writer,
    /// The position in the journal: 1, 2, 3, without a gap. The first segment is that of `begin`.
    pub pos: u32,
    /// The kind.
    pub kind: SegmentKind,
    /// The number of the next event of the run.
    pub events: u32,
    /// The events, in the format of `omniassist_core::journal`.
    pub data: Bytes,
    /// The model calls that the segment completes, which the store adds to the usage of the run's owner on the current day,
    /// in the transaction in which it stores the segment. A segment that is read has none. Default: none.
    pub used: Vec<ModelUsage>,
}

impl Segment {
    /// Creates a segment.
    #[must_use]
    pub fn new(writer: Writer, pos: u32, kind: SegmentKind, events: u32, data: impl Into<Bytes>) -> Self {
        Self { writer, pos, kind, events, data: data.into(), used: Vec::new() }
    }
}

/// The kind of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SegmentKind {
    /// Text and other events that nobody acts on.
    Text,
    /// An event that somebody acts on: a call, a result, a question.
    Consequence,
    /// The mark of a claim on a run whose instance was silent for too long, or was forced out. It has no data.
    Takeover,
    /// The last segment of a run that has ended.
    End,
    /// The mark of a claim on a run that nobody drove. It has no data.
    Handover,
}

impl SegmentKind {
    /// Returns the number of the kind in a database.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Consequence => 1,
            Self::Takeover => 2,
            Self::End => 3,
            Self::Handover => 4,
        }
    }

    /// Returns the kind with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Text,
            1 => Self::Consequence,
            2 => Self::Takeover,
            3 => Self::End,
            4 => Self::Handover,
            _ => return None,
        })
    }
}

/// The loss that an append accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The segments survive the death of the process when the future completes. A power failure may lose them.
    Soft,
    /// The segments, and all that was written before, survive a power failure when the future completes.
    #[default]
    Hard,
}

/// The result of an append, for one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Appended {
    /// The segment is in the journal: now, or since an earlier try of the same writer.
    Taken(Notice),
    /// The writer's right has ended: another instance claimed the run, or it was settled.
    Fenced,
    /// The run does not exist, or was deleted.
    Gone,
}

/// The state of a run's signals, as its instance learns it with each append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Notice {
    /// Somebody wants the run to stop.
    pub stop: bool,
    /// The number of the latest signal; 0 if there is none.
    pub signals: u32,
    /// A viewer on another instance waits for the journal.
    pub watched: bool,
}
