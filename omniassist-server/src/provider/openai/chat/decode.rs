//! The decoder of a Chat Completions stream.

use std::collections::HashSet;
use std::mem;

use omniassist_core::event::Source;
use omniassist_core::{EventBuf, FinishReason, JsonText, Limits, LlmEvent, Text};
use serde_json::value::RawValue;

use super::super::usage::WireUsage;
use super::calls::{Calls, Verdict};
use super::constrained::{Said, Turn};
use super::details::Details;
use super::think::Think;
use super::wire::{
    Choice, Chunk, Content, ContentPart, Delta, ExecutedTool, ReasoningDetail, ToolDelta, UrlCitation,
};
use crate::provider::answer::{Answer, BlockKind};
use crate::provider::error_report;
use crate::provider::lenient_fields::Few;
use crate::provider::wire::{DONE, EventReader, broken_json, is_object};
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// Decodes one answer of Chat Completions.
///
/// The finish is delayed until `[DONE]` or the end of the body. A sign that the answer was cut, or its usage, may
/// follow a regular `finish_reason`.
#[derive(Debug, Default)]
pub struct Reader {
    answer: Answer,
    finished: bool,
    pub(super) calls: Calls,
    /// The reader of the text, if the answer is constrained to a schema.
    pub(super) turn: Option<Turn>,
    think: Think,
    citations_seen: usize,
    results_seen: usize,
    details: Details,
    executed: HashSet<u64>,
    finish: Option<Text>,
    cut: bool,
    refused: bool,
}

impl Reader {
    /// `mint` is the prefix of ids for calls without one. It must be different for each answer.
    pub(super) fn new(limits: &Limits, mint: String) -> Self {
        Self { calls: Calls::new(mint, limits.max_tool_args_bytes), ..Self::default() }
    }

