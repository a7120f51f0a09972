use serde_json::{Map, Value};

use super::flow::{flow_status, node_output};
use super::out::Opening;
use super::parts::Parts;
use super::tools::Tools;
use super::{
    AgentEvent, AgentRun, BridgeOptions, FlowStatus, PartState, SkipReason, Skipped, ToolCallState,
    ToolReport,
};
use crate::event::{BlockKind, EventBuf, FinishReason, RunErrorCode};
use crate::{JsonText, Message, RunEvent, Text, Usage};

/// Converts the events of an agent runtime into the run events of one message.
///
/// Each stream needs a separate one. The order of the run events is valid for any input: a part starts before its
/// deltas and ends before the next part of the same agent, an output follows its call, and the message starts and ends
/// once. The [module](super) lists the result of each event.
///
/// There is one exception. If [`BridgeOptions::end_at_error`] is off, events can follow a [`RunEvent::Error`].
#[derive(Debug, Clone)]
pub struct MessageAccumulator {
    options: BridgeOptions,
    opening: Opening,
    parts: Parts,
    tools: Tools,
    /// The node of the open step.
    step: Option<Node>,
    flow_name: Text,
    step_usage: Usage,
    usage: Usage,
    failed: bool,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Node {
    node_id: Text,
    run_id: Option<Text>,
}

impl MessageAccumulator {
    /// Creates an accumulator for a new message. The id must be unique within the chat.
    #[must_use]
    pub fn new(message_id: impl Into<Text>, options: &BridgeOptions) -> Self {
        Self {
            options: options.clone(),
            opening: Opening { message_id: message_id.into(), emitted: false },
            parts: Parts::default(),
            tools: Tools::default(),
            step: None,
            flow_name: Text::new(),
            step_usage: Usage::default(),
            usage: Usage::default(),
            failed: false,
            closed: false,
        }
    }

    /// Creates an accumulator that continues the last message of a posted conversation. New tool calls get ids that
    /// the message does not contain.
    #[must_use]
    pub fn continuing(message: &Message, options: &BridgeOptions) -> Self {
        Self { tools: Tools::continuing(message), ..Self::new(message.id.clone(), options) }
    }

    /// Returns the id of the message.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        &self.opening.message_id
    }

    /// Returns `true` if the start event was written.
    #[must_use]
    pub fn has_emitted_start(&self) -> bool {
        self.opening.emitted
    }

    /// Returns the state of the message's text.
    #[must_use]
    pub fn text_state(&self) -> PartState {
        self.parts.state(BlockKind::Text)
    }

    /// Returns the state of the message's reasoning.
    #[must_use]
    pub fn reasoning_state(&self) -> PartState {
        self.parts.state(BlockKind::Reasoning)
    }

    /// Returns the tool calls, in the order in which they began.
    pub fn tool_states(&self) -> impl Iterator<Item = &ToolCallState> {
        self.tools.states()
    }

    /// Returns the tool call with this id on the wire.
    #[must_use]
    pub fn tool_state(&self, tool_call_id: &str) -> Option<&ToolCallState> {
        self.tool_states().find(|tool| tool.tool_call_id == *tool_call_id)
    }

    /// Returns `true` if the message is complete. Further events of the runtime are ignored.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Parses an event from JSON, applies it, and appends the resulting run events to `out`.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is skipped. The message continues.
    pub fn apply_json(&mut self, json: impl Into<Text>, out: &mut EventBuf<RunEvent>) -> Result<(), Skipped> {
        self.apply(AgentEvent::parse(json)?, out)
    }

