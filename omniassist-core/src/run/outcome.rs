//! The end of a turn and of a step.

use super::catalog::{CallLabel, Gate, ToolCatalog};
use super::machine::RunMachine;
use super::obligation::{approval_request, rounded};
use super::state::{CallState, OpenCall, Phase};
use super::turn::{Call, Finish, Turn};
use super::turn_record::{CallRecord, TurnRecord};
use super::unknown_outcome::MAY_HAVE_RUN;
use crate::event::{CallKind, FinishReason, InputRequest, RunErrorCode};
use crate::transcript::{ToolResult, UserContent, repair};
use crate::{EventBuf, JsonText, RunEvent, Text, ToolSide, TranscriptItem, Usage, canonical};

/// The error of a call that is incomplete.
const CUT: &str = "The call was cut off before its arguments were complete; it was not run.";

/// The error of a call that needs an approval that the client cannot request.
const CANNOT_ASK: &str =
    "This call needs the user's approval, and the user's client cannot ask for it. It was not run.";

/// The error of a call with free text.
const NOT_FREE_TEXT: &str =
    "The tool takes JSON arguments, not free text. Call it as a function, with a JSON object.";

/// The error of a form that the client cannot show.
const CANNOT_SHOW: &str = "The user's client cannot show forms. Ask in words instead.";

/// The error of a tool that was running when the run failed.
const INTERRUPTED: &str = "The call was interrupted; its outcome is unknown.";

impl RunMachine {
    pub(super) fn model_end(&mut self, tools: &dyn ToolCatalog, events: &mut EventBuf<RunEvent>) {
        if self.state.turn.finish.is_none() {
            return self.fail(RunErrorCode::StreamInterrupted, events);
        }
        self.state.turn.close_blocks(events);
        let truncated = self.state.turn.finish.as_ref().is_some_and(|finish| finish.truncated);
        let last = self.state.turn.calls.len().wrapping_sub(1);
        let mut calls = Vec::with_capacity(self.state.turn.calls.len());
        let mut records = Vec::new();
        for (index, call) in std::mem::take(&mut self.state.turn.calls).into_iter().enumerate() {
            // In an incomplete turn, the last call is not executed, even if it appears complete.
            let vetoed = truncated && index == last;
            let metadata = call.metadata.clone();
            let (settled, follow_up) = self.settle(&call, vetoed, tools);
            if !matches!(settled.state, CallState::Invalid { .. } | CallState::Cut { .. }) {
                let label = tools.label(&settled.name, Some(&settled.arguments));
                // The client received the title with the start of the call.
                if let Some(summary) = (CallLabel { title: None, app: None, ..label }).event(&settled.id) {
                    events.push(summary);
                }
            }
            // JavaScript clients would round these numbers and return the rounded ones.
            let input = canonical::with_exact_numbers(&settled.arguments);
            let input = input.unwrap_or_else(|| settled.arguments.clone());
            if self.config.journaled {
                records.push(CallRecord::new(&settled, &input));
            }
            events.push(match &settled.state {
                CallState::Invalid { error_text } | CallState::Cut { error_text } => {
                    RunEvent::ToolInputError {
                        call_id: settled.id.clone(),
                        name: settled.name.clone(),
                        input,
                        error_text: error_text.clone(),
                        metadata,
                    }
                }
                _ => RunEvent::ToolInputAvailable {
                    call_id: settled.id.clone(),
                    name: settled.name.clone(),
                    input,
                    provider_executed: false,
                    metadata,
                },
            });
            if let Some(event) = follow_up {
                events.push(event);
            }
            calls.push((settled, call.metadata));
        }
        let items = self.state.turn.items(|index| {
            let (call, metadata) = calls.get(index)?;
            Some(TranscriptItem::Call(call.to_call(metadata.clone())))
        });
        let turn = std::mem::take(&mut self.state.turn);
        if self.config.journaled {
            self.record = Some(Box::new(TurnRecord::new(&turn, records)));
        }
        self.state.turn = Turn::ended(turn.usage, turn.finish);
        self.end_turn(items, calls.into_iter().map(|(call, _)| call).collect(), events);
    }

    /// Adds the output of a turn to the transcript, and makes its tools due.
    pub(super) fn end_turn(
        &mut self,
        items: Vec<TranscriptItem>,
        calls: Vec<OpenCall>,
        events: &mut EventBuf<RunEvent>,
    ) {
        self.state.transcript.extend(items);
        self.state.calls = calls;
        self.run_or_finish(events);
    }

