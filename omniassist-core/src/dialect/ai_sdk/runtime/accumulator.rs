use serde_json::{Map, Value};

use super::flow::{flow_status, node_output};
use super::out::Opening;
use super::parts::{PartKind, Parts};
use super::tools::Tools;
use super::{
    AgentRun, FlowStatus, PartState, RuntimeEvent, SkipReason, Skipped, ToolReport, ToolState,
    TransportOptions,
};
use crate::event::{EventBuf, FinishReason, RunErrorCode};
use crate::{JsonText, Message, RunEvent, Text, Usage};

/// One message in the making: takes a runtime's events and gives those of a run.
///
/// One per stream. What it gives is in order whatever it takes: a part is opened before anything is written to it and
/// closed before another one of the same agent begins, an output follows its call, and the message begins and ends
/// once. See the [module](super) for what becomes of each event.
///
/// The one thing that the events of a run do not allow: with [`TransportOptions::end_at_error`] off, more may follow
/// an [`RunEvent::Error`].
#[derive(Debug, Clone)]
pub struct MessageAccumulator {
    options: TransportOptions,
    opening: Opening,
    parts: Parts,
    tools: Tools,
    /// The node of the step that is open.
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
    /// Begins a message. Its id must be unique within the chat.
    #[must_use]
    pub fn new(message_id: impl Into<Text>, options: &TransportOptions) -> Self {
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

    /// Goes on with a message that the client posted as the last one: under its id, and with ids for its tool calls
    /// that it does not have yet.
    #[must_use]
    pub fn continuing(message: &Message, options: &TransportOptions) -> Self {
        Self { tools: Tools::continuing(message), ..Self::new(message.id.clone(), options) }
    }

    /// The id of the message.
    #[must_use]
    pub fn message_id(&self) -> &Text {
        &self.opening.message_id
    }

    /// Whether the beginning of the message was written.
    #[must_use]
    pub fn has_emitted_start(&self) -> bool {
        self.opening.emitted
    }

    /// How far its text is.
    #[must_use]
    pub fn text_state(&self) -> PartState {
        self.parts.state(PartKind::Text)
    }

    /// How far its reasoning is.
    #[must_use]
    pub fn reasoning_state(&self) -> PartState {
        self.parts.state(PartKind::Reasoning)
    }

    /// Its tool calls, in the order in which they began.
    pub fn tool_states(&self) -> impl Iterator<Item = &ToolState> {
        self.tools.states()
    }

    /// The tool call with this id on the wire.
    #[must_use]
    pub fn tool_state(&self, tool_call_id: &str) -> Option<&ToolState> {
        self.tool_states().find(|tool| tool.tool_call_id == *tool_call_id)
    }

    /// Whether the message is over: there is nothing more to be had from the runtime.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes an event as JSON, and appends what comes of it to `out`.
    ///
    /// # Errors
    ///
    /// When nothing comes of it; the message goes on.
    pub fn apply_json(&mut self, json: impl Into<Text>, out: &mut EventBuf<RunEvent>) -> Result<(), Skipped> {
        self.apply(RuntimeEvent::parse(json)?, out)
    }

    /// Takes an event, and appends what comes of it to `out`.
    ///
    /// # Errors
    ///
    /// When nothing comes of it; the message goes on. An event that the options leave out is not an error.
    pub fn apply(&mut self, event: RuntimeEvent, out: &mut EventBuf<RunEvent>) -> Result<(), Skipped> {
        let event_type = event.event_type();
        let skipped = |reason| Skipped::new(reason).of(Text::from_static(event_type));
        if self.closed {
            return Err(skipped(SkipReason::AfterTheEnd));
        }
        match event {
            RuntimeEvent::TextDelta { agent, content } => {
                self.parts.delta(&agent, PartKind::Text, content, &mut self.opening.out(out));
            }
            RuntimeEvent::Text { agent, content } => {
                self.parts.complete(&agent, PartKind::Text, content, &mut self.opening.out(out));
            }
            RuntimeEvent::ThinkingDelta { .. } | RuntimeEvent::Thinking { .. }
                if !self.options.send_reasoning => {}
            RuntimeEvent::ThinkingDelta { agent, content } => {
                self.parts.delta(&agent, PartKind::Reasoning, content, &mut self.opening.out(out));
            }
            RuntimeEvent::Thinking { agent, content } => {
                self.parts.complete(&agent, PartKind::Reasoning, content, &mut self.opening.out(out));
            }
            RuntimeEvent::Tool { agent, report } => {
                self.tool(agent, report, out).map_err(skipped)?;
            }
            RuntimeEvent::Error { agent, message, error_type } => {
                self.parts.close(&agent, &mut self.opening.out(out));
                self.error(RunErrorCode::Internal, message, error_type, out);
            }
            RuntimeEvent::Complete { agent, usage } => self.complete(&agent, &usage, out),
            RuntimeEvent::Paused { agent } => self.paused(&agent, out),
            RuntimeEvent::Aborted { reason, .. } => {
                self.end_with_error(RunErrorCode::StreamInterrupted, reason, None, out);
            }
            RuntimeEvent::NodeStart { node_id, run_id } => self.node_start(node_id, run_id, out),
            RuntimeEvent::NodeComplete { node_id, run_id, output } => {
                self.node_complete(&node_id, run_id.as_ref(), &output, out);
            }
            RuntimeEvent::FlowStart { flow_name } => self.flow(FlowStatus::Running, Some(flow_name), out),
            RuntimeEvent::FlowPaused { flow_name } => {
                self.flow(FlowStatus::Paused, flow_name, out);
                if self.options.until_flow_ends {
                    self.finish(paused(), out);
                }
            }
            RuntimeEvent::FlowComplete { flow_name, status } => {
                self.flow(status, flow_name, out);
                self.finish(
                    match status {
                        FlowStatus::Aborted => FinishReason::Error,
                        FlowStatus::Paused => paused(),
                        _ => FinishReason::Stop,
                    },
                    out,
                );
            }
        }
        Ok(())
    }

    /// Ends the message though the runtime did not: it says nothing more, or cannot be reached. At least one event is
    /// appended to `out`, an error with this code that says nothing of the cause; nothing, if the message is over.
    pub fn fail(&mut self, code: RunErrorCode, out: &mut EventBuf<RunEvent>) {
        if self.failed && !self.closed {
            self.finish(FinishReason::Error, out);
        } else if !self.closed {
            self.end_with_error(code, None, None, out);
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

    fn paused(&mut self, agent: &AgentRun, out: &mut EventBuf<RunEvent>) {
        if self.options.until_flow_ends {
            self.parts.close(agent, &mut self.opening.out(out));
        } else {
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

    /// Closes all parts, and the step that is open: clients take nothing for a part from before the end of its step.
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

    fn error(
        &mut self,
        code: RunErrorCode,
        message: Option<Text>,
        error_type: Option<Text>,
        out: &mut EventBuf<RunEvent>,
    ) {
        if self.options.end_at_error {
            return self.end_with_error(code, message, error_type, out);
        }
        self.failed = true;
        self.write_error(code, message, error_type, out);
    }

    fn end_with_error(
        &mut self,
        code: RunErrorCode,
        message: Option<Text>,
        error_type: Option<Text>,
        out: &mut EventBuf<RunEvent>,
    ) {
        self.end_step(&FinishReason::Error, out);
        self.write_error(code, message, error_type, out);
        self.closed = true;
    }

    fn write_error(
        &mut self,
        code: RunErrorCode,
        message: Option<Text>,
        error_type: Option<Text>,
        out: &mut EventBuf<RunEvent>,
    ) {
        let mut out = self.opening.out(out);
        if let Some(error_type) = error_type {
            let error_type: Map<_, _> =
                [("type".to_owned(), Value::from(error_type.as_str()))].into_iter().collect();
            out.push(RunEvent::Metadata([("error".to_owned(), error_type.into())].into_iter().collect()));
        }
        let message = message.filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| Text::from_static(code.safe_message()));
        out.push(RunEvent::Error { code, message });
    }
}

fn paused() -> FinishReason {
    FinishReason::Other(Text::from_static("paused"))
}