    fn chunk(&mut self, chunk: &mut Chunk<'_>, data: &Text, out: &mut Out) -> Result<()> {
        let groq_error = chunk.x_groq.as_ref().and_then(|groq| groq.error);
        // A request for one choice gets no others.
        let choice = chunk.choices.iter_mut().find(|choice| choice.index.0.unwrap_or(0) == 0);
        let choice_error = choice.as_ref().and_then(|choice| choice.error);
        self.take_usage(chunk.usage.as_deref());
        if let Some(error) = chunk.error.or(choice_error).or(groq_error) {
            return self.answer.fail(error_report::in_band(error), out);
        }
        if chunk.object.as_str() == "error" {
            let error = error_report::in_band(serde_json::from_str(data).map_err(broken_json)?);
            return self.answer.fail(error, out);
        }
        // Azure sends the results of its filters first, in a chunk without the id, and often without the model.
        if choice.is_some() || chunk.id.non_empty().is_some() {
            self.answer.start(&chunk.id, &chunk.model, out);
        }
        self.take_usage(chunk.x_groq.as_ref().and_then(|groq| groq.usage.as_deref()));
        self.answer.send_grown_usage(out);
        if let Some(choice) = choice {
            self.choice(choice, data, out)?;
        }
        // Every chunk repeats both lists, and they only grow.
        if let Some(results) = longer(chunk.search_results, &mut self.results_seen) {
            for result in serde_json::from_str::<Few<UrlCitation<'_>>>(results).unwrap_or_default() {
                self.source(result.url.as_str(), result.title.to_text(), out);
            }
        }
        if let Some(citations) = longer(chunk.citations, &mut self.citations_seen) {
            for url in serde_json::from_str::<Vec<String>>(citations).unwrap_or_default() {
                self.source(&url, None, out);
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &mut Choice<'_>, data: &Text, out: &mut Out) -> Result<()> {
        self.take_usage(choice.usage.as_deref());
        if let Some(delta) = choice.delta.take() {
            self.delta(delta, data, out)?;
        }
        for word in
            [Some(&choice.finish_reason), choice.native_finish_reason.as_deref()].into_iter().flatten()
        {
            self.cut |= is_cut(word.as_str());
        }
        if let Some(word) = choice.finish_reason.to_text() {
            self.finish = Some(word);
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>, data: &Text, out: &mut Out) -> Result<()> {
        // Some servers send the same reasoning under several names.
        let reasoning = match delta.reasoning_content.non_empty() {
            Some(_) => delta.reasoning_content,
            None => delta.reasoning,
        };
        let named = reasoning.non_empty().is_some();
        self.say(BlockKind::Reasoning, reasoning.into_view(data), out);
        for entry in delta.reasoning_details.into_iter().flat_map(|entries| *entries) {
            self.details.push(entry);
            if let (false, Ok(detail)) = (named, serde_json::from_str::<ReasoningDetail<'_>>(entry.get())) {
                let text = detail.text.into_view(data);
                let text = if text.is_empty() { detail.summary.into_view(data) } else { text };
                self.say(BlockKind::Reasoning, text, out);
            }
        }
        match delta.content {
            Content::Text(text) => self.text(text.into_view(data), out)?,
            Content::Parts(parts) => {
                for part in *parts {
                    self.part(part, data, out)?;
                }
            }
        }
        if let Some(refusal) = delta.refusal {
            self.refused |= refusal.non_empty().is_some();
            self.say(BlockKind::Refusal, refusal.into_view(data), out);
        }
        for annotation in delta.annotations.into_iter().flat_map(|annotations| *annotations) {
            if let Some(citation) = annotation.url_citation {
                self.source(citation.url.as_str(), citation.title.to_text(), out);
            }
        }
        for item in delta.executed_tools.into_iter().flat_map(|tools| *tools) {
            self.executed(item, data, out);
        }
        let of = delta.tool_calls.as_ref().map_or(0, |calls| calls.len());
        if of > 0 || delta.function_call.is_some() {
            self.flush(out);
            self.end_block(out);
            self.seal(out);
        }
        for (position, call) in delta.tool_calls.iter().flat_map(|calls| calls.iter()).enumerate() {
            self.calls.delta(call, position, of, data, out)?;
        }
        if let Some(function) = delta.function_call {
            let call = ToolDelta { function: Some(*function), ..ToolDelta::default() };
            self.calls.delta(&call, 0, 1, data, out)?;
        }
        Ok(())
    }

    fn part(&mut self, part: ContentPart<'_>, data: &Text, out: &mut Out) -> Result<()> {
        let text = part.text.into_view(data);
        if part.kind.as_str() == "thinking" {
            self.say(BlockKind::Reasoning, text, out);
        } else {
            self.text(text, out)?;
        }
        for thought in part.thinking {
            self.say(BlockKind::Reasoning, thought.text.into_view(data), out);
        }
        Ok(())
    }

    fn text(&mut self, text: Text, out: &mut Out) -> Result<()> {
        let Some(turn) = &mut self.turn else {
            if self.think.is_over() {
                self.say(BlockKind::Text, text, out);
                return Ok(());
            }
            for (kind, text) in self.think.feed(text) {
                self.say(kind, text, out);
            }
            return Ok(());
        };
        let said = turn.feed(&text);
        self.calls.check_length(turn.undecided())?;
        self.said(said, out)
    }

    fn flush(&mut self, out: &mut Out) {
        if let Some((kind, text)) = self.think.flush() {
            self.say(kind, text, out);
        }
    }

    fn said(&mut self, said: Vec<Said>, out: &mut Out) -> Result<()> {
        for said in said {
            match said {
                Said::Text(text) => self.say(BlockKind::Text, text.into(), out),
                Said::Call(name) => {
                    self.end_block(out);
                    self.seal(out);
                    self.calls.begin(name.into(), out);
                }
                Said::Arguments(piece) => self.calls.append(piece.into(), out)?,
            }
        }
        Ok(())
    }

    fn say(&mut self, kind: BlockKind, delta: Text, out: &mut Out) {
        if !delta.is_empty() && !self.answer.is_open(kind) {
            self.end_block(out);
            if kind != BlockKind::Reasoning {
                self.seal(out);
            }
        }
        self.answer.say(kind, delta, out);
    }

    fn end_block(&mut self, out: &mut Out) {
        let reasons = self.answer.is_open(BlockKind::Reasoning);
        let state = if reasons { self.details.take_state() } else { None };
        self.answer.end_block(state, out);
    }

    /// Sends metadata of the reasoning that no visible block could carry, before the content that follows it.
    fn seal(&mut self, out: &mut Out) {
        if self.calls.is_empty()
            && let Some(state) = self.details.take_state()
        {
            self.answer.carry(Some(state), out);
        }
    }

    /// A tool that the server ran itself. It may be reported twice, at first without its output.
    fn executed(&mut self, item: &RawValue, data: &Text, out: &mut Out) {
        let tool = serde_json::from_str::<ExecutedTool<'_>>(item.get()).unwrap_or_default();
        let index = tool.index.0.unwrap_or_default();
        if tool.output.is_none() || !self.executed.insert(index) {
            return;
        }
        let Ok(item) = JsonText::parse(data.slice_ref(item.get())) else { return };
        let answer = self.answer.id.as_deref().unwrap_or("answer");
        let kind = tool.kind.to_text().unwrap_or(Text::from_static("tool"));
        out.push(LlmEvent::ProviderTool {
            id: format!("{answer}-tool-{index}").into(),
            kind,
            name: None,
            item,
            // A request in Chat Completions has no form for it.
            replay_to: None,
        });
    }

    fn source(&mut self, url: &str, title: Option<Text>, out: &mut Out) {
        if self.answer.cites(url) {
            let id = self.answer.source_id();
            out.push(LlmEvent::Source(Source::Url { id, url: url.into(), title }));
        }
    }

    fn take_usage(&mut self, usage: Option<&WireUsage>) {
        if let Some(usage) = usage.and_then(WireUsage::normalised) {
            self.answer.usage = Some(usage);
        }
    }

    fn conclude(&mut self, out: &mut Out) -> Result<()> {
        let Some(raw) = self.finish.take() else { return Ok(()) };
        self.finished = true;
        self.flush(out);
        let mut reason = reason(&raw);
        if let Some((said, complete)) = self.turn.as_mut().map(Turn::finish) {
            self.said(said, out)?;
            self.cut |= !complete;
            if reason == FinishReason::Stop && !self.cut && self.calls.any() {
                reason = FinishReason::ToolCalls;
            }
        }
        self.end_block(out);
        let verdict = match reason {
            FinishReason::Stop | FinishReason::ToolCalls if !self.cut => Verdict::AllComplete,
            _ => Verdict::LastCut,
        };
        // Reasoning after the calls is sent back with them.
        if let Some(details) = self.details.take() {
            self.calls.carry(details);
        }
        self.calls.finish(verdict, out);
        self.answer.send_usage(out);
        // A finish of `tool_calls` without calls would start another model call for nothing.
        let reason = match reason {
            FinishReason::ToolCalls if !self.calls.any() => FinishReason::Stop,
            reason => reason,
        };
        let reason =
            if reason == FinishReason::Stop && self.refused { FinishReason::Refusal } else { reason };
        out.push(LlmEvent::Finish { reason, raw: Some(raw), truncated: self.cut });
        Ok(())
    }
}

impl EventReader for Reader {
    fn event(&mut self, name: &str, data: &Text, out: &mut Out) -> Result<()> {
        if self.finished {
            return Ok(());
        }
        if data.trim_ascii() == DONE {
            return self.conclude(out);
        }
        if !is_object(data) {
            // A keep-alive in the form of data.
            return Ok(());
        }
        let mut chunk: Chunk<'_> = serde_json::from_str(data).map_err(broken_json)?;
        if name == "error" && chunk.error.is_none() && chunk.choices.len() == 0 {
            let error = error_report::in_band(serde_json::from_str(data).map_err(broken_json)?);
            return self.answer.fail(error, out);
        }
        self.chunk(&mut chunk, data, out)
    }

    fn end(&mut self, out: &mut Out) -> Result<()> {
        if self.finished {
            return Ok(());
        }
        if self.finish.is_none() {
            self.flush(out);
            // `[DONE]` alone does not complete an answer: a gateway also writes it after a broken upstream.
            return self.answer.fail(Error::provider(ProviderErrorKind::Interrupted), out);
        }
        self.conclude(out)
    }

    fn is_complete(&self) -> bool {
        self.finished || self.finish.is_some()
    }
}

/// Returns a list if it is longer than before.
fn longer<'a>(list: Option<&'a RawValue>, seen: &mut usize) -> Option<&'a str> {
    let list = list?.get();
    (mem::replace(seen, list.len().max(*seen)) < list.len()).then_some(list)
}

/// Returns the finish reason for the name that a server uses.
fn reason(word: &str) -> FinishReason {
    match normal(word).as_str() {
        "stop" | "eos" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        "refusal" => FinishReason::Refusal,
        "error" => FinishReason::Error,
        _ => FinishReason::Other(word.into()),
    }
}

/// Returns a finish reason in the spelling of the lists below. Some gateways pass on that of another API.
fn normal(word: &str) -> String {
    word.to_ascii_lowercase().replace('-', "_")
}

/// Returns `true` if a provider's finish reason means that the output was cut.
fn is_cut(word: &str) -> bool {
    const CUT: &[&str] = &[
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
        "incomplete",
        "content_filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "malformed_function_call",
        "network_error",
        "error",
        "abort",
        "aborted",
        "cancelled",
        "insufficient_system_resource",
    ];
    CUT.contains(&normal(word).as_str())
}
