//! The state of an unfinished answer, shared by the decoders.

use std::collections::HashSet;
use std::mem;

use omniassist_core::message::ProviderMetadata;
use omniassist_core::{EventBuf, LlmEvent, Text, Usage};

use super::lenient_fields::Str;
use crate::{Error, Result};

type Out = EventBuf<LlmEvent>;

/// The growth of the token counts after which they are sent before the end of the answer.
const STEP: u64 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Text,
    Refusal,
    Reasoning,
}

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) id: Option<Text>,
    pub(super) started: bool,
    /// The block of each kind that deltas continue, if the protocol numbers no blocks.
    open: Option<(BlockKind, u32)>,
    next_block: u32,
    cited: HashSet<String>,
    sources: u32,
    /// The last token counts, until they are sent.
    pub(super) usage: Option<Usage>,
    /// The number of tokens that the next counts before the end must exceed.
    sent: u64,
}

impl Answer {
    /// Sends the start, once.
    pub(super) fn start(&mut self, id: &Str<'_>, model: &Str<'_>, out: &mut Out) {
        if !mem::replace(&mut self.started, true) {
            self.id = id.to_text();
            out.push(LlmEvent::Start { id: self.id.clone(), model: model.to_text() });
        }
    }

    pub(super) fn new_block(&mut self) -> u32 {
        let block = self.next_block;
        self.next_block += 1;
        block
    }

    pub(super) fn is_open(&self, kind: BlockKind) -> bool {
        self.open.is_some_and(|(open, _)| open == kind)
    }

    /// Continues the open block, or ends it and begins one of this kind.
    pub(super) fn say(&mut self, kind: BlockKind, delta: Text, out: &mut Out) {
        if delta.is_empty() {
            return;
        }
        let block = match self.open {
            Some((open, block)) if open == kind => block,
            _ => self.open(kind, out),
        };
        out.push(match kind {
            BlockKind::Text => LlmEvent::TextDelta { block, delta },
            BlockKind::Refusal => LlmEvent::RefusalDelta { block, delta },
            BlockKind::Reasoning => LlmEvent::ReasoningDelta { block, delta },
        });
    }

    fn open(&mut self, kind: BlockKind, out: &mut Out) -> u32 {
        self.end_block(None, out);
        let block = self.new_block();
        self.open = Some((kind, block));
        block
    }

    pub(super) fn end_block(&mut self, metadata: Option<ProviderMetadata>, out: &mut Out) {
        match self.open.take() {
            Some((BlockKind::Reasoning, block)) => out.push(LlmEvent::ReasoningEnd { block, metadata }),
            Some((_, block)) => out.push(LlmEvent::TextEnd { block, metadata }),
            None => {}
        }
    }

    /// Sends a reasoning block without text that carries metadata.
    pub(super) fn carry(&mut self, metadata: Option<ProviderMetadata>, out: &mut Out) {
        out.push(LlmEvent::ReasoningEnd { block: self.new_block(), metadata });
    }

    /// Returns `true` if a source was not sent before.
    pub(super) fn cites(&mut self, source: &str) -> bool {
        !source.is_empty() && self.cited.insert(source.to_owned())
    }

    pub(super) fn source_id(&mut self) -> Text {
        let number = self.sources;
        self.sources += 1;
        format!("{}-{number}", self.id.as_deref().unwrap_or("source")).into()
    }

    /// Sends the token counts before the end if they have grown, so that they count also if the answer is stopped.
    pub(super) fn send_grown_usage(&mut self, out: &mut Out) {
        let Some(Usage { input_tokens, output_tokens, total_tokens, .. }) = self.usage else { return };
        let sum = || input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        let tokens = total_tokens.unwrap_or_else(sum);
        if tokens > self.sent {
            self.sent = tokens.saturating_add(STEP);
            self.send_usage(out);
        }
    }

    pub(super) fn send_usage(&mut self, out: &mut Out) {
        if let Some(usage) = self.usage.take() {
            out.push(LlmEvent::Usage(usage));
        }
    }

    /// Ends the answer with an error, after the token counts.
    pub(super) fn fail(&mut self, error: Error, out: &mut Out) -> Result<()> {
        self.send_usage(out);
        Err(error)
    }
}
