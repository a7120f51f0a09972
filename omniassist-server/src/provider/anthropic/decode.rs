//! The decoder of the Messages API's stream.

use std::mem;

use omniassist_core::event::{CallKind, Source};
use omniassist_core::{EventBuf, FinishReason, JsonText, Limits, LlmEvent, Text};
use serde_json::value::RawValue;

use super::block::{Block, Kind, ProviderBlock, StoppedCall};
use super::compacted;
use super::usage::Counts;
use super::wire::{Citation, ContentBlock, Delta, Event, Message};
use crate::provider::answer::{Answer, BlockKind};
use crate::provider::error_report;
use crate::provider::lenient_fields::{Str, string_or_json};
use crate::provider::wire::{EventReader, broken_json, is_object};
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// Decodes one answer of the Messages API.
///
/// The finish is delayed until `message_stop` or the end of the body. The end of a call is delayed until the model
/// continues or its stop reason arrives, because a call that the token limit cut gets a `content_block_stop` too.
#[derive(Debug, Default)]
pub struct Reader {
    max_arguments: usize,
    answer: Answer,
    finished: bool,
    open: Vec<Block>,
    /// The blocks inside `message_start`, by their position.
    given: Vec<(u64, Text)>,
    stopped: Option<StoppedCall>,
    next_call: u32,
    /// `true` if the last call has ended.
    last_ended: bool,
    counts: Counts,
    /// The counts of compactions, which the API does not include in the others.
    compacted: Option<Counts>,
    stop_reason: Option<Text>,
    cut: bool,
}

