//! The output items of an unfinished answer, and the assignment of events to them.

use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::{EventBuf, LlmEvent, Text};

use super::wire::Event;
use crate::provider::answer::Answer;
use crate::provider::lenient_fields::Str;

/// An output item that was announced.
#[derive(Debug)]
pub(super) struct ItemState {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) kind: ItemKind,
    pub(super) done: bool,
}

#[derive(Debug)]
pub(super) enum ItemKind {
    Message(Blocks),
    Reasoning(Blocks),
    Call(CallState),
    /// Any other item: of a provider-run tool, or of an unknown type.
    Other,
}

/// The text or reasoning blocks of one item, one for each content or summary part.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub(super) parts: Vec<Part>,
    pub(super) sources: u32,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) key: PartKey,
    pub(super) block: u32,
}

impl Part {
    pub(super) fn delta(self, delta: Text) -> LlmEvent {
        let block = self.block;
        match self.key {
            PartKey::Text(_) => LlmEvent::TextDelta { block, delta },
            PartKey::Refusal(_) => LlmEvent::RefusalDelta { block, delta },
            PartKey::Summary(_) | PartKey::Reasoning(_) => LlmEvent::ReasoningDelta { block, delta },
        }
    }

    pub(super) fn end(self, metadata: Option<ProviderMetadata>) -> LlmEvent {
        match self.key.is_reasoning() {
            true => LlmEvent::ReasoningEnd { block: self.block, metadata },
            false => LlmEvent::TextEnd { block: self.block, metadata },
        }
    }
}

/// The part of an item to which a piece of text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKey {
    Text(u64),
    Refusal(u64),
    Summary(u64),
    Reasoning(u64),
}

impl PartKey {
    /// Returns the part for an event of this type, given without its suffix `.delta` or `.done`.
    pub(super) fn of(subject: &str, event: &Event<'_>) -> Option<Self> {
        let (content, summary) = (event.content_index.0.unwrap_or(0), event.summary_index.0.unwrap_or(0));
        Some(match subject {
            "response.output_text" => Self::Text(content),
            "response.refusal" => Self::Refusal(content),
            "response.reasoning_summary_text" => Self::Summary(summary),
            "response.reasoning_text" => Self::Reasoning(content),
            _ => return None,
        })
    }

    pub(super) fn is_reasoning(self) -> bool {
        matches!(self, Self::Summary(_) | Self::Reasoning(_))
    }
}

#[derive(Debug)]
pub(super) struct CallState {
    pub(super) number: u32,
    pub(super) kind: CallKind,
    pub(super) arguments: String,
    /// The complete arguments, after the provider has sent them.
    pub(super) given: Option<Text>,
    pub(super) ended: bool,
}

/// All items of an answer, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Items(pub(super) Vec<ItemState>);

impl Items {
    /// Returns the position of the item at `index`, or of the item with `id` if the server sends no indexes.
    ///
    /// The index has priority: some servers (GitHub Copilot) write another id into every event of one item, and others
    /// (llama.cpp) write no index. The search runs backwards, since events refer to recent items.
    pub(super) fn position(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let by_index = index.and_then(|index| self.0.iter().rposition(|item| item.index == Some(index)));
        by_index.or_else(|| {
            self.0.iter().rposition(|item| {
                !id.is_empty() && item.id == id && (index.is_none() || item.index.is_none())
            })
        })
    }

    /// Returns the position of the open item of an event. For an event that names no item, it is the last open one.
    pub(super) fn position_open(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let at = match self.position(index, id) {
            None if index.is_none() && id.is_empty() => self.0.iter().rposition(|item| !item.done),
            at => at,
        };
        at.filter(|at| self.0.get(*at).is_some_and(|item| !item.done))
    }

    pub(super) fn find_open(&mut self, index: Option<u64>, id: &str) -> Option<&mut ItemState> {
        let at = self.position_open(index, id)?;
        self.0.get_mut(at)
    }

    /// Appends an item and returns its position.
    pub(super) fn push(&mut self, item: ItemState) -> usize {
        if self.0.is_empty() {
            // Most answers have one item.
            self.0.reserve_exact(1);
        }
        self.0.push(item);
        self.0.len() - 1
    }

    pub(super) fn open(&mut self) -> impl Iterator<Item = &mut ItemState> {
        self.0.iter_mut().filter(|item| !item.done)
    }

    pub(super) fn has_refusal(&self) -> bool {
        let is_refusal = |part: &Part| matches!(part.key, PartKey::Refusal(_));
        self.0.iter().any(|item| match &item.kind {
            ItemKind::Message(blocks) => blocks.parts.iter().any(is_refusal),
            _ => false,
        })
    }

    pub(super) fn last_call(&self) -> Option<&CallState> {
        self.0.iter().rev().find_map(|item| match &item.kind {
            ItemKind::Call(call) => Some(call),
            _ => None,
        })
    }
}

impl Blocks {
    pub(super) fn part(&self, key: PartKey) -> Option<Part> {
        self.parts.iter().copied().rev().find(|part| part.key == key)
    }

    /// Returns a part, and opens it if necessary.
    pub(super) fn open(&mut self, key: PartKey, answer: &mut Answer) -> Part {
        self.part(key).unwrap_or_else(|| {
            let part = Part { key, block: answer.new_block() };
            self.parts.push(part);
            part
        })
    }

    /// Takes the complete text of a part without deltas.
    pub(super) fn fill(
        &mut self,
        key: PartKey,
        text: &Str<'_>,
        answer: &mut Answer,
        out: &mut EventBuf<LlmEvent>,
    ) {
        if let Some(text) = text.to_text() {
            out.push(self.open(key, answer).delta(text));
        }
    }
}
