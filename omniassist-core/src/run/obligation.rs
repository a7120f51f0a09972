//! Obligations of a client: outputs of front-end tools, approvals and form input.
//!
//! Each obligation is a call of the last step that only the client can settle. A run that continues a message starts
//! after all of them are settled.

use std::collections::HashSet;

use super::catalog::{Gate, ToolCatalog};
use super::machine::RunMachine;
use super::request::ResumedCall;
use super::state::{CallState, OpenCall, Phase};
use super::turn_record::TurnRecord;
use crate::canonical::InexactNumber;
use crate::event::{ApprovalRequest, FinishReason};
use crate::message::{Approval, Message, Part, Role, ToolPart, ToolState};
use crate::transcript::denial;
use crate::{EventBuf, JsonText, RunEvent, RunRequest, Text, ToolSide, TranscriptItem, Usage, canonical};

/// A call that the run will execute because its user has approved it, or has answered its questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueApproval {
    /// The call.
    pub call_id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments that the user was asked to approve, or those with which the call ran before.
    pub arguments: JsonText,
    /// The message that the call belongs to.
    pub message_id: Text,
    /// The proof that the client returned with the answer.
    pub signature: Option<Text>,
    /// `true` if the call has run, has asked the user, and [runs again](RunRequest::resumed_calls) with the answers.
    pub is_resumed: bool,
}

/// Returns the answered calls that a run of this request executes first: those with an approval, and those that run again
/// with a [proof](ResumedCall::proof). Returns none while the client has open obligations.
#[must_use]
pub fn due_approvals(request: &RunRequest, tools: &dyn ToolCatalog) -> Vec<DueApproval> {
    let Some(message) = continued(request) else { return Vec::new() };
    let step = LastStep::of(message, &request.resumed_calls, tools, request.abilities.approvals);
    if step.is_open() {
        return Vec::new();
    }
    let due = |part: &ToolPart, signature: Option<Text>, is_resumed: bool| DueApproval {
        call_id: part.call_id.clone(),
        name: part.name.clone(),
        arguments: part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT),
        message_id: message.id.clone(),
        signature,
        is_resumed,
    };
    let approved = step.answered.iter().filter_map(|part| {
        let approval = answer(part).filter(|approval| approval.is_approved())?;
        Some(due(part, approval.signature.clone(), false))
    });
    let resumed = step.resumed.iter().filter_map(|part| {
        let call = request.resumed_calls.iter().find(|call| call.call_id == part.call_id)?;
        Some(due(part, Some(call.proof.clone()?), true))
    });
    approved.chain(resumed).collect()
}

/// Returns the message that a run of this request continues.
pub(super) fn continued(request: &RunRequest) -> Option<&Message> {
    request.messages.last().filter(|message| message.role == Role::Assistant)
}

/// The calls of a message's last step that the client settles or has settled.
#[derive(Default)]
struct LastStep<'a> {
    /// Calls of front-end tools without an output.
    open_calls: usize,
    /// Approval requests without an answer.
    unanswered: Vec<&'a ToolPart>,
    /// Approval requests with an answer.
    answered: Vec<&'a ToolPart>,
    /// Outputs of front-end tools.
    outputs: Vec<&'a ToolPart>,
    /// Calls whose tools run again.
    resumed: Vec<&'a ToolPart>,
}

impl<'a> LastStep<'a> {
    fn of(message: &'a Message, resumed: &[ResumedCall], tools: &dyn ToolCatalog, can_ask: bool) -> Self {
        let parts = message.parts.rsplit(|part| matches!(part, Part::StepStart)).next().unwrap_or_default();
        let calls = || {
            parts.iter().filter_map(|part| match part {
                Part::Tool(tool) if !tool.provider_executed => Some(tool),
                _ => None,
            })
        };
        let settled: HashSet<_> =
            calls().filter(|tool| tool.state.is_answered()).map(|tool| &tool.call_id).collect();
        let mut step = Self::default();
        for tool in calls() {
            match (tools.side(&tool.name), &tool.state) {
                (Some(ToolSide::FrontEnd), state) if state.is_answered() => step.outputs.push(tool),
                (Some(ToolSide::FrontEnd), _) if !settled.contains(&tool.call_id) => step.open_calls += 1,
                (Some(ToolSide::Server), ToolState::ApprovalRequested { .. }) if can_ask => {
                    step.unanswered.push(tool);
                }
                (Some(ToolSide::Server), ToolState::ApprovalResponded { .. }) => step.answered.push(tool),
                // The client may have shown its progress.
                (
                    Some(ToolSide::Server),
                    ToolState::InputAvailable { .. } | ToolState::OutputAvailable { preliminary: true, .. },
                ) if resumed.iter().any(|call| call.call_id == tool.call_id) => step.resumed.push(tool),
                _ => {}
            }
        }
        step
    }

