//! Conversion of run events into protocol events.

use bytes::BytesMut;
use serde_json::{Map, Value, json};

use super::encoder::{Block, Call, Encoder, Progress, Stage};
use super::frame::{self, encrypted};
use super::outcome::{self, Ask, Interrupted, Outcome};
use super::view::{self, Progressing, custom};
use crate::dialect::DialectEncoder;
use crate::dialect::ag_ui::Version;
use crate::dialect::ag_ui::client_state::{self, ResultKind};
use crate::event::{BlockId, FinishReason, RunErrorCode, Usage};
use crate::message::{OWN_KEY, ProviderMetadata};
use crate::{RunEvent, Text};

impl Encoder {
    fn start(&mut self, message_id: &Text, metadata: Option<&Map<String, Value>>, out: &mut BytesMut) {
        if self.stage == Stage::Fresh {
            self.run_started(out);
        }
        if self.answer.is_empty() {
            self.answer = message_id.clone();
            if *message_id == self.continuation.answer {
                self.named = self.continuation.named;
                self.step = self.continuation.step;
                self.next = self.continuation.next;
            }
        }
        if let Some(metadata) = metadata {
            custom(out, "omniassist.metadata", metadata);
        }
    }

    pub(super) fn run_started(&mut self, out: &mut BytesMut) {
        self.stage = Stage::Running;
        let version = (self.version >= Version::V1).then_some("1.0");
        frame::write(out, "RUN_STARTED", |object| {
            object
                .field("threadId", &self.thread_id)
                .field("runId", &self.run_id)
                .some("protocolVersion", version)
                .some("parentRunId", self.parent_run_id.as_deref())
        });
    }