impl Reader {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { max_arguments: limits.max_tool_args_bytes, last_ended: true, ..Self::default() }
    }

    /// A second start of the same message is a repetition. A start of another message means that a gateway has started
    /// the answer again; open blocks stay unfinished.
    fn begin(&mut self, message: Option<&RawValue>, out: &mut Out) -> Result<()> {
        let message: Message<'_> = match message {
            Some(raw) => serde_json::from_str(raw.get()).map_err(broken_json)?,
            None => Message::default(),
        };
        if self.answer.started {
            let id = message.id.to_text();
            if id == self.answer.id {
                return Ok(());
            }
            self.abandon_all(out);
            self.given.clear();
            self.stopped = None;
            self.answer.id = id;
        }
        self.answer.start(&message.id, &message.model, out);
        self.take_usage(message.usage, out);
        self.given = (0..).zip(message.content.iter().map(|raw| Text::from(raw.get()))).collect();
        self.take_stop_reason(message.stop_reason.to_text());
        Ok(())
    }

    fn block_started(
        &mut self,
        index: Option<u64>,
        raw: &RawValue,
        data: &Text,
        out: &mut Out,
    ) -> Result<()> {
        let block: ContentBlock<'_> = serde_json::from_str(raw.get()).map_err(broken_json)?;
        // A streamed block is not sent twice. The blocks before it are sent now.
        if let Some(index) = index {
            self.given.retain(|(at, given)| *at != index || !is_same_block(given, &block));
            self.say_given(Some(index), out)?;
        }
        self.open(index, &block, raw, data, out)
    }

    fn open(
        &mut self,
        index: Option<u64>,
        block: &ContentBlock<'_>,
        raw: &RawValue,
        data: &Text,
        out: &mut Out,
    ) -> Result<()> {
        self.release(out);
        if let Some(at) = self.open.iter().position(|open| index.is_some() && open.index == index) {
            self.open.remove(at).abandon(out);
        }
        let kind = match block.kind.as_str() {
            "text" => Kind::Text { block: None },
            "thinking" => Kind::Thinking { block: None, signature: block.signature.as_str().to_owned() },
            "redacted_thinking" => {
                Kind::Redacted { block: self.answer.new_block(), data: block.data.as_str().to_owned() }
            }
            "tool_use" => self.open_call(block, data, out)?,
            "compaction" => {
                self.compacted.get_or_insert_default();
                Kind::Compaction(serde_json::from_str(raw.get()).map_err(broken_json)?)
            }
            kind if is_provider_block(kind) => Kind::Provider(ProviderBlock {
                id: block.id.to_text().or_else(|| block.tool_use_id.to_text()).unwrap_or_default(),
                kind: kind.into(),
                name: block.name.to_text(),
                item: JsonText::parse(raw.get()).unwrap_or_default(),
                input: String::new(),
            }),
            kind => {
                out.push(LlmEvent::Unknown { kind: kind.into(), data: raw.get().into() });
                Kind::Other
            }
        };
        self.open.push(Block { index, kind });
        let at = self.open.len() - 1;
        self.say(at, BlockKind::Text, block.text.to_text().unwrap_or_default(), out);
        self.say(at, BlockKind::Reasoning, block.thinking.to_text().unwrap_or_default(), out);
        for citation in block.citations.iter() {
            self.source(citation, out);
        }
        Ok(())
    }

    fn open_call(&mut self, block: &ContentBlock<'_>, data: &Text, out: &mut Out) -> Result<Kind> {
        let call = self.next_call;
        self.next_call += 1;
        self.last_ended = false;
        // The API always sends an id.
        let id = block.id.to_text().unwrap_or_else(|| {
            let message = self.answer.id.as_deref().unwrap_or("message");
            format!("call_{message}_{call}").into()
        });
        let name = block.name.to_text().unwrap_or_default();
        out.push(LlmEvent::ToolCallStart { call, id, name, kind: CallKind::Function });
        let given = string_or_json(block.input, data);
        if given.len() > self.max_arguments {
            return Err(Error::provider(ProviderErrorKind::TooLarge));
        }
        Ok(Kind::Call { number: call, given, arguments: String::new() })
    }

    /// Sends the blocks of `message_start`: those up to `index`, or all.
    fn say_given(&mut self, index: Option<u64>, out: &mut Out) -> Result<()> {
        if self.given.is_empty() {
            return Ok(());
        }
        let (now, later) = mem::take(&mut self.given)
            .into_iter()
            .partition::<Vec<_>, _>(|(at, _)| index.is_none_or(|index| *at <= index));
        self.given = later;
        for (_, data) in now {
            let raw: &RawValue = serde_json::from_str(&data).map_err(broken_json)?;
            let block: ContentBlock<'_> = serde_json::from_str(&data).map_err(broken_json)?;
            self.open(None, &block, raw, &data, out)?;
            let at = self.open.len().saturating_sub(1);
            if let Some(Block { kind: Kind::Call { number, given, .. }, .. }) = self.open.get(at)
                && !given.is_empty()
            {
                out.push(LlmEvent::ToolCallDelta { call: *number, delta: given.clone() });
            }
            self.stop_at(at, out);
        }
        Ok(())
    }

    fn delta(&mut self, index: Option<u64>, delta: Delta<'_>, data: &Text, out: &mut Out) -> Result<()> {
        let Some(at) = self.position(index) else {
            tracing::debug!(?index, "ignored a delta for a block that is not open");
            return Ok(());
        };
        match delta.kind.as_str() {
            "text_delta" => self.say(at, BlockKind::Text, delta.text.into_view(data), out),
            "thinking_delta" => self.say(at, BlockKind::Reasoning, delta.thinking.into_view(data), out),
            "signature_delta" => {
                if let Some(Block { kind: Kind::Thinking { signature, .. }, .. }) = self.open.get_mut(at) {
                    signature.clear();
                    signature.extend(delta.signature.as_deref().map(Str::as_str));
                }
            }
            "input_json_delta" => self.input(at, delta.partial_json.into_view(data), out)?,
            "compaction_delta" => {
                if let Some(Block { kind: Kind::Compaction(block), .. }) = self.open.get_mut(at) {
                    compacted::add(block, data)?;
                }
            }
            "citations_delta" => {
                if let Some(citation) = delta.citation {
                    self.source(citation, out);
                }
            }
            kind => out.push(LlmEvent::Unknown { kind: kind.into(), data: data.clone() }),
        }
        Ok(())
    }

    fn say(&mut self, at: usize, kind: BlockKind, delta: Text, out: &mut Out) {
        let Some(open) = self.open.get_mut(at).filter(|_| !delta.is_empty()) else { return };
        match (&mut open.kind, kind) {
            (Kind::Text { block }, BlockKind::Text) => {
                let block = *block.get_or_insert_with(|| self.answer.new_block());
                out.push(LlmEvent::TextDelta { block, delta });
            }
            (Kind::Thinking { block, .. }, BlockKind::Reasoning) => {
                let block = *block.get_or_insert_with(|| self.answer.new_block());
                out.push(LlmEvent::ReasoningDelta { block, delta });
            }
            _ => {}
        }
    }

    fn input(&mut self, at: usize, delta: Text, out: &mut Out) -> Result<()> {
        let length = match self.open.get_mut(at) {
            Some(Block { kind: Kind::Call { number, arguments, .. }, .. }) if !delta.is_empty() => {
                arguments.push_str(&delta);
                out.push(LlmEvent::ToolCallDelta { call: *number, delta });
                arguments.len()
            }
            Some(Block { kind: Kind::Provider(block), .. }) => {
                block.input.push_str(&delta);
                block.input.len()
            }
            _ => 0,
        };
        if length > self.max_arguments {
            return Err(Error::provider(ProviderErrorKind::TooLarge));
        }
        Ok(())
    }

    fn block_stopped(&mut self, index: Option<u64>, out: &mut Out) {
        match self.position(index) {
            Some(at) => self.stop_at(at, out),
            None => tracing::debug!(?index, "ignored the stop of a block that is not open"),
        }
    }

    fn stop_at(&mut self, at: usize, out: &mut Out) {
        if at < self.open.len() {
            let stopped = self.open.remove(at).stop(&mut self.answer, out);
            if stopped.is_some() {
                self.release(out);
                self.stopped = stopped;
            }
        }
    }

    /// Returns the position of an event's open block. For an event that names none, it is the last opened one.
    fn position(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(_) => self.open.iter().rposition(|block| block.index == index),
            None => self.open.len().checked_sub(1),
        }
    }

    /// Ends the stopped call, which was not cut.
    fn release(&mut self, out: &mut Out) {
        if let Some(StoppedCall { number, arguments }) = self.stopped.take() {
            self.last_ended |= number + 1 == self.next_call;
            out.push(LlmEvent::ToolCallEnd { call: number, arguments, metadata: None });
        }
    }

    fn abandon_all(&mut self, out: &mut Out) {
        for block in self.open.drain(..) {
            block.abandon(out);
        }
    }

    fn source(&mut self, citation: &RawValue, out: &mut Out) {
        let Ok(citation) = serde_json::from_str::<Citation<'_>>(citation.get()) else { return };
        let id = self.answer.source_id();
        let source = citation.source.non_empty().filter(|source| source.starts_with("http"));
        let source = match citation.url.non_empty().or(source) {
            Some(url) => Source::Url { id, url: url.into(), title: citation.title.to_text() },
            None => {
                let place = citation.document_index.0.map_or(1, |index| index.saturating_add(1));
                let title = citation.document_title.to_text().or_else(|| citation.title.to_text());
                let media_type = match citation.kind.as_str() {
                    "page_location" => "application/pdf",
                    _ => "text/plain",
                };
                Source::Document {
                    id,
                    media_type: Text::from_static(media_type),
                    title: title.unwrap_or_else(|| format!("Document {place}").into()),
                    filename: None,
                }
            }
        };
        out.push(LlmEvent::Source(source));
    }

    fn take_usage(&mut self, usage: Option<Counts>, out: &mut Out) {
        let Some(usage) = usage else { return };
        self.counts.update(usage);
        let counts = self.counts.plus(self.compacted);
        if let Some(usage) = counts.normalised() {
            out.push(LlmEvent::Usage(usage));
        }
    }

    fn take_stop_reason(&mut self, reason: Option<Text>) {
        if let Some(reason) = reason {
            self.cut |= is_cut(&reason);
            self.stop_reason = Some(reason);
        }
    }

    fn conclude(&mut self, out: &mut Out) -> Result<()> {
        self.say_given(None, out)?;
        self.abandon_all(out);
        if !self.cut {
            self.release(out);
        }
        let raw = self.stop_reason.take();
        let reason = match raw.as_deref() {
            Some("end_turn" | "stop_sequence") => FinishReason::Stop,
            Some("tool_use") => FinishReason::ToolCalls,
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            Some("refusal") => FinishReason::Refusal,
            // <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons#pause-turn>
            Some("pause_turn") => FinishReason::Pause,
            Some(word) => FinishReason::Other(word.into()),
            None if self.next_call > 0 => FinishReason::ToolCalls,
            None => FinishReason::Stop,
        };
        out.push(LlmEvent::Finish { reason, raw, truncated: self.cut || !self.last_ended });
        self.finished = true;
        Ok(())
    }
}

