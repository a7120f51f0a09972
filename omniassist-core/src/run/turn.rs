use serde::{Deserialize, Serialize};

use crate::event::{BlockId, BlockKind, CallKind, FinishReason};
use crate::message::ProviderMetadata;
use crate::{EventBuf, JsonText, RunEvent, Text, TranscriptItem, Usage};

/// The model's output in the current turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// `true` after the model's first event.
    pub(super) started: bool,
    /// `true` after the first event that is visible to the client.
    pub(super) shown: bool,
    /// `true` if the turn is repeated with a compacted conversation.
    pub(super) compacted: bool,
    /// Blocks, calls and provider items in order of first appearance.
    order: Vec<Entry>,
    blocks: Vec<Block>,
    /// Items that the provider executed and accepts in requests.
    #[serde(default)]
    items: Vec<ProviderItem>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    pub(super) finish: Option<Finish>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Entry {
    Block(usize),
    Call(usize),
    Item(usize),
}

/// An item of a turn in a journal. The events before it in the journal have its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Said {
    /// A block of text or reasoning.
    Block(BlockId),
    /// The n-th call.
    Call(usize),
    /// An item that the provider executed. No event shows in which form it is sent back.
    Item {
        /// The API.
        provider: Text,
        /// The item.
        item: JsonText,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ProviderItem {
    provider: Text,
    item: JsonText,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Finish {
    pub(super) reason: FinishReason,
    pub(super) truncated: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Block {
    number: u32,
    id: BlockId,
    kind: BlockKind,
    text: String,
    metadata: Option<ProviderMetadata>,
    open: bool,
}

/// A tool call, possibly incomplete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    number: u32,
    pub(super) id: Text,
    pub(super) name: Text,
    pub(super) kind: CallKind,
    /// The argument text received so far.
    pub(super) partial: String,
    /// The complete argument text, after the provider ended the call.
    pub(super) arguments: Option<Text>,
    pub(super) metadata: Option<ProviderMetadata>,
    /// The provider's id, if the call has a different one.
    #[serde(default)]
    pub(super) provider_id: Option<Text>,
    /// `true` for the first call beyond the limit of calls per turn. Later ones are dropped.
    #[serde(default)]
    pub(super) is_surplus: bool,
}

impl Turn {
    #[inline]
    pub(super) fn delta(
        &mut self,
        kind: BlockKind,
        number: u32,
        delta: Text,
        next_block: &mut u32,
        events: &mut EventBuf<RunEvent>,
    ) {
        if delta.is_empty() {
            return;
        }
        let block = self.block(kind, number, next_block, events);
        block.text.push_str(&delta);
        let id = block.id;
        events.push(kind.delta(id, delta));
    }

    pub(super) fn end_block(
        &mut self,
        kind: BlockKind,
        number: u32,
        metadata: Option<ProviderMetadata>,
        next_block: &mut u32,
        events: &mut EventBuf<RunEvent>,
    ) {
        let known =
            self.blocks.iter().any(|block| block.open && block.number == number && block.kind == kind);
        // Reasoning with state but without text must be part of the next request.
        if !known && (kind == BlockKind::Text || metadata.is_none()) {
            return;
        }
        let block = self.block(kind, number, next_block, events);
        block.metadata = metadata;
        block.close(events);
    }

    /// Returns the open block with this number, and opens it if necessary. The most recent block is found first.
    fn block(
        &mut self,
        kind: BlockKind,
        number: u32,
        next_block: &mut u32,
        events: &mut EventBuf<RunEvent>,
    ) -> &mut Block {
        let found =
            self.blocks.iter().rposition(|block| block.open && block.number == number && block.kind == kind);
        let index = found.unwrap_or_else(|| {
            let id = BlockId(*next_block);
            *next_block = next_block.wrapping_add(1);
            if self.blocks.is_empty() {
                // Most turns have only one block.
                self.blocks.reserve_exact(1);
                self.order.reserve_exact(1);
            }
            self.order.push(Entry::Block(self.blocks.len()));
            self.blocks.push(Block { number, id, kind, text: String::new(), metadata: None, open: true });
            events.push(kind.start(id));
            self.blocks.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the index was found, or pushed just now")]
        &mut self.blocks[index]
    }

    pub(super) fn start_call(&mut self, number: u32, id: Text, name: Text, kind: CallKind) {
        self.order.push(Entry::Call(self.calls.len()));
        self.calls.push(Call {
            number,
            id,
            name,
            kind,
            partial: String::new(),
            arguments: None,
            metadata: None,
            provider_id: None,
            is_surplus: false,
        });
    }

    pub(super) fn provider_item(&mut self, provider: Text, item: JsonText) {
        self.order.push(Entry::Item(self.items.len()));
        self.items.push(ProviderItem { provider, item });
    }

    pub(super) fn call_mut(&mut self, number: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.number == number)
    }

    pub(super) fn close_blocks(&mut self, events: &mut EventBuf<RunEvent>) {
        for block in &mut self.blocks {
            block.close(events);
        }
    }

    /// Returns the turn's blocks, calls and provider items as transcript items, in order. `call` returns the item of
    /// the n-th call.
    pub(super) fn items(&self, mut call: impl FnMut(usize) -> Option<TranscriptItem>) -> Vec<TranscriptItem> {
        self.order
            .iter()
            .filter_map(|entry| match *entry {
                Entry::Call(index) => call(index),
                Entry::Block(index) => self.blocks.get(index).map(Block::item),
                Entry::Item(index) => self.items.get(index).map(ProviderItem::item),
            })
            .collect()
    }
}

impl Turn {
    /// Returns a turn whose output is part of the transcript.
    pub(super) fn ended(usage: Option<Usage>, finish: Option<Finish>) -> Self {
        Self { usage, finish, ..Self::default() }
    }

    /// Returns the order of the blocks, calls and provider items.
    pub(super) fn said(&self) -> Vec<Said> {
        let said = self.order.iter().filter_map(|entry| match *entry {
            Entry::Block(index) => Some(Said::Block(self.blocks.get(index)?.id)),
            Entry::Call(index) => Some(Said::Call(index)),
            Entry::Item(index) => {
                let ProviderItem { provider, item } = self.items.get(index)?.clone();
                Some(Said::Item { provider, item })
            }
        });
        said.collect()
    }
}

impl ProviderItem {
    fn item(&self) -> TranscriptItem {
        TranscriptItem::ProviderItem { provider: self.provider.clone(), item: self.item.clone() }
    }
}

impl Block {
    fn close(&mut self, events: &mut EventBuf<RunEvent>) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        events.push(self.kind.end(self.id, self.metadata.clone()));
    }

    fn item(&self) -> TranscriptItem {
        let (text, metadata) = (Text::from(self.text.clone()), self.metadata.clone());
        match self.kind {
            BlockKind::Text => TranscriptItem::Text { text, metadata },
            BlockKind::Reasoning => TranscriptItem::Reasoning { text, metadata },
        }
    }
}
