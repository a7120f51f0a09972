use bytes::{BufMut, BytesMut};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{ClientVersion, prototype};
use crate::dialect::json_write;
use crate::event::{ApprovalRequest, BlockId, FinishReason, RunErrorCode, Source, Usage};
use crate::message::ProviderMetadata;
use crate::message::{approval_question, output_seal};
use crate::{RunEvent, Text};

/// The content of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Text,
    Reasoning,
}

/// Returns `true` if this format has a chunk for the event. A form is asked for by the call itself, and state and activities
/// have no place here.
pub(super) fn has_chunk(event: &RunEvent) -> bool {
    !matches!(
        event,
        RunEvent::InputRequest(_)
            | RunEvent::StateSnapshot(_)
            | RunEvent::StateDelta(_)
            | RunEvent::ActivitySnapshot { .. }
    )
}

/// Writes the chunk of an event that [has one](has_chunk).
pub(super) fn chunk(out: &mut BytesMut, event: &RunEvent, version: ClientVersion) {
    let start = out.len();
    match event {
        RunEvent::ToolInputDelta { call_id, delta } => {
            out.put_slice(b"{\"type\":\"tool-input-delta\",\"toolCallId\":");
            json_write::string(out, call_id);
            out.put_slice(b",\"inputTextDelta\":");
            json_write::string(out, delta);
            out.put_u8(b'}');
            // Only strings, so there is no key to look for.
            return;
        }
        RunEvent::Start { message_id, metadata } => {
            Chunk::new(out, "start")
                .text("messageId", message_id)
                .optional("messageMetadata", metadata.as_ref())
                .end();
        }
        RunEvent::StepStart => Chunk::new(out, "start-step").end(),
        // Reason and tokens of a single step have no field in this format.
        RunEvent::StepFinish { .. } => Chunk::new(out, "finish-step").end(),
        RunEvent::TextStart { id } => Chunk::new(out, "text-start").block('t', *id).end(),
        RunEvent::TextEnd { id, metadata } => {
            Chunk::new(out, "text-end").block('t', *id).state(metadata.as_ref()).end();
        }
        RunEvent::ReasoningStart { id } => Chunk::new(out, "reasoning-start").block('r', *id).end(),
        RunEvent::ReasoningEnd { id, metadata } => {
            Chunk::new(out, "reasoning-end").block('r', *id).state(metadata.as_ref()).end();
        }
        RunEvent::ToolInputStart { .. }
        | RunEvent::ToolInputAvailable { .. }
        | RunEvent::ToolInputError { .. }
        | RunEvent::ToolOutput { .. }
        | RunEvent::ToolError { .. }
        | RunEvent::ToolApprovalRequest(_)
        | RunEvent::ToolDenied { .. }
        | RunEvent::ToolRefused { .. } => tool_chunk(out, event, version),
        RunEvent::OutputSeal { call_id, seal } => {
            let metadata = output_seal(call_id, seal);
            Chunk::new(out, "message-metadata").optional("messageMetadata", Some(&metadata)).end();
        }
        // The deltas of blocks, nearly all that a run sends, are not written here: their heads are made once a block.
        RunEvent::TextDelta { .. }
        | RunEvent::ReasoningDelta { .. }
        | RunEvent::InputRequest(_)
        | RunEvent::StateSnapshot(_)
        | RunEvent::StateDelta(_)
        | RunEvent::ActivitySnapshot { .. } => {}
        RunEvent::Source(source) => source_chunk(out, source),
        RunEvent::File { media_type, url } => {
            Chunk::new(out, "file").text("url", url).text("mediaType", media_type).end();
        }
        RunEvent::Data { name, id, data, transient } => {
            let mut chunk = Chunk::data(out, name);
            if let Some(id) = id {
                chunk = chunk.text("id", id);
            }
            chunk.json("data", data.as_str()).flag("transient", *transient).end();
        }
        RunEvent::Metadata(metadata) => {
            Chunk::new(out, "message-metadata").optional("messageMetadata", Some(metadata)).end();
        }
        RunEvent::Finish { reason, usage } => {
            let metadata = (*usage != Usage::default()).then_some(UsageMetadata { usage });
            Chunk::new(out, "finish")
                .text("finishReason", finish_reason(reason))
                .optional("messageMetadata", metadata.as_ref())
                .end();
        }
        RunEvent::Error { message, .. } => Chunk::new(out, "error").text("errorText", message).end(),
        RunEvent::Abort { reason } => {
            let reason = Some(reason).filter(|_| version >= ClientVersion::V7);
            Chunk::new(out, "abort").optional_text("reason", reason).end();
        }
    }
    prototype::remove_refused_keys(out, start);
}