    fn other(&mut self, event: &RunEvent, out: &mut BytesMut) {
        match event {
            RunEvent::StepStart => self.step_start(out),
            RunEvent::StepReset => self.reset_step(out),
            RunEvent::StepFinish { usage, .. } => {
                self.usage.add(usage);
                self.close_step(out);
            }
            RunEvent::TextStart { id } => self.open_text(*id, out),
            RunEvent::ReasoningStart { id } => self.open_reasoning(*id, out),
            RunEvent::TextEnd { id, metadata } | RunEvent::ReasoningEnd { id, metadata } => {
                self.close_block(*id, metadata.as_ref(), out);
            }
            RunEvent::ToolInputStart { call_id, name, .. } => self.open_call(call_id, name, out),
            RunEvent::ToolInputDelta { call_id, delta } => self.arguments(call_id, delta, out),
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed, metadata } => {
                self.open_call(call_id, name, out);
                self.close_call(call_id, Some(input), *provider_executed, metadata.as_ref(), out);
            }
            RunEvent::ToolInputError { call_id, name, input, error_text, metadata } => {
                self.open_call(call_id, name, out);
                self.close_call(call_id, Some(input), false, metadata.as_ref(), out);
                self.result(call_id, error_text, ResultKind::Error, out);
            }
            RunEvent::ToolOutput { call_id, output, preliminary: true, .. } => {
                custom(out, "omniassist.tool-progress", &Progressing { tool_call_id: call_id, output });
            }
            RunEvent::ToolOutput { call_id, output, .. } => {
                self.result(call_id, &client_state::text_of(output), ResultKind::Output, out);
            }
            RunEvent::ToolError { call_id, error_text, .. }
            | RunEvent::ToolRefused { call_id, reason: error_text } => {
                self.result(call_id, error_text, ResultKind::Error, out);
            }
            RunEvent::ToolDenied { call_id, reason } => {
                let reason = reason.as_deref().unwrap_or(client_state::DENIED);
                self.result(call_id, reason, ResultKind::Denied, out);
            }
            RunEvent::ToolApprovalRequest(request) => self.ask(Ask::Approval(request.clone()), out),
            RunEvent::InputRequest(request) => self.ask(Ask::Form(request.clone()), out),
            RunEvent::OutputSeal { call_id, seal } => self.seal(call_id, seal, out),
            RunEvent::AgentState(state) => self.agent_state(state, out),
            RunEvent::AgentDelta { agent_id, delta } => self.agent_delta(agent_id, delta, out),
            RunEvent::Finish { reason, usage } => self.run_finished(reason, usage, out),
            RunEvent::Error { code, message } => self.error(code.as_str(), message, out),
            RunEvent::Abort { reason } => self.aborted(reason, out),
            event => view::write(event, out),
        }
    }

    fn step_start(&mut self, out: &mut BytesMut) {
        self.settle_forms(out);
        self.close_step(out);
        self.step = self.step.saturating_add(1);
        self.step_is_open = true;
        self.write_step_start(out);
    }

    pub(super) fn write_step_start(&self, out: &mut BytesMut) {
        frame::write(out, "STEP_STARTED", |object| object.field("stepName", &self.step_name()));
    }

    fn close_step(&mut self, out: &mut BytesMut) {
        self.host = None;
        if std::mem::take(&mut self.step_is_open) {
            frame::write(out, "STEP_FINISHED", |object| object.field("stepName", &self.step_name()));
        }
    }

    fn step_name(&self) -> String {
        format!("step-{}", self.step)
    }

    fn open_text(&mut self, id: BlockId, out: &mut BytesMut) {
        self.close_block(id, None, out);
        let message_id = self.assistant_id();
        let head = frame::delta_head("TEXT_MESSAGE_CONTENT", &message_id);
        self.host = Some(message_id.clone());
        let block = Block { id, is_reasoning: false, message_id, head };
        block.start(out);
        self.blocks.push(block);
    }

    fn open_reasoning(&mut self, id: BlockId, out: &mut BytesMut) {
        self.close_block(id, None, out);
        let message_id = self.further_id();
        let head = frame::delta_head("REASONING_MESSAGE_CONTENT", &message_id);
        // A following call belongs after the reasoning, not to the message before it.
        self.host = None;
        let block = Block { id, is_reasoning: true, message_id, head };
        block.start(out);
        self.blocks.push(block);
    }

    fn close_block(&mut self, id: BlockId, state: Option<&ProviderMetadata>, out: &mut BytesMut) {
        let Some(index) = self.blocks.iter().position(|block| block.id == id) else { return };
        let block = self.blocks.remove(index);
        let message_id = &block.message_id;
        let kind = if block.is_reasoning { "REASONING_MESSAGE_END" } else { "TEXT_MESSAGE_END" };
        frame::write(out, kind, |object| object.field("messageId", message_id));
        encrypted(out, "message", message_id, state);
        if block.is_reasoning {
            frame::write(out, "REASONING_END", |object| object.field("messageId", message_id));
        }
    }

    pub(super) fn close_blocks(&mut self, out: &mut BytesMut) {
        while let Some(block) = self.blocks.first() {
            self.close_block(block.id, None, out);
        }
    }

    /// Closes all open items. Calls with incomplete arguments get a result, so that the client does not execute them.
    /// If the run was stopped, so do all waiting calls.
    fn close_all(&mut self, stopped: bool, out: &mut BytesMut) {
        self.settle_forms(out);
        self.close_agents(out);
        self.close_blocks(out);
        let unanswered = |call: &Call| match call.progress {
            Progress::Open => Some((call.id.clone(), ResultKind::Cut)),
            Progress::Whole if stopped || call.provider_executed => {
                Some((call.id.clone(), ResultKind::Interrupted))
            }
            _ => None,
        };
        for (call_id, kind) in self.calls.iter().filter_map(unanswered).collect::<Vec<_>>() {
            self.result(&call_id, client_state::INTERRUPTED, kind, out);
        }
        self.close_step(out);
        self.stage = Stage::Ended;
    }

    fn run_finished(&mut self, reason: &FinishReason, usage: &Usage, out: &mut BytesMut) {
        self.close_all(false, out);
        let pending = self.calls.iter().filter(|call| call.progress == Progress::Whole);
        let pending_tool_call_ids: Vec<&Text> = pending.map(|call| &call.id).collect();
        let outcome = if !self.asks.is_empty() {
            let interrupts = self.asks.iter().map(|ask| Interrupted { ask, version: self.version });
            Some(Outcome::Interrupt { interrupts: interrupts.collect() })
        } else if !pending_tool_call_ids.is_empty() && self.version >= Version::V1 {
            Some(Outcome::Success { pending_tool_call_ids })
        } else {
            None
        };
        let notes = json!({ OWN_KEY: { "finishReason": reason.as_str() } });
        self.finished(outcome.as_ref(), usage, &notes, out);
    }

    fn finished(&self, outcome: Option<&Outcome<'_>>, usage: &Usage, notes: &Value, out: &mut BytesMut) {
        frame::write(out, "RUN_FINISHED", |object| {
            object
                .field("threadId", &self.thread_id)
                .field("runId", &self.run_id)
                .some("outcome", outcome)
                .some("usage", outcome::usage(usage, self.version).as_ref())
                .field("metadata", notes)
        });
    }

    fn error(&mut self, code: &str, message: &str, out: &mut BytesMut) {
        self.close_all(false, out);
        self.run_error(code, message, out);
    }

    fn run_error(&self, code: &str, message: &str, out: &mut BytesMut) {
        let usage = outcome::usage(&self.usage, self.version);
        frame::write(out, "RUN_ERROR", |object| {
            object.field("message", message).field("code", code).some("usage", usage.as_ref())
        });
    }

    fn aborted(&mut self, reason: &str, out: &mut BytesMut) {
        self.close_all(true, out);
        let is_new = self.version >= Version::V1;
        // A client keeps the interrupts of a resumed run until a run finishes, and sends no other request before.
        if is_new || !self.continuation.settled.is_empty() {
            let notes = json!({ OWN_KEY: { "abortReason": reason } });
            let outcome = is_new.then_some(Outcome::Cancelled);
            return self.finished(outcome.as_ref(), &self.usage, &notes, out);
        }
        let message = if reason.trim().is_empty() { "The run was stopped." } else { reason };
        self.run_error("STOPPED", message, out);
    }
}

impl DialectEncoder for Encoder {
    fn encode(&mut self, event: &RunEvent, out: &mut BytesMut) {
        if self.stage == Stage::Ended {
            return;
        }
        let start = out.len();
        match event {
            RunEvent::TextDelta { id, delta } | RunEvent::ReasoningDelta { id, delta } => {
                if let Some(block) = self.blocks.iter().find(|block| block.id == *id) {
                    frame::delta(out, &block.head, delta);
                }
            }
            RunEvent::Start { message_id, metadata } => self.start(message_id, metadata.as_ref(), out),
            event => {
                if self.stage == Stage::Fresh {
                    self.run_started(out);
                }
                self.other(event, out);
            }
        }
        // What agents write is not part of the conversation.
        let is_agents = matches!(event, RunEvent::AgentState(_) | RunEvent::AgentDelta { .. });
        if self.copy.is_some() && !is_agents {
            self.copy_frames(event, start, out);
        }
    }

    fn finish(&mut self, out: &mut BytesMut) {
        if self.stage != Stage::Ended {
            let code = RunErrorCode::StreamInterrupted;
            self.error(code.as_str(), code.safe_message(), out);
        }
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }
}
