use bytes::Bytes;

use super::varint;
use crate::event::{AgentDelta, BlockId};
use crate::{RunEvent, Text};

/// The owner of deltas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaOf {
    /// A text block.
    Text(BlockId),
    /// A reasoning block.
    Reasoning(BlockId),
    /// The arguments of a call.
    Input(Text),
    /// The text of an agent that the run has asked.
    Agent(Text),
}

impl DeltaOf {
    /// Returns the owner and the text of a delta, or `None` for any other event.
    pub(super) fn event(event: &RunEvent) -> Option<(Self, &Text)> {
        match event {
            RunEvent::TextDelta { id, delta } => Some((Self::Text(*id), delta)),
            RunEvent::ReasoningDelta { id, delta } => Some((Self::Reasoning(*id), delta)),
            RunEvent::ToolInputDelta { call_id, delta } => Some((Self::Input(call_id.clone()), delta)),
            RunEvent::AgentDelta { agent_id, delta: AgentDelta::Text { delta } } => {
                Some((Self::Agent(agent_id.clone()), delta))
            }
            _ => None,
        }
    }

    pub(super) fn delta(&self, delta: Text) -> RunEvent {
        match self {
            Self::Text(id) => RunEvent::TextDelta { id: *id, delta },
            Self::Reasoning(id) => RunEvent::ReasoningDelta { id: *id, delta },
            Self::Input(call_id) => RunEvent::ToolInputDelta { call_id: call_id.clone(), delta },
            Self::Agent(agent_id) => {
                RunEvent::AgentDelta { agent_id: agent_id.clone(), delta: AgentDelta::Text { delta } }
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(id) | Self::Reasoning(id) => varint::put(out, u64::from(id.0)),
            Self::Input(id) | Self::Agent(id) => varint::put_bytes(out, id.as_bytes()),
        }
    }
}

/// Successive deltas of one block, call or agent, as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deltas {
    of: DeltaOf,
    text: Text,
    /// The bytes of each delta.
    lengths: Vec<usize>,
}

impl Deltas {
    /// Creates one delta.
    pub(super) fn one(of: DeltaOf, text: Text) -> Self {
        Self { of, lengths: vec![text.len()], text }
    }

    /// Returns the owner.
    #[must_use]
    pub fn of(&self) -> &DeltaOf {
        &self.of
    }

    /// Returns the text of all deltas.
    #[must_use]
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Returns the number of deltas.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the deltas as they were written.
    pub fn chunks(&self) -> impl Iterator<Item = RunEvent> {
        let mut rest = self.text.as_str();
        self.lengths.iter().map(move |length| {
            let (delta, after) = rest.split_at_checked(*length).unwrap_or((rest, ""));
            rest = after;
            self.of.delta(self.text.slice_ref(delta))
        })
    }

    /// Returns all deltas as one.
    #[must_use]
    pub fn merged(&self) -> RunEvent {
        self.of.delta(self.text.clone())
    }

    /// Reads the number, the lengths and the text of deltas. `segment` contains `body`.
    pub(super) fn read(of: DeltaOf, segment: &Bytes, mut body: &[u8]) -> Option<Self> {
        let count = varint::take_size(&mut body)?;
        // A length is at least one byte, so a wrong number reserves no memory.
        let mut lengths = Vec::with_capacity(count.min(body.len()));
        for _ in 0..count {
            lengths.push(varint::take_size(&mut body)?);
        }
        let text = Text::from_utf8(segment.slice_ref(body)).ok()?;
        let mut rest = text.as_str();
        for length in &lengths {
            rest = rest.split_at_checked(*length)?.1;
        }
        rest.is_empty().then(|| Self { of, text: text.clone(), lengths })
    }

    /// Appends the number, the lengths and the text.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        varint::put(out, self.lengths.len() as u64);
        self.lengths.iter().for_each(|length| varint::put(out, *length as u64));
        out.extend_from_slice(self.text.as_bytes());
    }
}