    fn is_open(&self) -> bool {
        self.open_calls + self.unanswered.len() > 0
    }
}

/// Returns the approval of an answered call.
fn answer(part: &ToolPart) -> Option<&Approval> {
    match &part.state {
        ToolState::ApprovalResponded { approval, .. } => Some(approval),
        _ => None,
    }
}

/// Returns a call that does not run, and reports its error.
fn failed(
    part: &ToolPart,
    arguments: JsonText,
    error_text: Text,
    events: &mut EventBuf<RunEvent>,
) -> OpenCall {
    let (call_id, name) = (part.call_id.clone(), part.name.clone());
    let output = JsonText::from_str_value(&error_text);
    events.push(RunEvent::ToolError { call_id: call_id.clone(), error_text, provider_executed: false });
    OpenCall::new(call_id, name, arguments, CallState::Answered { output, is_error: true })
}

/// Reports the calls whose answer is not accepted to the client, which displays them as open or answered.
pub(super) fn report_unaccepted(message: &Message, unaccepted: &[Text], events: &mut EventBuf<RunEvent>) {
    let unaccepted: HashSet<&Text> = unaccepted.iter().collect();
    for part in message.tools().filter(|part| unaccepted.contains(&part.call_id)) {
        if let ToolState::OutputError { error_text, .. } = &part.state {
            let (call_id, error_text) = (part.call_id.clone(), error_text.clone());
            events.push(RunEvent::ToolError { call_id, error_text, provider_executed: false });
        }
    }
}

/// Returns the error for a number that a JavaScript client would round.
pub(super) fn rounded(found: &InexactNumber) -> Text {
    let InexactNumber { path, number } = found;
    let place = if path.is_empty() { "the arguments" } else { path };
    format!(
        "The call did not run: the user's client cannot hold the number {number} of `{place}` exactly. \
         Use strings for such numbers."
    )
    .into()
}

/// Returns the approval request of a call, with the host's question.
pub(super) fn approval_request(call_id: &Text, name: &Text, input: JsonText, gate: Gate) -> RunEvent {
    let mut request = ApprovalRequest::new(call_id.clone(), name.clone(), input);
    if let Gate::Approval { message, editable } = gate {
        request.message = message;
        request.editable = editable;
    }
    RunEvent::ToolApprovalRequest(request)
}

impl RunMachine {
    /// Continues a message: waits while the client has open obligations, and otherwise starts with the settled calls.
    pub(super) fn continue_message(
        &mut self,
        message: &Message,
        resumed: &[ResumedCall],
        tools: &dyn ToolCatalog,
        events: &mut EventBuf<RunEvent>,
    ) {
        let step = LastStep::of(message, resumed, tools, self.config.abilities.approvals);
        self.check_outputs(&step, tools, events);
        if step.is_open() {
            for part in &step.unanswered {
                let input = part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
                let gate = tools.gate(&part.name, &input);
                events.push(approval_request(&part.call_id, &part.name, input, gate));
            }
            self.state.phase = Phase::Suspended;
            events.push(RunEvent::Finish { reason: FinishReason::ToolCalls, usage: Usage::default() });
            return;
        }
        if step.answered.is_empty() && step.resumed.is_empty() {
            return;
        }
        self.state.calls = step.answered.iter().map(|part| self.settle_answer(part, tools, events)).collect();
        let resumed = step.resumed.iter().map(|part| self.resume_call(part, tools, events));
        self.state.calls.extend(resumed.collect::<Vec<_>>());
        self.state.resumed = true;
        if self.config.journaled {
            self.record = Some(Box::new(TurnRecord::resumed(&self.state.calls)));
        }
        if self.state.calls.iter().any(|call| call.state == CallState::Running) {
            self.state.phase = Phase::ToolsDue;
        } else {
            self.finish_step(events);
        }
    }

