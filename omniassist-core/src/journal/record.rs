use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DeltaOf, Deltas, Head, JournalError, varint};
use crate::event::BlockId;
use crate::run::TurnRecord;
use crate::{AnswerHandle, RunEvent, Text};

/// The kinds of records. A number is never given to another kind.
pub(super) const EVENT: u64 = 1;
const TEXT: u64 = 2;
const REASONING: u64 = 3;
const INPUT: u64 = 4;
const TURN: u64 = 5;
const BEGUN: u64 = 6;
const UNKNOWN_OUTCOME: u64 = 7;
const KEPT: u64 = 8;
const AGENT: u64 = 9;

/// An entry of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The fields beside the content.
    pub head: Head,
    /// The content.
    pub content: Content,
}

impl From<Content> for Record {
    fn from(content: Content) -> Self {
        Self { head: Head::default(), content }
    }
}

/// The content of a [`Record`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// An event other than a delta.
    Event(RunEvent),
    /// Successive deltas of one block, call or agent.
    Deltas(Deltas),
    /// The end of a turn, from [`RunMachine::take_record`](crate::run::RunMachine::take_record).
    Turn(Box<TurnRecord>),
    /// The calls whose tools start now. The record must be durable before they start.
    Begun(Vec<Text>),
    /// The call with this id has an unknown outcome
    /// ([`Input::ToolUnknown`](crate::run::Input::ToolUnknown)). Its error is an event of its own.
    UnknownOutcome(Text),
    /// The answer of the turn in progress, which its provider keeps
    /// ([`LlmEvent::Kept`](crate::LlmEvent::Kept)). A recovery without it asks for the turn again.
    Kept(AnswerHandle),
    /// A record of a later version.
    Unknown(UnknownRecord),
}

/// A record that this version cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRecord {
    kind: u64,
    is_required: bool,
    body: Bytes,
}

impl UnknownRecord {
    /// Creates a record of a kind of a later version.
    #[must_use]
    pub fn new(kind: u64, is_required: bool, body: impl Into<Bytes>) -> Self {
        Self { kind, is_required, body: body.into() }
    }

    /// Returns the number of the kind.
    #[must_use]
    pub fn kind(&self) -> u64 {
        self.kind
    }

    /// Returns `true` if a run cannot be recovered without the record.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.is_required
    }
}

impl Content {
    pub(super) fn kind(&self) -> u64 {
        match self {
            Self::Event(_) => EVENT,
            Self::Deltas(deltas) => kind_of(deltas.of()),
            Self::Turn(_) => TURN,
            Self::Begun(_) => BEGUN,
            Self::UnknownOutcome(_) => UNKNOWN_OUTCOME,
            Self::Kept(_) => KEPT,
            Self::Unknown(unknown) => unknown.kind,
        }
    }

    /// Returns `true` if a run cannot be recovered without the record.
    pub(super) fn is_required(&self) -> bool {
        match self {
            Self::Event(event) => is_required(event),
            Self::Deltas(deltas) => is_required_of(deltas.of()),
            Self::Kept(_) => false,
            Self::Unknown(unknown) => unknown.is_required,
            _ => true,
        }
    }

    /// Returns the number of events. Those of an unknown record are not known.
    pub(super) fn events(&self) -> u64 {
        match self {
            Self::Event(_) => 1,
            Self::Deltas(deltas) => deltas.count() as u64,
            _ => 0,
        }
    }

    /// Appends the body.
    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), JournalError> {
        match self {
            Self::Event(event) => json(out, event),
            Self::Deltas(deltas) => {
                deltas.of().write(out);
                deltas.write(out);
                Ok(())
            }
            Self::Turn(turn) => json(out, turn),
            Self::Begun(calls) => json(out, calls),
            Self::UnknownOutcome(call_id) => json(out, call_id),
            Self::Kept(handle) => json(out, handle),
            Self::Unknown(unknown) => {
                out.extend_from_slice(&unknown.body);
                Ok(())
            }
        }
    }

    /// Reads a body, which is a slice of `segment`. The checksum of the segment was right, so a body that cannot be read is
    /// that of a later version.
    pub(super) fn read(kind: u64, is_required: bool, segment: &Bytes, body: &[u8]) -> Self {
        Self::known(kind, segment, body).unwrap_or_else(|| {
            Self::Unknown(UnknownRecord { kind, is_required, body: segment.slice_ref(body) })
        })
    }

    fn known(kind: u64, segment: &Bytes, mut body: &[u8]) -> Option<Self> {
        let block = |body: &mut &[u8]| varint::take(body).and_then(|id| u32::try_from(id).ok()).map(BlockId);
        let id = |body: &mut &[u8]| Text::from_utf8(segment.slice_ref(varint::take_bytes(body)?)).ok();
        let of = match kind {
            EVENT => return from_json(body).map(Self::Event),
            TURN => return from_json(body).map(Self::Turn),
            BEGUN => return from_json(body).map(Self::Begun),
            UNKNOWN_OUTCOME => return from_json(body).map(Self::UnknownOutcome),
            KEPT => return from_json(body).map(Self::Kept),
            TEXT => DeltaOf::Text(block(&mut body)?),
            REASONING => DeltaOf::Reasoning(block(&mut body)?),
            INPUT => DeltaOf::Input(id(&mut body)?),
            AGENT => DeltaOf::Agent(id(&mut body)?),
            _ => return None,
        };
        Deltas::read(of, segment, body).map(Self::Deltas)
    }
}

pub(super) fn kind_of(of: &DeltaOf) -> u64 {
    match of {
        DeltaOf::Text(_) => TEXT,
        DeltaOf::Reasoning(_) => REASONING,
        DeltaOf::Input(_) => INPUT,
        DeltaOf::Agent(_) => AGENT,
    }
}

/// Returns `true` for deltas that a recovery needs.
pub(super) fn is_required_of(of: &DeltaOf) -> bool {
    !matches!(of, DeltaOf::Agent(_))
}

/// Returns `true` for an event that a recovery needs.
pub(super) fn is_required(event: &RunEvent) -> bool {
    !matches!(
        event,
        RunEvent::OutputSeal { .. }
            | RunEvent::StateSnapshot(_)
            | RunEvent::StateDelta(_)
            | RunEvent::ActivitySnapshot { .. }
            | RunEvent::Source(_)
            | RunEvent::File { .. }
            | RunEvent::Data { .. }
            | RunEvent::Component(_)
            | RunEvent::AgentState(_)
            | RunEvent::AgentDelta { .. }
            | RunEvent::Metadata(_)
    )
}

/// Appends the body of an event.
pub(super) fn write_event(event: &RunEvent, out: &mut Vec<u8>) -> Result<(), JournalError> {
    json(out, event)
}

fn json(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), JournalError> {
    serde_json::to_writer(out, value).map_err(JournalError::unwritable)
}

fn from_json<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}
