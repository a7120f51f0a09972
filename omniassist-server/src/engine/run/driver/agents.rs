//! The agents that the tools of a run ask.

use std::task::{Context, Poll, ready};

use omniassist_core::event::{AgentState, RunErrorCode};
use omniassist_core::journal::Record;
use omniassist_core::run::{AnswerCheck, Input};
use omniassist_core::tree::Limit;
use omniassist_core::{JsonText, RunEvent, Text};

use super::{Driver, Stage};
use crate::engine::end::End;
use crate::engine::meter::Meter;
use crate::engine::run::recording::Recording;
use crate::engine::tree::Work;
use crate::seal::Sealer;
use crate::store::ModelUsage;
use crate::telemetry::RunTrace;
use crate::tool::{AgentAsk, AskingCall};

impl Driver {
    /// Begins the trace of a run for another one, which gets its result. The functions of `on_finish` do not.
    pub(in crate::engine) fn start_asked(&mut self, message_id: &Text) {
        self.start(None, message_id, None);
        self.trace.keep_used();
        if let Some(recording) = &mut self.recording {
            recording.leave_out_finish();
        }
    }

    /// Begins the trace of a call that a tool makes in the name of another one. It is no run for observers.
    pub(in crate::engine) fn start_inner(&mut self) {
        self.trace = RunTrace::within_call();
        if self.is_stored() {
            self.trace.keep_used();
        }
        self.recording = Recording::of_inner(&self.setup, &self.run);
    }

    /// Takes the question of a tool to an agent, or a call that it makes.
    pub(super) fn ask(&mut self, mut ask: AgentAsk) {
        if let Stage::Running(machine) = &self.stage
            && ask.may_wait
        {
            let call = machine.call(&ask.call_id);
            ask.call =
                call.map(|(tool, arguments)| AskingCall { tool: tool.clone(), arguments: arguments.clone() });
        }
        if ask.inner.is_some()
            && let Some(seed) = self.seed.take()
        {
            let mut branch = seed.grow(self.setup.config.tree);
            if let Some(meter) = &self.meter {
                branch.meter_with(meter);
            }
            self.branch = Some(Box::new(branch));
        }
        if let Some(branch) = &mut self.branch
            && let Some(began) = branch.ask(ask, &self.run, &self.trace, self.sealer.as_deref())
        {
            branch.remember(&began);
            self.events.push(began);
        }
    }

    /// Returns the state of the tool of a call that waited for the user.
    pub(super) fn resumed_state(&self, call_id: &Text) -> Option<JsonText> {
        match &self.branch {
            Some(branch) => branch.resumed_state(call_id),
            None => self.seed.as_ref()?.resumed_state(call_id),
        }
    }

    /// Takes one event of the agents that work for this run.
    pub(super) fn poll_agents(&mut self, cx: &Context<'_>) -> Poll<()> {
        let Some(branch) = &mut self.branch else { return Poll::Pending };
        let event = ready!(branch.poll_event(cx, &self.run, &mut self.trace, self.sealer.as_deref()));
        if let RunEvent::StateDelta(_) = event {
            self.share_state();
        } else {
            branch.remember(&event);
            self.events.push(event);
        }
        Poll::Ready(())
    }

    /// Returns the agents that were asked in the run, each in its latest state.
    pub(in crate::engine) fn agents(&self) -> Vec<AgentState> {
        self.branch.as_ref().map(|branch| branch.agents().to_vec()).unwrap_or_default()
    }

    /// Takes the calls of an asked agent that wait for the user. They are sealed.
    pub(super) fn take_questions(&mut self, call_id: &Text) -> Vec<RunEvent> {
        let Some(branch) = &mut self.branch else { return Vec::new() };
        let questions = branch.take_questions(call_id);
        if let Some(sealer) = &mut self.sealer {
            let calls = questions.iter().filter_map(|event| match event {
                RunEvent::ToolInputAvailable { call_id, .. } => Some(call_id.clone()),
                _ => None,
            });
            calls.for_each(|call_id| sealer.leave(call_id));
        }
        questions
    }

    /// Seals the calls that wait for the client of the run that has asked.
    pub(in crate::engine) fn seal_as(&mut self, sealer: Sealer) {
        self.sealer = Some(Box::new(sealer));
    }

    /// Checks the answer with which the run ends. The run must not have begun.
    pub(in crate::engine) fn check_answer(&mut self, check: AnswerCheck) {
        if let Stage::Preparing(beginning) = &mut self.stage {
            beginning.config.answer_check = Some(check);
        }
    }

    /// Ends the agents that were asked by a call, or by all calls. Returns the events of their ends.
    pub(super) fn end_agents(&mut self, call: Option<&Text>) -> Vec<RunEvent> {
        let Some(branch) = &mut self.branch else { return Vec::new() };
        let ended = branch.end(call, &mut self.trace);
        ended.iter().for_each(|event| branch.remember(event));
        ended
    }

    /// Stops an agent that works for this run. Returns `false` if there is none with this id.
    pub(in crate::engine) fn stop_asked(&mut self, agent_id: &str) -> bool {
        self.branch.as_mut().is_some_and(|branch| branch.stop_agent(agent_id))
    }

    /// Ends the run, because a limit of the tree allows it no more of the model.
    pub(super) fn exceed(&mut self) {
        self.step(Input::Fail(RunErrorCode::TokenBudgetExceeded));
    }
}

impl Work for Driver {
    fn leave(&mut self) {
        self.end_preparation();
        if let Some(branch) = &mut self.branch {
            branch.leave(&mut self.trace);
        }
        self.trace.leave(self.setup.config.prices.as_ref());
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.poll_event(cx)
    }

    fn stop(&mut self, reason: Text) {
        self.end(End::Abort(reason));
    }

    fn stop_agent(&mut self, agent_id: &str) -> bool {
        self.stop_asked(agent_id)
    }

    fn trace(&mut self) -> &mut RunTrace {
        &mut self.trace
    }

    fn take_used(&mut self) -> Vec<ModelUsage> {
        self.take_used()
    }

    fn meter_with(&mut self, meter: Meter) {
        self.meter_with(meter);
    }

    fn checks_answer(&self) -> bool {
        matches!(&self.stage, Stage::Preparing(beginning) if beginning.config.answer_check.is_some())
    }

    fn limit(&self) -> Option<Limit> {
        self.branch.as_ref().and_then(|branch| branch.limit())
    }

    fn has_records(&self) -> bool {
        let is_due = self.gate.as_ref().is_some_and(|gate| gate.is_waiting() || !gate.records.is_empty());
        is_due || self.branch.as_ref().is_some_and(|branch| branch.has_records())
    }

    fn take_records(&mut self) -> Option<(Vec<Record>, bool)> {
        self.take_records()
    }

    fn open_gate(&mut self) {
        self.open_gate();
    }
}