impl EventReader for Reader {
    fn event(&mut self, name: &str, data: &Text, out: &mut Out) -> Result<()> {
        // A gateway's keep-alive may be data that is not JSON. `[DONE]` has no meaning here.
        if self.finished || !is_object(data) {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(broken_json)?;
        match event.kind.non_empty().unwrap_or(name) {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(event.index.0, delta, data, out)?;
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.block_started(event.index.0, block, data, out)?;
                }
            }
            "content_block_stop" => self.block_stopped(event.index.0, out),
            "message_start" => self.begin(event.message, out)?,
            "message_delta" => {
                self.take_stop_reason(event.delta.and_then(|delta| delta.stop_reason?.to_text()));
                if let Some(compacted) = &mut self.compacted {
                    *compacted = compacted::counts(data)?;
                }
                self.take_usage(event.usage.map(|usage| *usage), out);
            }
            "message_stop" => self.conclude(out)?,
            "ping" => {}
            "error" => {
                return Err(match event.error {
                    Some(error) => error_report::in_band(error),
                    None => error_report::in_band(serde_json::from_str(data).map_err(broken_json)?),
                });
            }
            kind => match event.error {
                // Some gateways send an error without the type `error`.
                Some(error) => return Err(error_report::in_band(error)),
                None => out.push(LlmEvent::Unknown { kind: kind.into(), data: data.clone() }),
            },
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) -> Result<()> {
        match (self.finished, &self.stop_reason) {
            (true, _) => Ok(()),
            // `message_stop` adds nothing if the reason is known and every block has stopped.
            (false, Some(_)) if self.open.is_empty() => self.conclude(out),
            (false, _) => Err(Error::provider(ProviderErrorKind::Interrupted)),
        }
    }

    fn is_complete(&self) -> bool {
        self.finished || (self.stop_reason.is_some() && self.open.is_empty())
    }
}

/// Returns `true` if this stop reason means that the answer was cut. A classifier may cause a refusal in the middle of
/// a call.
fn is_cut(reason: &str) -> bool {
    matches!(reason, "max_tokens" | "model_context_window_exceeded" | "refusal")
}

/// Returns `true` if a block belongs to a provider-run tool.
fn is_provider_block(kind: &str) -> bool {
    kind == "server_tool_use" || kind == "mcp_tool_use" || kind.ends_with("_tool_result")
}

/// Returns `true` if a block of `message_start` is the one that is being streamed.
fn is_same_block(given: &Text, block: &ContentBlock<'_>) -> bool {
    serde_json::from_str::<ContentBlock<'_>>(given).is_ok_and(|given| {
        given.kind.as_str() == block.kind.as_str()
            && (given.id.as_str() == block.id.as_str() || block.id.as_str().is_empty())
    })
}
