//! Conversion of run events into chunks of the UI message stream.

use std::collections::BTreeMap;

use bytes::BytesMut;
use serde::Serialize;
use serde_json::json;

use super::encode::LastStep;
use super::{ClientVersion, Encoder};
use crate::dialect::json_write::{ObjectWriter, provider_state};
use crate::dialect::of_agent::OfAgent;
use crate::event::{ApprovalRequest, BlockId, FinishReason, Source, Usage};
use crate::message::{ProviderMetadata, approval_question, output_seal};
use crate::transcript::denial;
use crate::{RunEvent, Text};

impl Encoder {
    /// Writes the chunks of an event. A form is represented by its call. State and activities have no equivalent in
    /// this format.
    pub(super) fn chunks(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::TextDelta { id, delta } => {
                self.delta(r#"{"type":"text-delta","id":"t"#, *id, delta, out);
            }
            RunEvent::ReasoningDelta { id, delta } => {
                self.delta(r#"{"type":"reasoning-delta","id":"r"#, *id, delta, out);
            }
            RunEvent::Start { message_id, metadata } => {
                // It may be a message that the run continues.
                self.last_step = LastStep::MayHaveCalls;
                self.chunk(out, "start", |chunk| {
                    chunk.field("messageId", message_id).some("messageMetadata", metadata.as_ref())
                });
            }
            RunEvent::StepStart => self.step_start(out),
            RunEvent::StepReset => {
                self.last_step = LastStep::NoCalls;
                if self.version >= ClientVersion::V7 {
                    self.chunk(out, "reset-step", |chunk| chunk);
                }
            }
            // This format has no field for the finish reason and the usage of one step.
            RunEvent::StepFinish { .. } => self.chunk(out, "finish-step", |chunk| chunk),
            RunEvent::TextStart { id } => self.chunk(out, "text-start", |chunk| block(chunk, 't', *id)),
            RunEvent::TextEnd { id, metadata } => {
                self.chunk(out, "text-end", |chunk| state(block(chunk, 't', *id), metadata.as_ref()));
            }
            RunEvent::ReasoningStart { id } => {
                self.chunk(out, "reasoning-start", |chunk| block(chunk, 'r', *id));
            }
            RunEvent::ReasoningEnd { id, metadata } => {
                self.chunk(out, "reasoning-end", |chunk| state(block(chunk, 'r', *id), metadata.as_ref()));
            }
            RunEvent::Source(source) => self.source(source, out),
            RunEvent::File { media_type, url } => {
                self.chunk(out, "file", |chunk| chunk.field("url", url).field("mediaType", media_type));
            }
            RunEvent::Data { name, id, data, transient } => {
                self.chunk(out, &format!("data-{name}"), |chunk| {
                    chunk.some("id", id.as_ref()).json("data", data).flag("transient", *transient)
                });
            }
            RunEvent::Component(event) => {
                let Some(part) = event.data() else { return };
                self.chunk(out, &format!("data-{}", part.name), |chunk| {
                    let chunk = chunk.some("id", part.id).field("data", &part.data);
                    chunk.flag("transient", part.id.is_none())
                });
            }
            RunEvent::AgentState(state) => self.chunk(out, "data-agent", |chunk| {
                let chunk = chunk.field("id", &state.agent_id);
                chunk.field("data", state)
            }),
            RunEvent::AgentDelta { agent_id, delta } => {
                let data = OfAgent::new(agent_id, delta);
                self.chunk(out, "data-agent-delta", |chunk| {
                    chunk.field("data", &data).flag("transient", true)
                });
            }
            RunEvent::Metadata(metadata) => self.metadata(metadata, out),
            RunEvent::Finish { reason, usage } => {
                // A run does not end by itself after a call that ran: the model gets its result.
                if *reason == FinishReason::Interrupted || self.last_step == LastStep::Failed {
                    self.end_calls(out);
                }
                let version = self.version;
                let metadata = (*usage != Usage::default()).then(|| BTreeMap::from([("usage", usage)]));
                self.chunk(out, "finish", |chunk| {
                    chunk
                        .field("finishReason", finish_reason(reason, version))
                        .some("messageMetadata", metadata.as_ref())
                });
            }
            RunEvent::Error { code, message } => {
                // The error chunk contains only a message, and the client stops reading after it.
                self.metadata(&json!({"error": {"code": code}}), out);
                self.chunk(out, "error", |chunk| chunk.field("errorText", message));
            }
            RunEvent::Abort { reason } => {
                self.end_calls(out);
                let reason = Some(reason).filter(|_| self.version >= ClientVersion::V7);
                self.chunk(out, "abort", |chunk| chunk.some("reason", reason));
            }
            event => self.tool_chunks(event, out),
        }
    }

    fn tool_chunks(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::ToolInputError { .. } if self.last_step == LastStep::NoCalls => {
                self.last_step = LastStep::Failed;
            }
            RunEvent::ToolInputAvailable { provider_executed: false, .. }
            | RunEvent::ToolOutput { provider_executed: false, .. }
            | RunEvent::ToolError { provider_executed: false, .. }
            | RunEvent::ToolDenied { .. }
            | RunEvent::ToolRefused { .. } => self.last_step = LastStep::MayHaveCalls,
            _ => {}
        }
        match event {
            RunEvent::ToolInputStart { call_id, name, title, app } => {
                // Version 5 has no such fields, and some of its releases end the stream at them.
                let is_known = self.version >= ClientVersion::V7;
                let title = title.as_ref().filter(|_| is_known);
                let app = app.as_ref().filter(|_| is_known).map(|app| BTreeMap::from([("app", app)]));
                self.call_chunk(out, "tool-input-start", call_id, |chunk| {
                    let chunk = chunk.field("toolName", name).some("title", title);
                    chunk.some("toolMetadata", app.as_ref())
                });
            }
            RunEvent::ToolInputDelta { call_id, delta } => {
                self.call_chunk(out, "tool-input-delta", call_id, |chunk| {
                    chunk.field("inputTextDelta", delta)
                });
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, metadata } => {
                self.call_chunk(out, "tool-input-available", call_id, |chunk| {
                    let chunk = chunk.field("toolName", name).json("input", input);
                    state(chunk.flag("providerExecuted", *provider_executed), metadata.as_ref())
                });
            }
            RunEvent::ToolInputError { call_id, name, input, error_text, metadata } => {
                self.call_chunk(out, "tool-input-error", call_id, |chunk| {
                    let chunk = chunk.field("toolName", name).json("input", input);
                    state(chunk.field("errorText", error_text), metadata.as_ref())
                });
            }
            RunEvent::ToolOutput { call_id, output, preliminary, provider_executed } => {
                self.call_chunk(out, "tool-output-available", call_id, |chunk| {
                    let chunk = chunk.json("output", output).flag("providerExecuted", *provider_executed);
                    chunk.flag("preliminary", *preliminary)
                });
            }
            RunEvent::ToolError { call_id, error_text, provider_executed } => {
                self.call_chunk(out, "tool-output-error", call_id, |chunk| {
                    chunk.field("errorText", error_text).flag("providerExecuted", *provider_executed)
                });
            }
            // Version 5 has no approvals, but may read the stream of a run that another client began.
            RunEvent::ToolApprovalRequest(_) if self.version < ClientVersion::V6 => {}
            RunEvent::ToolDenied { call_id, reason } if self.version < ClientVersion::V6 => {
                let error_text = denial(reason.as_deref());
                self.call_chunk(out, "tool-output-error", call_id, |chunk| {
                    chunk.field("errorText", &error_text)
                });
            }
            RunEvent::ToolApprovalRequest(request) => self.approval_request(request, out),
            RunEvent::ToolDenied { call_id, .. } => {
                self.call_chunk(out, "tool-output-denied", call_id, |chunk| chunk);
            }
            RunEvent::ToolRefused { call_id, reason } if self.version >= ClientVersion::V7 => {
                self.automatic_denial(call_id, reason, out);
            }
            RunEvent::ToolRefused { call_id, reason } => {
                self.call_chunk(out, "tool-output-error", call_id, |chunk| chunk.field("errorText", reason));
            }
            RunEvent::OutputSeal { call_id, seal } => self.metadata(&output_seal(call_id, seal), out),
            _ => {}
        }
    }