    /// Makes the tools of the open calls due, or ends the step if none of them runs.
    pub(super) fn run_or_finish(&mut self, events: &mut EventBuf<RunEvent>) {
        self.state.phase = Phase::ToolsDue;
        self.finish_step_if_settled(events);
    }

    /// Requests approval of a call that was about to run.
    pub(super) fn ask_approval(&mut self, call_id: &Text, gate: Gate, events: &mut EventBuf<RunEvent>) {
        let can_ask = self.config.abilities.approvals && !self.state.resumed;
        let Some(call) = self.state.calls.iter_mut().find(|call| call.id == *call_id) else { return };
        let inexact = canonical::inexact_number(&call.arguments);
        let refused = match inexact {
            Some(found) => Some(rounded(&found)),
            None if !can_ask => Some(Text::from_static(CANNOT_ASK)),
            None => None,
        };
        match refused {
            Some(error_text) => {
                events.push(RunEvent::ToolRefused { call_id: call_id.clone(), reason: error_text.clone() });
                call.state = CallState::Refused { error_text };
            }
            None => {
                events.push(approval_request(call_id, &call.name, call.arguments.clone(), gate));
                call.state = CallState::HandedOver;
            }
        }
        self.finish_step_if_settled(events);
    }

    /// Leaves a call open, because an agent that its tool has asked waits for the user.
    pub(super) fn wait_for_agent(
        &mut self,
        call_id: &Text,
        questions: Vec<RunEvent>,
        events: &mut EventBuf<RunEvent>,
    ) {
        if let Some(call) = self.state.calls.iter_mut().find(|call| call.id == *call_id) {
            call.state = CallState::HandedOver;
        }
        self.questions.extend(questions);
        self.finish_step_if_settled(events);
    }

    /// Ends the run, which goes on when its client has answered.
    fn suspend(&mut self, events: &mut EventBuf<RunEvent>) {
        if !self.questions.is_empty() {
            events.push(RunEvent::StepStart);
            events.extend(self.questions.drain(..));
            events.push(RunEvent::StepFinish { reason: FinishReason::ToolCalls, usage: Usage::default() });
        }
        self.state.phase = Phase::Suspended;
        let (reason, usage) = (FinishReason::ToolCalls, self.state.usage);
        events.push(RunEvent::Finish { reason, usage });
    }

    /// Ends the step: the turn has ended and every server tool has returned.
    pub(super) fn finish_step(&mut self, events: &mut EventBuf<RunEvent>) {
        if std::mem::take(&mut self.state.resumed) {
            return self.finish_resumed(events);
        }
        let turn = std::mem::take(&mut self.state.turn);
        let calls = std::mem::take(&mut self.state.calls);
        let usage = turn.usage.unwrap_or_default();
        self.state.usage.add(&usage);
        let is_compaction = |item: &TranscriptItem| matches!(item, TranscriptItem::Reasoning { metadata: Some(state), .. } if state.is_compaction());
        // The estimate includes the compacted messages, and the provider's count includes the cost of the compaction.
        if let Some(window) = &mut self.state.window
            && !self.state.transcript.iter().any(is_compaction)
        {
            window.measure(usage.input_tokens);
        }
        let reason = match turn.finish.map(|finish: Finish| finish.reason) {
            Some(FinishReason::Stop) | None if !calls.is_empty() => FinishReason::ToolCalls,
            Some(FinishReason::ToolCalls) if calls.is_empty() => FinishReason::Stop,
            Some(reason) => reason,
            None => FinishReason::Stop,
        };
        let paused = reason == FinishReason::Pause;
        events.push(RunEvent::StepFinish { reason: reason.clone(), usage });

        let (mut ran, mut invalid, mut handed_over) = (0, 0, 0);
        for call in calls {
            let (output, is_error) = match call.state {
                CallState::HandedOver => {
                    handed_over += 1;
                    continue;
                }
                CallState::Answered { output, is_error } => {
                    ran += 1;
                    (output, is_error)
                }
                CallState::Invalid { error_text } => {
                    invalid += 1;
                    (JsonText::from_str_value(&error_text), true)
                }
                CallState::Refused { error_text } => {
                    ran += 1;
                    (JsonText::from_str_value(&error_text), true)
                }
                CallState::Cut { error_text } => (JsonText::from_str_value(&error_text), true),
                CallState::Running => continue,
            };
            self.state.transcript.push(TranscriptItem::Result(ToolResult {
                call_id: call.id,
                output,
                is_error,
            }));
        }
        if handed_over > 0 {
            return self.suspend(events);
        }
        self.state.transcript = repair(std::mem::take(&mut self.state.transcript));
        if ran + invalid == 0 {
            // An interrupted turn continues from its output. Without output, the same request would have the same
            // result.
            if paused && self.state.transcript.last().is_some_and(is_said) {
                return self.ask_again(events);
            }
            let reason = if paused { FinishReason::Stop } else { reason };
            if reason == FinishReason::Stop
                && let Some(fault) = self.fault_of_answer()
            {
                return self.correct_answer(fault, events);
            }
            self.state.phase = Phase::Done;
            events.push(RunEvent::Finish { reason, usage: self.state.usage });
            return;
        }
        self.state.invalid_turns = if ran == 0 { self.state.invalid_turns + 1 } else { 0 };
        if self.state.invalid_turns > self.config.max_invalid_turns {
            self.fail(RunErrorCode::InvalidToolCalls, events);
        } else {
            self.ask_again(events);
        }
    }

