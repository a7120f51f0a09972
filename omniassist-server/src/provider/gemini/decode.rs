//! The decoder of a `streamGenerateContent` stream.

use omniassist_core::event::Source;
use omniassist_core::{EventBuf, FinishReason, JsonText, Limits, LlmEvent, Text};
use serde_json::value::RawValue;

use super::calls::Calls;
use super::metadata;
use super::wire::{Candidate, Chunk, Cited, Part, WireUsage};
use crate::provider::answer::{Answer, BlockKind};
use crate::provider::error_report;
use crate::provider::wire::{EventReader, broken_json, is_object};
use crate::{Error, ProviderErrorKind, Result};

type Out = EventBuf<LlmEvent>;

/// Decodes one answer.
///
/// This API has no event that ends an answer. More content and another `finishReason` may follow a `finishReason`, so
/// the end of the body decides, and the last `finishReason` counts. Content follows after a pause if the model reads the result
/// of code that the provider ran, or if a gateway writes a `finishReason` on each event.
#[derive(Debug, Default)]
pub struct Reader {
    answer: Answer,
    mint: String,
    calls: Calls,
    /// Code that the provider runs, until its result arrives.
    code: Option<Text>,
    provider_tools: u32,
    /// `true` after a part of the answer itself: text, a call or a file.
    answers: bool,
    /// `true` after such a part in an event without a finish reason: the server does not write one on each event.
    marks_end: bool,
    /// `true` if the last event with content ended the turn.
    ends: bool,
    finish: Option<Text>,
    blocked: Option<Text>,
}

impl Reader {
    /// `mint` becomes part of the ids of calls that have none. It must be different for each answer.
    pub(super) fn new(limits: &Limits, mint: String) -> Self {
        Self { calls: Calls::new(mint.clone(), limits.max_tool_args_bytes), mint, ..Self::default() }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, data: &Text, out: &mut Out) -> Result<()> {
        if let Some(usage) = chunk.usage_metadata.as_ref().and_then(WireUsage::normalised) {
            self.answer.usage = Some(usage);
        }
        if let Some(error) = chunk.error {
            return self.answer.fail(error_report::in_band(error), out);
        }
        self.answer.start(&chunk.response_id, &chunk.model_version, out);
        self.answer.send_grown_usage(out);
        if let Some(feedback) = chunk.prompt_feedback {
            self.blocked = feedback.block_reason.to_text().or(self.blocked.take());
        }
        // A request for one candidate gets no others.
        let mut candidates = chunk.candidates.into_iter();
        let first = candidates.find(|candidate| candidate.index.0.unwrap_or(0) == 0);
        first.map_or(Ok(()), |candidate| self.candidate(candidate, data, out))
    }

    fn candidate(&mut self, candidate: Candidate<'_>, data: &Text, out: &mut Out) -> Result<()> {
        for part in candidate.content.into_iter().flat_map(|content| content.parts) {
            self.part(part, data, out)?;
        }
        for chunk in candidate.grounding_metadata.into_iter().flat_map(|found| found.grounding_chunks) {
            for cited in [chunk.web, chunk.maps, chunk.retrieved_context].into_iter().flatten() {
                self.source(&cited, out);
            }
        }
        if let Some(citations) = candidate.citation_metadata {
            for cited in citations.citation_sources.into_iter().chain(citations.citations) {
                self.source(&cited, out);
            }
        }
        let finish = candidate.finish_reason.to_text();
        self.ends = finish.is_some() && (self.marks_end || self.calls.any());
        self.marks_end |= finish.is_none() && self.answers;
        self.finish = finish.or(self.finish.take());
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, data: &Text, out: &mut Out) -> Result<()> {
        let thought = part.thought == Some(true);
        let signature = part.thought_signature.to_text();
        if let Some(call) = part.function_call {
            self.answers = true;
            self.answer.end_block(None, out);
            return self.calls.take(*call, signature, data, out);
        }
        if let Some(code) = part.executable_code {
            self.provider_tool(out);
            self.code = Some(code.get().into());
            return Ok(());
        }
        if let Some(result) = part.code_execution_result {
            self.code_result(result, out);
            return Ok(());
        }
        // A picture within a thought is a draft of the picture that follows.
        if let Some(blob) = part.inline_data.filter(|_| !thought) {
            let media_type =
                blob.mime_type.to_text().unwrap_or(Text::from_static("application/octet-stream"));
            let url = format!("data:{media_type};base64,{}", blob.data.as_str()).into();
            self.answers = true;
            self.answer.end_block(None, out);
            out.push(LlmEvent::File { media_type, url });
            return Ok(());
        }
        if let Some(file) = part.file_data {
            let media_type =
                file.mime_type.to_text().unwrap_or(Text::from_static("application/octet-stream"));
            if let Some(url) = file.file_uri.to_text() {
                self.answers = true;
                self.answer.end_block(None, out);
                out.push(LlmEvent::File { media_type, url });
            }
            return Ok(());
        }
        let kind = if thought { BlockKind::Reasoning } else { BlockKind::Text };
        let text = part.text.into_view(data);
        self.answers |= !thought && !text.is_empty();
        self.answer.say(kind, text, out);
        if signature.is_some() {
            self.sign(signature, out);
        }
        Ok(())
    }