    fn step_start(&mut self, out: &mut BytesMut) {
        self.last_step = LastStep::NoCalls;
        let kind = if self.literal_step_start { "step-start" } else { "start-step" };
        self.chunk(out, kind, |chunk| chunk);
    }

    /// Writes an empty step after a step with calls. Clients show a step with the next chunk that has content only, and empty
    /// metadata is such a chunk.
    fn end_calls(&mut self, out: &mut BytesMut) {
        if self.last_step != LastStep::NoCalls {
            self.step_start(out);
            self.metadata(&json!({}), out);
        }
    }

    fn call_chunk(
        &mut self,
        out: &mut BytesMut,
        kind: &str,
        call_id: &Text,
        fields: impl FnOnce(ObjectWriter<'_>) -> ObjectWriter<'_>,
    ) {
        self.chunk(out, kind, |chunk| fields(chunk.field("toolCallId", call_id)));
    }

    fn metadata(&mut self, metadata: &impl Serialize, out: &mut BytesMut) {
        self.chunk(out, "message-metadata", |chunk| chunk.field("messageMetadata", metadata));
    }

    /// Writes a request for approval. Only version 7 has a field for the question, and none has one for edits, so both are
    /// sent before it as metadata.
    fn approval_request(&mut self, request: &ApprovalRequest, out: &mut BytesMut) {
        if let Some(question) = approval_question(request) {
            self.metadata(&question, out);
        }
        let reason = request.message.as_ref().filter(|_| self.version >= ClientVersion::V7);
        self.chunk(out, "tool-approval-request", |chunk| {
            let chunk = chunk.field("approvalId", &request.id).field("toolCallId", &request.call_id);
            chunk.some("reason", reason).some("signature", request.signature.as_ref())
        });
    }

    /// Writes a call that was refused without a question as an approval that was denied automatically.
    fn automatic_denial(&mut self, call_id: &Text, reason: &Text, out: &mut BytesMut) {
        let id = ApprovalRequest::id_of(call_id);
        self.chunk(out, "tool-approval-request", |chunk| {
            chunk.field("approvalId", &id).field("toolCallId", call_id).flag("isAutomatic", true)
        });
        self.chunk(out, "tool-approval-response", |chunk| {
            chunk.field("approvalId", &id).field("approved", &false).field("reason", reason)
        });
        self.call_chunk(out, "tool-output-denied", call_id, |chunk| chunk);
    }

    fn source(&mut self, source: &Source, out: &mut BytesMut) {
        match source {
            Source::Url { id, url, title } => self.chunk(out, "source-url", |chunk| {
                chunk.field("sourceId", id).field("url", url).some("title", title.as_ref())
            }),
            Source::Document { id, media_type, title, filename } => {
                self.chunk(out, "source-document", |chunk| {
                    let chunk = chunk.field("sourceId", id).field("mediaType", media_type);
                    chunk.field("title", title).some("filename", filename.as_ref())
                });
            }
        }
    }
}

fn block(chunk: ObjectWriter<'_>, prefix: char, id: BlockId) -> ObjectWriter<'_> {
    chunk.field("id", &format_args!("{prefix}{}", id.0))
}

/// Adds provider state. The client accepts only a map of two levels, so other entries are omitted.
fn state<'a>(chunk: ObjectWriter<'a>, metadata: Option<&ProviderMetadata>) -> ObjectWriter<'a> {
    chunk.some("providerMetadata", metadata.map(provider_state).as_ref())
}

/// Maps a finish reason to a value that versions 5, 6 and 7 accept. The client fails at any other.
fn finish_reason(reason: &FinishReason, version: ClientVersion) -> &str {
    match reason {
        // Older versions refuse a chunk with this value.
        FinishReason::Interrupted if version < ClientVersion::V7 => "error",
        // The AI SDK's providers report a refusal with this value, so a UI can distinguish it from a complete answer.
        FinishReason::Refusal => "content-filter",
        FinishReason::Pause | FinishReason::Other(_) => "other",
        reason => reason.as_str(),
    }
}
