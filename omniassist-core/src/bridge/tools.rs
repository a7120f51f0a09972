use serde::Serialize;

use super::out::Out;
use super::{AgentRun, SkipReason, ToolReport};
use crate::{JsonText, Message, RunEvent, Text};

/// The state of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ToolCallState {
    /// The id of the call on the wire: the runtime's, unless it has none or the message already contains it.
    pub tool_call_id: Text,
    /// The tool.
    pub tool_name: Text,
    /// The stage of the call.
    pub state: ToolStage,
    /// The input.
    pub input: JsonText,
    /// The output, if the call has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<JsonText>,
    /// The error, if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<Text>,
}

/// The stage of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum ToolStage {
    /// The input is complete.
    InputAvailable,
    /// The output is available.
    OutputAvailable,
    /// The call failed. In clients, the name of this state is `output-error`.
    Error,
}

/// The tool calls of one message.
#[derive(Debug, Clone, Default)]
pub(super) struct Tools {
    calls: Vec<Call>,
    /// The ids of calls that a continued message already contains.
    taken: Vec<Text>,
    minted: usize,
}

/// The call that a report belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// A new call.
    New,
    /// The open call with this index.
    Known(usize),
}

#[derive(Debug, Clone)]
struct Call {
    agent: AgentRun,
    /// The runtime's id.
    given: Option<Text>,
    state: ToolCallState,
}

impl Tools {
    pub(super) fn continuing(message: &Message) -> Self {
        let taken = message.tools().map(|tool| tool.call_id.clone()).collect();
        Self { taken, ..Self::default() }
    }

    pub(super) fn states(&self) -> impl Iterator<Item = &ToolCallState> {
        self.calls.iter().map(|call| &call.state)
    }

    /// Returns the call that a report belongs to.
    ///
    /// # Errors
    ///
    /// Returns an error if the report repeats an earlier one.
    pub(super) fn place(&self, agent: &AgentRun, report: &ToolReport) -> Result<Place, SkipReason> {
        let Some((at, call)) = self.known(agent, report) else { return Ok(Place::New) };
        let is_end = report.output.is_some() || report.error.is_some();
        match (call.is_open(), is_end, report.input.is_some()) {
            (true, true, _) => Ok(Place::Known(at)),
            // The runtime uses the same id for another call.
            (false, _, true) => Ok(Place::New),
            _ => Err(SkipReason::Repeated),
        }
    }

    /// Applies a report: the call, its end, or both.
    pub(super) fn take(
        &mut self,
        place: Place,
        agent: AgentRun,
        report: ToolReport,
        message_id: &Text,
        out: &mut Out<'_>,
    ) {
        let at = match place {
            Place::Known(at) => at,
            Place::New => self.begin(agent, &report, message_id, out),
        };
        if let Some(call) = self.calls.get_mut(at) {
            call.end(report, out);
        }
    }

    /// Returns the known call of a report. A report without an id begins a call if it has an input; otherwise it ends
    /// the oldest open call of the tool.
    fn known(&self, agent: &AgentRun, report: &ToolReport) -> Option<(usize, &Call)> {
        let mut calls = self.calls.iter().enumerate();
        let is_same = |call: &Call| call.agent == *agent && call.given == report.call_id;
        if report.call_id.is_some() {
            calls.rfind(|(_, call)| is_same(call))
        } else if report.input.is_none() {
            calls.find(|(_, call)| is_same(call) && call.is_open() && call.state.tool_name == report.name)
        } else {
            None
        }
    }

    fn begin(&mut self, agent: AgentRun, report: &ToolReport, message_id: &Text, out: &mut Out<'_>) -> usize {
        let call_id = self.unique_id(report.call_id.as_ref(), message_id);
        let input = report.input.clone().unwrap_or(JsonText::EMPTY_OBJECT);
        out.push(RunEvent::ToolInputAvailable {
            call_id: call_id.clone(),
            name: report.name.clone(),
            input: input.clone(),
            provider_executed: false,
            metadata: None,
        });
        let state = ToolCallState {
            tool_call_id: call_id,
            tool_name: report.name.clone(),
            state: ToolStage::InputAvailable,
            input,
            output: None,
            error_text: None,
        };
        self.calls.push(Call { agent, given: report.call_id.clone(), state });
        self.calls.len() - 1
    }

    /// Returns an id that is unique within the message: the runtime's, or one derived from it or from the message's id.
    fn unique_id(&mut self, given: Option<&Text>, message_id: &Text) -> Text {
        if let Some(given) = given
            && !self.is_taken(given)
        {
            return given.clone();
        }
        loop {
            self.minted += 1;
            let id: Text = match given {
                Some(given) => format!("{given}-{}", self.minted),
                None => format!("{message_id}-tool-{}", self.minted),
            }
            .into();
            if !self.is_taken(&id) {
                return id;
            }
        }
    }

    fn is_taken(&self, id: &Text) -> bool {
        self.taken.contains(id) || self.calls.iter().any(|call| call.state.tool_call_id == *id)
    }
}

impl Call {
    fn is_open(&self) -> bool {
        self.state.state == ToolStage::InputAvailable
    }

    fn end(&mut self, report: ToolReport, out: &mut Out<'_>) {
        let call_id = self.state.tool_call_id.clone();
        if let Some(error_text) = report.error {
            self.state.state = ToolStage::Error;
            self.state.error_text = Some(error_text.clone());
            out.push(RunEvent::ToolError { call_id, error_text, provider_executed: false });
        } else if let Some(output) = report.output {
            self.state.state = ToolStage::OutputAvailable;
            self.state.output = Some(output.clone());
            out.push(RunEvent::ToolOutput { call_id, output, preliminary: false, provider_executed: false });
        }
    }
}
