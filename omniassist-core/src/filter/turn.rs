use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::held::{Held, Stopped};
use super::output_filter::{OutputFilter, Stage, TextKind};
use crate::{EventBuf, LlmEvent, Text};

/// The number of events that may wait for withheld text. One more is a bound like
/// [`MAX_HELD_BYTES`](super::MAX_HELD_BYTES).
const MAX_WAITING: usize = 64;

/// Filters the events of one answer of a model and preserves their order.
///
/// An event after withheld text waits until the text is decided. Token usage does not wait.
pub struct FilteredTurn {
    filters: Vec<Arc<dyn OutputFilter>>,
    blocks: Vec<Block>,
    /// The index of the block that withholds text.
    holding: Option<usize>,
    waiting: VecDeque<LlmEvent>,
    /// The number of bytes of text received.
    received: u64,
    out: String,
    next: String,
}

/// A block of text, with one stage for each filter.
struct Block {
    id: (TextKind, u32),
    stages: Vec<Held>,
    is_refusal: bool,
}

impl FilteredTurn {
    /// Creates the filters of one answer. A later filter sees the text that an earlier one lets pass.
    #[must_use]
    pub fn new(filters: Vec<Arc<dyn OutputFilter>>) -> Self {
        Self {
            filters,
            blocks: Vec::new(),
            holding: None,
            waiting: VecDeque::new(),
            received: 0,
            out: String::new(),
            next: String::new(),
        }
    }

    /// Processes an event, and writes the events that are released.
    ///
    /// # Errors
    ///
    /// Returns an error if a filter stops the run. Events that were written before it are valid.
    pub fn take(&mut self, event: LlmEvent, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        match event {
            LlmEvent::TextDelta { block, delta } => self.delta(TextKind::Answer, block, delta, false, events),
            LlmEvent::RefusalDelta { block, delta } => {
                self.delta(TextKind::Answer, block, delta, true, events)
            }
            LlmEvent::ReasoningDelta { block, delta } => {
                self.delta(TextKind::Reasoning, block, delta, false, events)
            }
            LlmEvent::TextEnd { block, .. } => self.end_block((TextKind::Answer, block), event, events),
            LlmEvent::ReasoningEnd { block, .. } => {
                self.end_block((TextKind::Reasoning, block), event, events)
            }
            LlmEvent::Finish { .. } => {
                self.end(events)?;
                events.push(event);
                Ok(())
            }
            _ if self.holding.is_some() && event.is_visible() => self.wait(event, events),
            _ => {
                events.push(event);
                Ok(())
            }
        }
    }

    /// Decides about the withheld text, because it was withheld for [`MAX_HELD_TIME`](super::MAX_HELD_TIME).
    ///
    /// # Errors
    ///
    /// Returns an error if a filter stops the run.
    pub fn due(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        self.decide(Stage::Due, events)?;
        self.release(events)
    }

    /// Decides about the withheld text, because the answer is over.
    ///
    /// # Errors
    ///
    /// Returns an error if a filter stops the run.
    pub fn end(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        while self.holding.is_some() {
            self.decide(Stage::End, events)?;
            self.release(events)?;
        }
        Ok(())
    }

    /// Returns the number of bytes of text so far, and the number of withheld bytes at its end.
    #[must_use]
    pub fn held(&self) -> (u64, usize) {
        let block = self.holding.and_then(|index| self.blocks.get(index));
        (self.received, block.map_or(0, |block| block.stages.iter().map(Held::bytes).sum()))
    }

    fn delta(
        &mut self,
        kind: TextKind,
        number: u32,
        delta: Text,
        is_refusal: bool,
        events: &mut EventBuf<LlmEvent>,
    ) -> Result<(), Stopped> {
        let index = self.block((kind, number), is_refusal);
        if self.holding.is_some_and(|holding| holding != index) {
            return self.wait(write(kind, number, is_refusal, delta), events);
        }
        self.received += delta.len() as u64;
        if self.blocks.get(index).is_some_and(|block| block.stages.is_empty()) {
            events.push(write(kind, number, is_refusal, delta));
            return Ok(());
        }
        self.feed(index, &delta, Stage::Open, events)?;
        if self.holding.is_none() { self.release(events) } else { Ok(()) }
    }

    fn block(&mut self, id: (TextKind, u32), is_refusal: bool) -> usize {
        self.blocks.iter().rposition(|block| block.id == id).unwrap_or_else(|| {
            let stages = self.filters.iter().filter_map(|filter| filter.begin(id.0)).map(Held::new).collect();
            self.blocks.push(Block { id, stages, is_refusal });
            self.blocks.len() - 1
        })
    }

    /// Passes a delta through the filters of a block, and writes the released text.
    fn feed(
        &mut self,
        index: usize,
        piece: &str,
        stage: Stage,
        events: &mut EventBuf<LlmEvent>,
    ) -> Result<(), Stopped> {
        let Some(block) = self.blocks.get_mut(index) else { return Ok(()) };
        self.out.clear();
        self.out.push_str(piece);
        let mut stopped = Ok(());
        for held in &mut block.stages {
            self.next.clear();
            // Text that a filter passed before it stopped the run still passes through the later filters.
            let result = held.feed(&self.out, stage, &mut self.next);
            stopped = stopped.and(result);
            std::mem::swap(&mut self.out, &mut self.next);
        }
        self.holding = block.stages.iter().any(|held| held.bytes() > 0).then_some(index);
        if !self.out.is_empty() {
            let (kind, number) = block.id;
            events.push(write(kind, number, block.is_refusal, Text::from(self.out.as_str())));
        }
        stopped
    }

    fn decide(&mut self, stage: Stage, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        match self.holding {
            Some(index) => self.feed(index, "", stage, events),
            None => Ok(()),
        }
    }

    fn end_block(
        &mut self,
        id: (TextKind, u32),
        mut event: LlmEvent,
        events: &mut EventBuf<LlmEvent>,
    ) -> Result<(), Stopped> {
        let index = self.blocks.iter().rposition(|block| block.id == id);
        if self.holding.is_some() && self.holding != index {
            return self.wait(event, events);
        }
        self.decide(Stage::End, events)?;
        let block = index.map(|index| self.blocks.swap_remove(index));
        if block.is_some_and(|block| block.stages.iter().any(|held| held.altered))
            && let LlmEvent::TextEnd { metadata, .. } | LlmEvent::ReasoningEnd { metadata, .. } = &mut event
        {
            // The provider's state is only valid for the text that the model wrote.
            *metadata = None;
        }
        events.push(event);
        self.release(events)
    }

    fn wait(&mut self, event: LlmEvent, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        self.waiting.push_back(event);
        if self.waiting.len() > MAX_WAITING { self.due(events) } else { Ok(()) }
    }

    /// Releases the events that waited for text that is now decided.
    fn release(&mut self, events: &mut EventBuf<LlmEvent>) -> Result<(), Stopped> {
        if self.holding.is_some() {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        while let Some(event) = waiting.pop_front() {
            self.take(event, events)?;
            if self.holding.is_some() {
                self.waiting.append(&mut waiting);
            }
        }
        Ok(())
    }
}

fn write(kind: TextKind, block: u32, is_refusal: bool, delta: Text) -> LlmEvent {
    match kind {
        TextKind::Reasoning => LlmEvent::ReasoningDelta { block, delta },
        TextKind::Answer if is_refusal => LlmEvent::RefusalDelta { block, delta },
        TextKind::Answer => LlmEvent::TextDelta { block, delta },
    }
}

impl fmt::Debug for FilteredTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteredTurn").field("held", &self.held()).finish_non_exhaustive()
    }
}
