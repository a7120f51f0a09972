use std::collections::HashSet;

use bytes::BytesMut;
use serde::Serialize;

use super::answer::{CallObject, Choice, Said, ServerTool, finish_reason};
use super::{AnswerHead, ErrorObject, usage};
use crate::dialect::json_write::ObjectWriter;
use crate::dialect::text_flow::TextFlow;
use crate::event::{ComponentEvent, FinishReason, RunErrorCode};
use crate::{JsonText, RunEvent, Text, Usage};

/// Collects a run into one `chat.completion`.
///
/// The content is that of the [`Encoder`](super::Encoder), with two differences. It contains only valid calls. The text
/// of a refusal is the message's `refusal`, with the content null.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    caller_tools: HashSet<Text>,
    reasoning: Option<String>,
    server_tools: Option<Vec<ServerTool>>,
    flow: TextFlow,
    content: String,
    calls: Vec<(Text, Text, JsonText)>,
    has_run_tools: bool,
    end: End,
}

#[derive(Debug, Clone, Default)]
enum End {
    /// The run has not ended.
    #[default]
    Open,
    Finish(FinishReason, Usage),
    Failed(ErrorObject),
}

impl Completion {
    /// Returns an empty answer. `caller_tools` names the tools that the caller runs.
    pub fn new(caller_tools: impl IntoIterator<Item = Text>) -> Self {
        Self { caller_tools: caller_tools.into_iter().collect(), ..Self::default() }
    }

    /// Sets whether the message contains the model's reasoning, as `reasoning_content`. Default: `false`.
    #[must_use]
    pub fn reasoning(mut self, reasoning: bool) -> Self {
        self.reasoning = reasoning.then(String::new);
        self
    }

    /// Sets whether calls of server tools are reported, in a field `omniassist` of `{"tools": [{"id", "name", "input",
    /// "output" or "error"}]}`. Default: `false`.
    #[must_use]
    pub fn server_tools(mut self, server_tools: bool) -> Self {
        self.server_tools = server_tools.then(Vec::new);
        self
    }

    /// Applies the next event.
    pub fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::StepStart => self.flow.step(),
            RunEvent::TextDelta { delta, .. } => self.text(delta),
            RunEvent::Component(event) => {
                if let ComponentEvent::Text { text, .. } = &**event {
                    self.flow.step();
                    self.text(text);
                    self.flow.step();
                }
            }
            RunEvent::ReasoningDelta { delta, .. } => {
                if let Some(reasoning) = &mut self.reasoning {
                    reasoning.push_str(delta);
                }
            }
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if self.caller_tools.contains(name) =>
            {
                self.calls.push((call_id.clone(), name.clone(), input.clone()));
            }
            RunEvent::ToolInputError { name, .. } if self.caller_tools.contains(name) => {}
            RunEvent::Finish { reason: FinishReason::Error | FinishReason::Interrupted, .. } => {
                self.end = End::Failed(ErrorObject::of(RunErrorCode::ProviderError));
            }
            RunEvent::Finish { reason, usage } => self.end = End::Finish(reason.clone(), *usage),
            RunEvent::Error { code, message } => {
                self.end = End::Failed(ErrorObject::of_event(*code, message));
            }
            RunEvent::Abort { .. } => self.end = End::Failed(ErrorObject::stopped()),
            event => {
                if let Some(tool) = ServerTool::of(event).filter(|tool| !tool.preliminary) {
                    self.server_tool(event, tool);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.content.push_str(self.flow.separator(text));
        self.content.push_str(text);
    }

    fn server_tool(&mut self, event: &RunEvent, tool: ServerTool) {
        self.has_run_tools |= matches!(event, RunEvent::ToolOutput { .. } | RunEvent::ToolError { .. });
        let Some(tools) = &mut self.server_tools else { return };
        if tool.name.is_some() {
            tools.push(tool);
        } else if let Some(known) = tools.iter_mut().rev().find(|known| known.id == tool.id) {
            (known.output, known.error) = (tool.output, tool.error);
        }
    }

    /// Returns the error if there is no answer: the run failed, was stopped, or has not ended.
    #[must_use]
    pub fn failure(&self) -> Option<ErrorObject> {
        match &self.end {
            End::Finish(..) => None,
            End::Failed(error) => Some(error.clone()),
            End::Open => Some(ErrorObject::of(RunErrorCode::Internal)),
        }
    }

    /// Returns `true` if a server tool has run. Sending the same request again may then run it again.
    #[must_use]
    pub fn has_run_tools(&self) -> bool {
        self.has_run_tools
    }

    /// Appends the answer as a JSON document. Appends nothing if there is a [`failure`](Self::failure).
    pub fn write(&self, head: &AnswerHead, out: &mut BytesMut) {
        let End::Finish(reason, used) = &self.end else { return };
        let refused = *reason == FinishReason::Refusal;
        let content = Some(self.content.as_str());
        let calls = self.calls.iter().map(|(id, name, input)| CallObject::new(id, name, input.as_str()));
        let calls: Vec<_> = calls.collect();
        let said = Said {
            // If there are calls, empty content is null instead of an empty string.
            content: Some(content.filter(|text| !refused && (calls.is_empty() || !text.is_empty()))),
            refusal: Some(content.filter(|_| refused)),
            reasoning_content: self.reasoning.as_deref().filter(|reasoning| !reasoning.is_empty()),
            tool_calls: &calls,
            ..Said::assistant()
        };
        // In this API, a refusal ends with the normal finish reason.
        let word = if refused { "stop" } else { finish_reason(reason, !calls.is_empty()) };
        let tools = self.server_tools.as_ref().filter(|tools| !tools.is_empty());
        head.open("chat.completion", out);
        ObjectWriter::after(out, b"")
            .field("choices", &[Choice::message(said, word)])
            .some("usage", usage::of(used).as_ref())
            .some("omniassist", tools.map(|tools| OwnField { tools }).as_ref())
            .end();
    }
}

/// The field that this server adds for calls of server tools.
#[derive(Serialize)]
struct OwnField<'a> {
    tools: &'a [ServerTool],
}
