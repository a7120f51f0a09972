//! The tool calls of a run.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream as _;
use omniassist_core::run::Input;
use omniassist_core::{JsonText, RunEvent, Text};

use super::Driver;
use super::gated::NO_TOOL;
use crate::tool::{ToolInvocation, ToolUpdate};

/// The error of a call whose tool made a call that waits for the user, and another one beside it.
const TWO_QUESTIONS: &str = "The tool failed: it asked the user while another call that it made was open.";

impl Driver {
    /// Takes one update from the tools, or an event that host code sends meanwhile.
    pub(super) fn poll_tools(&mut self, cx: &Context<'_>) -> Poll<()> {
        // The text of an agent wakes the run, and no tool.
        if !self.tools_woken.take(cx) {
            return Poll::Pending;
        }
        let cx = &mut Context::from_waker(self.tools_woken.waker());
        if let Poll::Ready(event) = self.queue.poll(cx) {
            self.tools_woken.set();
            self.events.push(event);
            return Poll::Ready(());
        }
        for index in 0..self.running.len() {
            let Some(tool) = self.running.get_mut(index) else { break };
            let Poll::Ready(update) = Pin::new(tool).poll_next(cx) else { continue };
            // Others may have updates too.
            self.tools_woken.set();
            match update {
                Some(ToolUpdate::Progress { call_id, output }) => {
                    self.step(Input::ToolProgress { call_id, output });
                }
                Some(ToolUpdate::Event(event)) => self.take_tool_event(event),
                Some(ToolUpdate::SharedStateChanged) => self.share_state(),
                Some(ToolUpdate::AgentAsked(ask)) => self.ask(ask),
                Some(ToolUpdate::Done(outcome)) => {
                    drop(self.running.swap_remove(index));
                    let call_id = outcome.call_id;
                    // A tool that has timed out may still wait for them.
                    let ended = self.end_agents(Some(&call_id));
                    self.events.extend(ended);
                    let input = match outcome.result {
                        Err(error) if error.is_waiting() => match self.take_questions(&call_id) {
                            questions if questions.is_empty() => {
                                Input::ToolResult { call_id, result: Err(Text::from_static(TWO_QUESTIONS)) }
                            }
                            questions => Input::ToolWaits { call_id, questions },
                        },
                        Ok(output) => Input::ToolResult { call_id, result: Ok(output) },
                        Err(error) => match error.approval() {
                            Some(gate) => Input::ApprovalNeeded { call_id, gate: gate.clone() },
                            None => Input::ToolResult { call_id, result: Err(error.text().into()) },
                        },
                    };
                    self.step(input);
                }
                None => drop(self.running.swap_remove(index)),
            }
            if !self.tools_wait() {
                self.fill_tools();
            }
            return Poll::Ready(());
        }
        Poll::Pending
    }

    pub(super) fn share_state(&mut self) {
        if let Some(change) = self.change_of_state() {
            self.events.push(change);
        }
    }

    /// Returns the change of the shared state since the last one. A run that another one has asked for only says that there is
    /// one, and the run that the client sees compares the state, so that the changes of several agents have one order.
    pub(super) fn change_of_state(&self) -> Option<RunEvent> {
        match self.branch.as_ref().is_some_and(|branch| branch.is_asked()) {
            true => Some(RunEvent::StateDelta(JsonText::default())),
            false => self.run.state().take_change(),
        }
    }

    /// Ends a call whose tool is not there any more: it asked the user, and was hidden or removed since.
    fn fail_without_tool(&mut self, call_id: Text) {
        let ended = self.end_agents(Some(&call_id));
        self.events.extend(ended);
        self.step(Input::ToolResult { call_id, result: Err(Text::from_static(NO_TOOL)) });
    }

    /// Starts queued tools, up to the limit of parallel tools.
    pub(super) fn fill_tools(&mut self) {
        while self.running.len() < self.setup.config.limits.max_parallel_tools.max(1) {
            let Some(call) = self.queued.pop_front() else { return };
            let Some(tool) = self.tools.to_start(&call.name) else {
                self.fail_without_tool(call.id);
                continue;
            };
            let trace = self.trace.tool(&call);
            let audit = self.recording.as_mut().and_then(|recording| recording.call_due(&call));
            let is_approved = self.run.is_approved(&call.id);
            let resumed = self.resumed_state(&call.id);
            let invocation = ToolInvocation::new(call.id, call.arguments, self.run.clone())
                .resumed(resumed)
                .traced(trace)
                .audited(audit)
                .hooked(self.setup.config.tool_hooks.as_ref(), is_approved);
            self.running.push(self.setup.tools.start(&tool, invocation));
            self.tools_woken.set();
        }
    }
}