/// Writes a delta of a block up to its text.
pub(super) fn delta_head(out: &mut BytesMut, block: Block, id: BlockId) {
    out.put_slice(match block {
        Block::Text => b"{\"type\":\"text-delta\",\"id\":\"t",
        Block::Reasoning => b"{\"type\":\"reasoning-delta\",\"id\":\"r",
    });
    json_write::number(out, u64::from(id.0));
    out.put_slice(b"\",\"delta\":");
}

fn tool_chunk(out: &mut BytesMut, event: &RunEvent, version: ClientVersion) {
    match event {
        RunEvent::ToolInputStart { call_id, name, title } => {
            // Version 5 has no such field, and some of its releases end the stream at one.
            let title = title.as_ref().filter(|_| version >= ClientVersion::V7);
            Chunk::new(out, "tool-input-start")
                .text("toolCallId", call_id)
                .text("toolName", name)
                .optional_text("title", title)
                .end();
        }
        RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, metadata } => {
            Chunk::new(out, "tool-input-available")
                .text("toolCallId", call_id)
                .text("toolName", name)
                .json("input", input.as_str())
                .flag("providerExecuted", *provider_executed)
                .state(metadata.as_ref())
                .end();
        }
        RunEvent::ToolInputError { call_id, name, input, error_text, metadata } => {
            Chunk::new(out, "tool-input-error")
                .text("toolCallId", call_id)
                .text("toolName", name)
                .json("input", input.as_str())
                .text("errorText", error_text)
                .state(metadata.as_ref())
                .end();
        }
        RunEvent::ToolOutput { call_id, output, preliminary, provider_executed } => {
            Chunk::new(out, "tool-output-available")
                .text("toolCallId", call_id)
                .json("output", output.as_str())
                .flag("providerExecuted", *provider_executed)
                .flag("preliminary", *preliminary)
                .end();
        }
        RunEvent::ToolError { call_id, error_text, provider_executed } => {
            Chunk::new(out, "tool-output-error")
                .text("toolCallId", call_id)
                .text("errorText", error_text)
                .flag("providerExecuted", *provider_executed)
                .end();
        }
        RunEvent::ToolApprovalRequest(request) => {
            let reason = request.message.as_ref().filter(|_| version >= ClientVersion::V7);
            Chunk::new(out, "tool-approval-request")
                .text("approvalId", &request.id)
                .text("toolCallId", &request.call_id)
                .optional_text("reason", reason)
                .optional_text("signature", request.signature.as_ref())
                .end();
        }
        RunEvent::ToolDenied { call_id, .. } => {
            Chunk::new(out, "tool-output-denied").text("toolCallId", call_id).end();
        }
        // From version 7 on; the encoder writes this as an approval that was denied by itself.
        RunEvent::ToolRefused { call_id, .. } if version >= ClientVersion::V7 => {
            Chunk::new(out, "tool-output-denied").text("toolCallId", call_id).end();
        }
        RunEvent::ToolRefused { call_id, reason } => {
            Chunk::new(out, "tool-output-error").text("toolCallId", call_id).text("errorText", reason).end();
        }
        _ => {}
    }
}

fn source_chunk(out: &mut BytesMut, source: &Source) {
    let (chunk, name) = match source {
        Source::Url { id, url, title } => {
            let chunk = Chunk::new(out, "source-url").text("sourceId", id).text("url", url);
            (chunk, title.as_ref().map(|title| ("title", title)))
        }
        Source::Document { id, media_type, title, filename } => {
            let chunk = Chunk::new(out, "source-document").text("sourceId", id);
            let chunk = chunk.text("mediaType", media_type).text("title", title);
            (chunk, filename.as_ref().map(|name| ("filename", name)))
        }
    };
    match name {
        Some((key, name)) => chunk.text(key, name).end(),
        None => chunk.end(),
    }
}