    /// Converts invalid outputs of front-end tools into errors for the client and the model.
    fn check_outputs(
        &mut self,
        step: &LastStep<'_>,
        tools: &dyn ToolCatalog,
        events: &mut EventBuf<RunEvent>,
    ) {
        for part in &step.outputs {
            let ToolState::OutputAvailable { input, output, .. } = &part.state else { continue };
            if let Err(error_text) = tools.check_output(&part.name, input, output) {
                self.set_result(&part.call_id, JsonText::from_str_value(&error_text), true);
                let call_id = part.call_id.clone();
                events.push(RunEvent::ToolError { call_id, error_text, provider_executed: false });
            }
        }
    }

    fn settle_answer(
        &mut self,
        part: &ToolPart,
        tools: &dyn ToolCatalog,
        events: &mut EventBuf<RunEvent>,
    ) -> OpenCall {
        let (call_id, name) = (part.call_id.clone(), part.name.clone());
        let shown = part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
        let approval = answer(part);
        if !approval.is_some_and(Approval::is_approved) {
            let reason = approval.and_then(Approval::reason).cloned();
            let output = JsonText::from_str_value(&denial(reason.as_deref()));
            let state = CallState::Answered { output, is_error: true };
            events.push(RunEvent::ToolDenied { call_id: call_id.clone(), reason });
            return OpenCall::new(call_id, name, shown, state);
        }
        let edited = approval.and_then(|approval| approval.arguments.as_ref());
        match self.approved_arguments(part, &shown, edited, tools) {
            Ok(arguments) => {
                self.set_arguments(&call_id, &arguments);
                OpenCall::new(call_id, name, arguments, CallState::Running)
            }
            Err(error_text) => failed(part, shown, error_text, events),
        }
    }

    /// Returns a call that runs again, or that has failed because its answers were used before or the host refuses it now.
    fn resume_call(
        &self,
        part: &ToolPart,
        tools: &dyn ToolCatalog,
        events: &mut EventBuf<RunEvent>,
    ) -> OpenCall {
        let arguments = part.state.input().cloned().unwrap_or(JsonText::EMPTY_OBJECT);
        let refused = self.refused(part).or_else(|| match tools.gate(&part.name, &arguments) {
            Gate::Refused { reason } => Some(reason),
            _ => None,
        });
        match refused {
            Some(error_text) => failed(part, arguments, error_text, events),
            None => {
                let (call_id, name) = (part.call_id.clone(), part.name.clone());
                OpenCall::new(call_id, name, arguments, CallState::Running)
            }
        }
    }

    /// Returns the reason why the answer of a call does not count.
    fn refused(&self, part: &ToolPart) -> Option<Text> {
        let refused = self.config.refused_approvals.iter().find(|refused| refused.call_id == part.call_id);
        refused.map(|refused| refused.reason.clone())
    }

    /// Returns the arguments of an approved call, or the reason why it must not run.
    fn approved_arguments(
        &self,
        part: &ToolPart,
        shown: &JsonText,
        edited: Option<&JsonText>,
        tools: &dyn ToolCatalog,
    ) -> Result<JsonText, Text> {
        if let Some(reason) = self.refused(part) {
            return Err(reason);
        }
        let gate = tools.gate(&part.name, shown);
        let arguments = match edited {
            None => shown.clone(),
            Some(edited) => {
                if !matches!(gate, Gate::Approval { editable: true, .. }) {
                    return Err(Text::from_static("The arguments of this call may not be changed."));
                }
                if let Some(found) = canonical::rounded_number(edited) {
                    return Err(rounded(&found));
                }
                edited.clone()
            }
        };
        tools
            .check(&part.name, &arguments)
            .map_err(|error| Text::from(format!("The call did not run. {error}")))?;
        for gate in [gate, tools.gate(&part.name, &arguments)] {
            if let Gate::Refused { reason } = gate {
                return Err(reason);
            }
        }
        Ok(arguments)
    }

    /// Replaces the placeholder result of a call in the transcript.
    pub(super) fn set_result(&mut self, call_id: &str, output: JsonText, is_error: bool) {
        let result = self.state.transcript.iter_mut().find_map(|item| match item {
            TranscriptItem::Result(result) if result.call_id == *call_id => Some(result),
            _ => None,
        });
        if let Some(result) = result {
            result.output = output;
            result.is_error = is_error;
        }
    }

    pub(super) fn set_arguments(&mut self, call_id: &str, arguments: &JsonText) {
        for item in &mut self.state.transcript {
            if let TranscriptItem::Call(call) = item
                && call.id == *call_id
            {
                call.arguments = arguments.clone();
            }
        }
    }
}