    /// Ends the open block with a signature. A stream often ends with an empty part for it. If no block is open, an
    /// empty reasoning block carries the signature.
    fn sign(&mut self, signature: Option<Text>, out: &mut Out) {
        let state = metadata::state(signature);
        if self.answer.is_open(BlockKind::Text) || self.answer.is_open(BlockKind::Reasoning) {
            self.answer.end_block(state, out);
        } else {
            self.answer.carry(state, out);
        }
    }

    fn code_result(&mut self, result: &RawValue, out: &mut Out) {
        let code = self.code.take();
        let code = code.as_deref().unwrap_or("null");
        let item = format!(r#"{{"executableCode":{code},"codeExecutionResult":{}}}"#, result.get());
        self.push_provider_tool(item.into(), out);
    }

    /// Reports code whose result did not arrive.
    fn provider_tool(&mut self, out: &mut Out) {
        if let Some(code) = self.code.take() {
            self.push_provider_tool(format!(r#"{{"executableCode":{code}}}"#).into(), out);
        }
    }

    fn push_provider_tool(&mut self, item: Text, out: &mut Out) {
        self.answer.end_block(None, out);
        let id = format!("code_{}_{}", self.mint, self.provider_tools).into();
        self.provider_tools += 1;
        let item = JsonText::parse(item).unwrap_or_default();
        let kind = Text::from_static("code_execution");
        let replay_to = Some(Text::from_static(metadata::STATE.0));
        out.push(LlmEvent::ProviderTool { id, kind, name: None, item, replay_to });
    }

    fn source(&mut self, cited: &Cited<'_>, out: &mut Out) {
        let (uri, title) = (cited.uri.as_str(), cited.title.to_text());
        if !self.answer.cites(cited.uri.non_empty().or(title.as_deref()).unwrap_or_default()) {
            return;
        }
        let id = self.answer.source_id();
        out.push(LlmEvent::Source(if uri.starts_with("https://") || uri.starts_with("http://") {
            Source::Url { id, url: uri.into(), title }
        } else {
            // A document of a store or a corpus, whose address is valid only inside it.
            let title = title.unwrap_or_else(|| uri.into());
            Source::Document { id, media_type: Text::from_static("text/plain"), title, filename: None }
        }));
    }
}

impl EventReader for Reader {
    fn event(&mut self, _name: &str, data: &Text, out: &mut Out) -> Result<()> {
        if is_object(data) {
            return self.chunk(serde_json::from_str(data).map_err(broken_json)?, data, out);
        }
        // Errors may be in a list, which the API sends without `alt=sse`.
        for chunk in list(data) {
            self.chunk(chunk, data, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) -> Result<()> {
        let finish = self.finish.take();
        let (reason, raw) = match (finish, self.blocked.take()) {
            (Some(word), _) => (reason(&word), word),
            (None, Some(word)) => (FinishReason::ContentFilter, word),
            (None, None) => return self.answer.fail(Error::provider(ProviderErrorKind::Interrupted), out),
        };
        self.answer.end_block(None, out);
        self.provider_tool(out);
        let healthy = reason == FinishReason::Stop;
        self.calls.finish(healthy, out);
        self.answer.send_usage(out);
        // The API has no finish reason for a turn that ends with calls.
        let reason = if healthy && self.calls.any() { FinishReason::ToolCalls } else { reason };
        let truncated = reason.is_cut();
        out.push(LlmEvent::Finish { reason, raw: Some(raw), truncated });
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn has_ended(&self) -> bool {
        let runs_code = self.code.is_some() || self.provider_tools > 0;
        self.blocked.is_some() || (self.ends && self.answers && !runs_code)
    }
}

fn list(data: &Text) -> Vec<Chunk<'_>> {
    if data.trim_ascii_start().starts_with('[') {
        serde_json::from_str(data).unwrap_or_default()
    } else {
        Vec::new()
    }
}

/// Returns the common finish reason. <https://ai.google.dev/api/generate-content#FinishReason>
fn reason(word: &str) -> FinishReason {
    match word {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "MODEL_ARMOR"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "MALFORMED_RESPONSE"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE" => FinishReason::Error,
        other => FinishReason::Other(other.into()),
    }
}