    /// Starts another turn of the model.
    fn ask_again(&mut self, events: &mut EventBuf<RunEvent>) {
        if self.out_of_steps() {
            self.fail(RunErrorCode::MaxSteps, events);
        } else {
            self.state.phase = Phase::ModelDue;
        }
    }

    /// Ends the resumed step: every call approved in this request has returned.
    fn finish_resumed(&mut self, events: &mut EventBuf<RunEvent>) {
        let calls = std::mem::take(&mut self.state.calls);
        let waits = calls.iter().any(|call| call.state == CallState::HandedOver);
        for call in calls {
            if let CallState::Answered { output, is_error } = call.state {
                self.set_result(&call.id, output, is_error);
            }
        }
        if waits { self.suspend(events) } else { self.ask_again(events) }
    }

    /// Ends the run with an error. Events sent before stay valid: open blocks are closed, and calls that will not run
    /// get an error.
    pub(super) fn fail(&mut self, code: RunErrorCode, events: &mut EventBuf<RunEvent>) {
        self.state.turn.close_blocks(events);
        for call in std::mem::take(&mut self.state.turn.calls) {
            events.push(RunEvent::ToolInputError {
                input: raw_input(&call),
                call_id: call.id,
                name: call.name,
                error_text: Text::from_static(CUT),
                metadata: call.metadata,
            });
        }
        for call in std::mem::take(&mut self.state.calls) {
            if call.state == CallState::Running {
                let (call_id, error_text) = (call.id, Text::from_static(INTERRUPTED));
                events.push(RunEvent::ToolError { call_id, error_text, provider_executed: false });
            }
        }
        events.push(RunEvent::Error { code, message: Text::from_static(code.safe_message()) });
        self.state.phase = Phase::Done;
    }
}

impl RunMachine {
    /// Returns the fault of the answer for the model, if the run checks its answer.
    fn fault_of_answer(&self) -> Option<Text> {
        let check = self.config.answer_check.as_ref()?;
        let mut texts: Vec<&str> = Vec::new();
        for item in self.state.transcript.iter().rev().take_while(|item| is_said(item)) {
            if let TranscriptItem::Text { text, .. } = item {
                texts.push(text);
            }
        }
        texts.reverse();
        check.fault(&texts.concat())
    }

    /// Asks the model for another answer, once.
    fn correct_answer(&mut self, fault: Text, events: &mut EventBuf<RunEvent>) {
        if std::mem::replace(&mut self.state.corrected, true) || self.out_of_steps() {
            return self.fail(RunErrorCode::InvalidAnswer, events);
        }
        self.state.transcript.push(TranscriptItem::User { content: vec![UserContent::Text { text: fault }] });
        self.ask_again(events);
    }
}

/// Returns `true` for an item that the model wrote.
fn is_said(item: &TranscriptItem) -> bool {
    !matches!(item, TranscriptItem::User { .. } | TranscriptItem::Result(_))
}

/// Returns the argument text received so far, as a JSON string.
fn raw_input(call: &Call) -> JsonText {
    JsonText::from_str_value(call.arguments.as_deref().unwrap_or(&call.partial))
}