    /// Applies an event, and appends the resulting run events to `out`.
    ///
    /// # Errors
    ///
    /// Fails if the event is skipped. The message continues. An event that the options exclude is not an error.
    pub fn apply(&mut self, event: AgentEvent, out: &mut EventBuf<RunEvent>) -> Result<(), Skipped> {
        let event_type = event.event_type();
        let skipped = |reason| Skipped::new(reason).of(Text::from_static(event_type));
        if self.closed {
            return Err(skipped(SkipReason::AfterTheEnd));
        }
        match event {
            AgentEvent::TextDelta { agent, content } => {
                self.parts.delta(&agent, BlockKind::Text, content, &mut self.opening.out(out));
            }
            AgentEvent::Text { agent, content } => {
                self.parts.complete(&agent, BlockKind::Text, content, &mut self.opening.out(out));
            }
            AgentEvent::ThinkingDelta { .. } | AgentEvent::Thinking { .. }
                if !self.options.send_reasoning => {}
            AgentEvent::ThinkingDelta { agent, content } => {
                self.parts.delta(&agent, BlockKind::Reasoning, content, &mut self.opening.out(out));
            }
            AgentEvent::Thinking { agent, content } => {
                self.parts.complete(&agent, BlockKind::Reasoning, content, &mut self.opening.out(out));
            }
            AgentEvent::Tool { agent, report } => {
                self.tool(agent, report, out).map_err(skipped)?;
            }
            AgentEvent::Error { agent, message, error_type } => {
                self.parts.close(&agent, &mut self.opening.out(out));
                let ends = self.options.end_at_error;
                if ends {
                    self.end_step(&FinishReason::Error, out);
                }
                if let Some(error_type) = error_type {
                    self.opening.out(out).push(metadata("error", "type", &error_type));
                }
                self.error(RunErrorCode::Internal, message, out);
                (self.closed, self.failed) = (ends, true);
            }
            AgentEvent::Complete { agent, usage } => self.complete(&agent, &usage, out),
            AgentEvent::Paused { agent, session_id } => self.paused(&agent, session_id, out),
            AgentEvent::Aborted { reason, .. } => {
                self.end_with_error(RunErrorCode::StreamInterrupted, reason, out);
            }
            AgentEvent::NodeStart { node_id, run_id } => self.node_start(node_id, run_id, out),
            AgentEvent::NodeComplete { node_id, run_id, output } => {
                self.node_complete(&node_id, run_id.as_ref(), &output, out);
            }
            AgentEvent::FlowStart { flow_name } => self.flow(FlowStatus::Running, Some(flow_name), out),
            AgentEvent::FlowPaused { flow_name } => {
                self.flow(FlowStatus::Paused, flow_name, out);
                if self.options.until_flow_ends {
                    self.finish(paused(), out);
                }
            }
            AgentEvent::FlowComplete { flow_name, status } => {
                self.flow(status, flow_name, out);
                let reason = match status {
                    FlowStatus::Aborted => FinishReason::Error,
                    FlowStatus::Paused => paused(),
                    _ => FinishReason::Stop,
                };
                self.finish(reason, out);
            }
        }
        Ok(())
    }

    /// Ends the message because the runtime stopped sending events or cannot be reached. Appends an error with this
    /// code to `out`; its text does not contain the cause. Does nothing if the message is complete.
    pub fn fail(&mut self, code: RunErrorCode, out: &mut EventBuf<RunEvent>) {
        if self.failed && !self.closed {
            self.finish(FinishReason::Error, out);
        } else if !self.closed {
            self.end_with_error(code, None, out);
        }
    }
}

impl MessageAccumulator {
    fn tool(
        &mut self,
        agent: AgentRun,
        report: ToolReport,
        out: &mut EventBuf<RunEvent>,
    ) -> Result<(), SkipReason> {
        let place = self.tools.place(&agent, &report)?;
        let message_id = self.opening.message_id.clone();
        let mut out = self.opening.out(out);
        self.parts.close(&agent, &mut out);
        self.tools.take(place, agent, report, &message_id, &mut out);
        Ok(())
    }

