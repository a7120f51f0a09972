//! The records of the modelled run, and the state that follows from them.

use bytes::Bytes;

/// A set of calls, one bit each.
pub(crate) type Calls = u8;

/// A call whose second effect would be an error.
pub(crate) const ONCE: Calls = 1;
/// A call that may be repeated with the same key.
pub(crate) const IDEMPOTENT: Calls = 2;
/// A call whose second effect would be an error, and that needs an approval.
pub(crate) const APPROVED: Calls = 4;

pub(crate) const ALL: [Calls; 3] = [ONCE, IDEMPOTENT, APPROVED];

/// The content of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Record {
    /// The first segment, or the mark of a claim.
    Empty,
    /// The model's turn is over, and its calls are known.
    Turn,
    /// These calls begin.
    Begun(Calls),
    /// A call has returned.
    Result(Calls),
    /// It is not known if a call took effect.
    Unknown(Calls),
    /// The instance leaves the run.
    Released,
    /// The run waits for the approval.
    Waiting,
    Finished,
}

impl Record {
    pub(crate) fn encode(self) -> Bytes {
        Bytes::from(match self {
            Self::Empty => vec![],
            Self::Turn => vec![2],
            Self::Begun(calls) => vec![3, calls],
            Self::Result(call) => vec![4, call],
            Self::Unknown(call) => vec![5, call],
            Self::Released => vec![6],
            Self::Waiting => vec![7],
            Self::Finished => vec![8],
        })
    }

    pub(crate) fn decode(data: &[u8]) -> Self {
        match *data {
            [] => Self::Empty,
            [2] => Self::Turn,
            [3, calls] => Self::Begun(calls),
            [4, call] => Self::Result(call),
            [5, call] => Self::Unknown(call),
            [6] => Self::Released,
            [7] => Self::Waiting,
            [8] => Self::Finished,
            _ => panic!("unknown record {data:?}"),
        }
    }
}

/// The state of a run as its records tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Fold {
    pub(crate) turn: bool,
    pub(crate) begun: Calls,
    pub(crate) outcomes: Calls,
}

impl Fold {
    pub(crate) fn of(records: impl IntoIterator<Item = Record>) -> Self {
        let mut fold = Self::default();
        for record in records {
            fold.add(record);
        }
        fold
    }

    pub(crate) fn add(&mut self, record: Record) {
        match record {
            Record::Turn => self.turn = true,
            Record::Begun(calls) => self.begun |= calls,
            Record::Result(call) | Record::Unknown(call) => self.outcomes |= call,
            Record::Empty | Record::Released | Record::Waiting | Record::Finished => {}
        }
    }
}