impl RunMachine {
    /// Returns the arguments of a complete call, if they can be parsed, and the side that runs it.
    fn read_call(
        &self,
        call: &Call,
        vetoed: bool,
        tools: &dyn ToolCatalog,
    ) -> (JsonText, Result<ToolSide, CallState>) {
        let Some(text) = call.arguments.as_ref().filter(|_| !vetoed) else {
            return (raw_input(call), Err(CallState::Cut { error_text: Text::from_static(CUT) }));
        };
        let invalid = |error_text: Text| Err(CallState::Invalid { error_text });
        if call.is_surplus {
            let max = self.config.max_calls_per_turn;
            let error = format!("One answer may make {max} calls. This call and all after it did not run.");
            return (raw_input(call), invalid(error.into()));
        }
        let arguments = match text.trim() {
            // Models send these for tools without parameters.
            "" | "null" | "\"null\"" => Ok(JsonText::EMPTY_OBJECT),
            _ => JsonText::parse(text.clone()),
        };
        let max = self.config.max_value_depth;
        let arguments = match arguments {
            _ if call.kind == CallKind::Custom => {
                return (raw_input(call), invalid(Text::from_static(NOT_FREE_TEXT)));
            }
            Ok(arguments) if canonical::is_deeper_than(&arguments, max) => {
                let error = format!("The arguments are nested in more than {max} levels.");
                return (raw_input(call), invalid(error.into()));
            }
            Ok(arguments) => arguments,
            Err(error) => {
                let error = format!("The arguments are not valid JSON: {error}.");
                return (raw_input(call), invalid(error.into()));
            }
        };
        let side = match (tools.check(&call.name, &arguments), tools.side(&call.name)) {
            (Err(text), _) => invalid(text),
            (Ok(()), Some(side)) => Ok(side),
            (Ok(()), None) => invalid(format!("There is no tool named `{}`.", call.name).into()),
        };
        (arguments, side)
    }

    /// Settles a call at the end of the turn. Returns a further event for the client, if there is one.
    fn settle(&self, call: &Call, vetoed: bool, tools: &dyn ToolCatalog) -> (OpenCall, Option<RunEvent>) {
        let (id, name) = (call.id.clone(), call.name.clone());
        let (arguments, side) = self.read_call(call, vetoed, tools);
        let (state, event) = match side {
            Err(state) => (state, None),
            Ok(side) => self.gate(&id, &name, &arguments, side, tools),
        };
        (OpenCall::new(id, name, arguments, state), event)
    }

    fn gate(
        &self,
        id: &Text,
        name: &Text,
        arguments: &JsonText,
        side: ToolSide,
        tools: &dyn ToolCatalog,
    ) -> (CallState, Option<RunEvent>) {
        let abilities = self.config.abilities;
        let refused = |error_text: Text| {
            let event = RunEvent::ToolRefused { call_id: id.clone(), reason: error_text.clone() };
            (CallState::Refused { error_text }, Some(event))
        };
        let gate = tools.gate(name, arguments);
        let passes_client = side == ToolSide::FrontEnd || matches!(gate, Gate::Approval { .. });
        if let Some(found) = canonical::inexact_number(arguments).filter(|_| passes_client) {
            return (CallState::Invalid { error_text: rounded(&found) }, None);
        }
        match (gate, side) {
            (Gate::Refused { reason }, _) => refused(reason),
            (gate @ Gate::Approval { .. }, ToolSide::Server) if abilities.approvals => {
                (CallState::HandedOver, Some(approval_request(id, name, arguments.clone(), gate)))
            }
            (Gate::Approval { .. }, ToolSide::Server) => refused(Text::from_static(CANNOT_ASK)),
            (Gate::Form { message, schema }, ToolSide::FrontEnd) if abilities.forms => {
                let request = InputRequest::new(id.clone(), message, schema);
                (CallState::HandedOver, Some(RunEvent::InputRequest(request)))
            }
            (Gate::Form { .. }, ToolSide::FrontEnd) => refused(Text::from_static(CANNOT_SHOW)),
            (_, ToolSide::FrontEnd) => (CallState::HandedOver, None),
            (_, ToolSide::Server) if self.may_have_run(name, arguments) => {
                refused(Text::from_static(MAY_HAVE_RUN))
            }
            (_, ToolSide::Server) => (CallState::Running, None),
        }
    }
}