/// Writes the two chunks that go ahead of the `tool-output-denied` of a call that was refused without asking.
pub(super) fn automatic_denial(out: &mut BytesMut, call_id: &str, reason: &str, asks: bool) {
    let id = ApprovalRequest::id_of(call_id);
    if asks {
        Chunk::new(out, "tool-approval-request")
            .text("approvalId", &id)
            .text("toolCallId", call_id)
            .flag("isAutomatic", true)
            .end();
    } else {
        Chunk::new(out, "tool-approval-response")
            .text("approvalId", &id)
            .json("approved", "false")
            .text("reason", reason)
            .end();
    }
}

/// Writes the chunk that goes ahead of a `tool-approval-request`: that one has room for the question in version 7 only.
pub(super) fn question(out: &mut BytesMut, call_id: &str, question: &str) {
    let metadata = approval_question(call_id, question);
    Chunk::new(out, "message-metadata").optional("messageMetadata", Some(&metadata)).end();
}

/// Writes the chunk that goes ahead of an `error` chunk: that one has room for a sentence only, and the client stops
/// reading behind it.
pub(super) fn error_code(out: &mut BytesMut, code: RunErrorCode) {
    #[derive(Serialize)]
    struct ErrorMetadata {
        error: Code,
    }
    #[derive(Serialize)]
    struct Code {
        code: &'static str,
    }
    let metadata = ErrorMetadata { error: Code { code: code.as_str() } };
    Chunk::new(out, "message-metadata").optional("messageMetadata", Some(&metadata)).end();
}

#[derive(Serialize)]
struct UsageMetadata<'a> {
    usage: &'a Usage,
}

/// The words that versions 5, 6 and 7 all know; any other makes the client throw.
fn finish_reason(reason: &FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool-calls",
        FinishReason::Length => "length",
        // The AI SDK's own providers report a model's refusal under this word, so a UI that tells a refused answer
        // from a complete one looks for it.
        FinishReason::ContentFilter | FinishReason::Refusal => "content-filter",
        FinishReason::Error => "error",
        FinishReason::Pause | FinishReason::Other(_) => "other",
    }
}

/// One chunk being written. `type` comes first.
struct Chunk<'a> {
    out: &'a mut BytesMut,
}

impl<'a> Chunk<'a> {
    fn new(out: &'a mut BytesMut, kind: &'static str) -> Self {
        out.put_slice(b"{\"type\":\"");
        out.put_slice(kind.as_bytes());
        out.put_u8(b'"');
        Self { out }
    }

    fn data(out: &'a mut BytesMut, name: &Text) -> Self {
        out.put_slice(b"{\"type\":");
        json_write::string(out, &format!("data-{name}"));
        Self { out }
    }

    fn key(&mut self, key: &'static str) {
        self.out.put_slice(b",\"");
        self.out.put_slice(key.as_bytes());
        self.out.put_slice(b"\":");
    }

    fn block(mut self, prefix: char, id: BlockId) -> Self {
        self.key("id");
        self.out.put_u8(b'"');
        self.out.put_slice(prefix.encode_utf8(&mut [0; 4]).as_bytes());
        json_write::number(self.out, u64::from(id.0));
        self.out.put_u8(b'"');
        self
    }

    fn text(mut self, key: &'static str, text: &str) -> Self {
        self.key(key);
        json_write::string(self.out, text);
        self
    }

    fn optional_text(self, key: &'static str, text: Option<&Text>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self,
        }
    }

    fn json(mut self, key: &'static str, json: &str) -> Self {
        self.key(key);
        self.out.put_slice(json.as_bytes());
        self
    }

    fn flag(mut self, key: &'static str, flag: bool) -> Self {
        if flag {
            self.key(key);
            self.out.put_slice(b"true");
        }
        self
    }

    fn optional<T: Serialize>(mut self, key: &'static str, value: Option<&T>) -> Self {
        if let Some(value) = value {
            self.key(key);
            json_write::value(self.out, value);
        }
        self
    }

    /// Provider state. The client takes it only in two levels; what is not under a provider's name is left out.
    fn state(mut self, metadata: Option<&ProviderMetadata>) -> Self {
        let Some(metadata) = metadata else { return self };
        self.key("providerMetadata");
        if metadata.values().all(Value::is_object) {
            json_write::value(self.out, metadata);
            return self;
        }
        let two_levels: Map<_, _> = metadata
            .iter()
            .filter(|(_, value)| value.is_object())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        json_write::value(self.out, &two_levels);
        self
    }

    fn end(self) {
        self.out.put_u8(b'}');
    }
}