    fn complete(&mut self, agent: &AgentRun, usage: &Usage, out: &mut EventBuf<RunEvent>) {
        self.usage.add(usage);
        self.step_usage.add(usage);
        if self.options.until_flow_ends {
            self.parts.end(&agent.node_id, Some(&agent.run_id), &mut self.opening.out(out));
        } else {
            self.finish(FinishReason::Stop, out);
        }
    }

    fn paused(&mut self, agent: &AgentRun, session_id: Option<Text>, out: &mut EventBuf<RunEvent>) {
        let mut writer = self.opening.out(out);
        self.parts.close(agent, &mut writer);
        if let Some(session_id) = session_id {
            writer.push(metadata("paused", "sessionId", &session_id));
        }
        if !self.options.until_flow_ends {
            self.finish(paused(), out);
        }
    }

    fn node_start(&mut self, node_id: Text, run_id: Option<Text>, out: &mut EventBuf<RunEvent>) {
        if !self.options.send_step_markers {
            return;
        }
        self.end_step(&FinishReason::Stop, out);
        self.opening.out(out).push(RunEvent::StepStart);
        self.step = Some(Node { node_id, run_id });
    }

    fn node_complete(
        &mut self,
        node_id: &Text,
        run_id: Option<&Text>,
        output: &JsonText,
        out: &mut EventBuf<RunEvent>,
    ) {
        let mut writer = self.opening.out(out);
        self.parts.end(node_id, run_id, &mut writer);
        if self.options.send_node_outputs {
            writer.push(node_output(node_id, run_id, output));
        }
        let is_step = |step: &Node| {
            let same_run = run_id.zip(step.run_id.as_ref()).is_none_or(|(run_id, of_step)| run_id == of_step);
            step.node_id == *node_id && same_run
        };
        if self.step.as_ref().is_some_and(is_step) {
            self.end_step(&FinishReason::Stop, out);
        }
    }

    fn flow(&mut self, status: FlowStatus, flow_name: Option<Text>, out: &mut EventBuf<RunEvent>) {
        if let Some(flow_name) = flow_name {
            self.flow_name = flow_name;
        }
        if self.options.send_flow_metadata {
            let mut out = self.opening.out(out);
            self.parts.close_all(&mut out);
            out.push(flow_status(status, &self.flow_name));
        }
    }

    /// Closes all parts, and the open step. Clients accept nothing more for a part after the end of its step.
    fn end_step(&mut self, reason: &FinishReason, out: &mut EventBuf<RunEvent>) {
        let mut out = self.opening.out(out);
        self.parts.close_all(&mut out);
        if self.step.take().is_some() {
            let usage = std::mem::take(&mut self.step_usage);
            out.push(RunEvent::StepFinish { reason: reason.clone(), usage });
        }
    }

    fn finish(&mut self, reason: FinishReason, out: &mut EventBuf<RunEvent>) {
        let reason = if self.failed { FinishReason::Error } else { reason };
        self.end_step(&reason, out);
        self.opening.out(out).push(RunEvent::Finish { reason, usage: self.usage });
        self.closed = true;
    }

    fn end_with_error(&mut self, code: RunErrorCode, message: Option<Text>, out: &mut EventBuf<RunEvent>) {
        self.end_step(&FinishReason::Error, out);
        self.error(code, message, out);
        self.closed = true;
    }

    fn error(&mut self, code: RunErrorCode, message: Option<Text>, out: &mut EventBuf<RunEvent>) {
        let message = message.filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| Text::from_static(code.safe_message()));
        self.opening.out(out).push(RunEvent::Error { code, message });
    }
}

/// Returns the event that sets `{key: {field: value}}` in the message's metadata.
fn metadata(key: &str, field: &str, value: &Text) -> RunEvent {
    let inner = Map::from_iter([(field.to_owned(), Value::from(value.as_str()))]);
    RunEvent::Metadata(Map::from_iter([(key.to_owned(), inner.into())]))
}

fn paused() -> FinishReason {
    FinishReason::Other(Text::from_static("paused"))
}
