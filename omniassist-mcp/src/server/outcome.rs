use futures_util::StreamExt as _;
use omniassist_server::Run;
use omniassist_server::core::event::ComponentEvent;
use omniassist_server::core::message::{MessageCollector, ToolState};
use omniassist_server::core::{JsonText, Message, RunEvent, Text};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::attachments::Attached;
use super::progress::Progress;
use super::question::Question;

/// The error of a call that ended without one.
const NO_RESULT: &str = "The call ended without a result.";

/// The end of the run of a call.
pub(super) struct Outcome {
    message: Message,
    /// The questions of the calls that are still open.
    questions: Vec<Question>,
    /// The error of a run that failed.
    failure: Option<Text>,
    /// The texts of the components that the run has shown.
    shown: Vec<Text>,
}

impl Outcome {
    /// Reads a run to its end, and reports its steps. `continued` is the message that it goes on with.
    pub(super) async fn read(mut run: Run, continued: Option<Message>, mut progress: Progress) -> Self {
        let mut collector = continued.map_or_else(MessageCollector::new, MessageCollector::continuing);
        let (mut questions, mut failure, mut shown) = (Vec::new(), None, Vec::new());
        while let Some(event) = run.next().await {
            collector.apply(&event);
            questions.extend(Question::of(&event));
            match event {
                RunEvent::StepStart => progress.step().await,
                RunEvent::ToolOutput { output, preliminary: true, .. } => progress.output(&output).await,
                RunEvent::Component(event) => {
                    if let ComponentEvent::Text { text, .. } = *event {
                        shown.push(text);
                    }
                }
                RunEvent::Error { message, .. } => failure = Some(message),
                RunEvent::Abort { reason } => failure = Some(reason),
                _ => {}
            }
        }
        Self { message: collector.into_message(), questions, failure, shown }
    }

    /// Returns the questions that the user has to answer before there is a result.
    pub(super) fn questions(&self) -> &[Question] {
        if self.failure.is_some() { &[] } else { &self.questions }
    }

    pub(super) fn into_message(self) -> Message {
        self.message
    }

    /// Returns the result of the call of a tool, which is the first of the message, with its attachments.
    pub(super) fn of_tool(&self, attached: &Attached) -> CallToolResult {
        if let Some(failure) = &self.failure {
            return failed(failure);
        }
        match self.message.tools().next().map(|call| &call.state) {
            Some(ToolState::OutputAvailable { output, preliminary: false, .. }) => {
                succeeded(output, self.shown().chain(attached.take()))
            }
            Some(ToolState::OutputError { error_text, .. }) => failed(error_text),
            Some(ToolState::OutputDenied { approval, .. }) => match approval.reason() {
                Some(reason) => failed(&format!("This call was denied: {reason} It was not run.")),
                None => failed("This call was denied. It was not run."),
            },
            _ => failed(NO_RESULT),
        }
    }

    /// Returns the answer of an agent, after the components that it has shown.
    pub(super) fn of_agent(&self) -> CallToolResult {
        match &self.failure {
            Some(failure) => failed(failure),
            None => {
                let answer = ContentBlock::text(self.message.text());
                CallToolResult::success(self.shown().chain([answer]).collect())
            }
        }
    }

    fn shown(&self) -> impl Iterator<Item = ContentBlock> {
        self.shown.iter().map(|text| ContentBlock::text(text.as_str()))
    }
}

/// Returns the result of a call that failed, which the client's model reads.
pub(super) fn failed(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn succeeded(output: &JsonText, more: impl Iterator<Item = ContentBlock>) -> CallToolResult {
    let text = output.to_str_value();
    let is_text = text.is_some();
    let text = text.map_or_else(|| output.to_string(), |text| text.to_string());
    let mut content: Vec<_> = more.collect();
    // A tool without an output has the attachments alone.
    if content.is_empty() || text != "null" || is_text {
        content.insert(0, ContentBlock::text(text));
    }
    let mut result = CallToolResult::success(content);
    if !is_text {
        result.structured_content = Some(output.to_value()).filter(Value::is_object);
    }
    result
}
