//! The gate of a run that is stored: an action is carried out after the journal has the record that it follows from.

use std::mem;

use omniassist_core::event::{AgentStatus, RunErrorCode};
use omniassist_core::journal::{self, Content, Record};
use omniassist_core::run::{Action, Input, RunMachine};
use omniassist_core::{EventBuf, KeptAnswer, RunEvent, Text};

use super::handoff::steps_since_handoff;
use super::{Driver, Stage};
use crate::engine::Recovery;
use crate::engine::run::gate::{Due, Gate, UsedBefore};
use crate::engine::tree::Branch;
use crate::failpoint;
use crate::observe::Settled;
use crate::store::ModelUsage;

/// The error of a call whose tool is gone.
pub(super) const NO_TOOL: &str = "This tool is not available any more; it was not run.";

impl Driver {
    /// Makes the run a stored one. `journal` has the records of a run that was interrupted.
    pub(in crate::engine) fn store_with(&mut self, journal: Option<Vec<Record>>, before: UsedBefore) {
        self.close_gate(Gate { journal, kept: Some(KeptAnswer::default()), before, ..Gate::default() });
    }

    /// Makes the run of an asked agent a part of a stored one. `journal` has its records if it was interrupted.
    pub(in crate::engine) fn store_asked(&mut self, journal: Vec<Record>) {
        let journal = Some(journal).filter(|journal| !journal.is_empty());
        self.close_gate(Gate { journal, ..Gate::default() });
    }

    fn close_gate(&mut self, gate: Gate) {
        if let Stage::Preparing(beginning) = &mut self.stage {
            beginning.config.journaled = true;
        }
        self.gate = Some(Box::new(gate));
    }

    pub(in crate::engine) fn is_stored(&self) -> bool {
        self.gate.is_some()
    }

    /// Returns the records that belong in the journal now, and `true` if the run waits until they are durable. There are none
    /// before all events were read.
    pub(in crate::engine) fn take_records(&mut self) -> Option<(Vec<Record>, bool)> {
        if self.has_event() {
            return None;
        }
        let gate = self.gate.as_mut()?;
        if let Stage::Running(machine) = &mut self.stage
            && let Some(handle) = machine.take_kept()
        {
            gate.records.push(Record::from(Content::Kept(*handle)));
        }
        let mut waits = gate.is_waiting();
        if let Some(branch) = &mut self.branch
            && branch.has_records()
        {
            waits |= branch.take_records(&mut gate.records);
        }
        (waits || !gate.records.is_empty()).then(|| (mem::take(&mut gate.records), waits))
    }

    /// Leaves the records of agents that have ended: one may wait for the user.
    pub(super) fn end_gate(&mut self) {
        let Some(gate) = &mut self.gate else { return };
        let mut records = mem::take(&mut gate.records);
        if let Some(branch) = &mut self.branch {
            records.append(&mut branch.take_last_records());
        }
        **gate = Gate { records, before: gate.before, ..Gate::default() };
    }

    /// Returns the part of the next model call that concerns an answer which another process can fetch.
    pub(super) fn kept_answer(&mut self) -> Option<KeptAnswer> {
        let gate = self.gate.as_mut()?;
        let mut kept = gate.kept.clone()?;
        kept.fetch = gate.fetch.take();
        Some(kept)
    }

    /// Makes the call of `on_finish` wait until the end of the run is durable.
    pub(in crate::engine) fn finish_after(&mut self, settled: Settled) {
        if let Some(recording) = &mut self.recording {
            recording.finish_after(settled);
        }
    }

    /// Leaves the answer of the model, and the call of `on_finish`, to the process that goes on with the run.
    pub(in crate::engine) fn release(&mut self) {
        self.trace.release();
        if self.setup.config.recovery == Recovery::Resume
            && let Some(recording) = &mut self.recording
        {
            recording.leave_out_finish();
        }
        if let Some(kept) = self.gate.as_ref().and_then(|gate| gate.kept.as_ref()) {
            kept.leave();
        }
    }

    /// Returns the model calls that have ended since the last time.
    pub(in crate::engine) fn take_used(&mut self) -> Vec<ModelUsage> {
        let mut used = self.trace.take_used();
        if let Some(branch) = &mut self.branch {
            used.append(&mut branch.take_used());
        }
        used
    }

    /// Carries out what waits for the journal.
    pub(in crate::engine) fn open_gate(&mut self) {
        if let Some(branch) = &mut self.branch {
            branch.open_gates();
        }
        match self.gate.as_mut().and_then(|gate| gate.waiting.take()) {
            Some(Due::Action(action)) => self.carry_out(action),
            Some(Due::Tools) => self.fill_tools(),
            None => {}
        }
        // Calls of unknown outcome can be the last ones of their step.
        self.act();
        self.settle();
    }

    /// Rebuilds a run that was interrupted from its journal. `machine` is the one that its request gives, and `own_steps` the
    /// limit of its agent.
    pub(super) fn recover(&mut self, machine: RunMachine, own_steps: u32) -> RunMachine {
        let Some(records) = self.gate.as_mut().and_then(|gate| gate.journal.take()) else { return machine };
        let since_handoff = steps_since_handoff(&records);
        match journal::fold(machine.clone(), records.clone()) {
            Ok(recovered) => {
                if let Some(branch) = &mut self.branch {
                    let price = self.call.price(self.setup.config.prices.as_ref());
                    let (own, of_agents) = branch.restore(&records, &recovered.interrupted, price);
                    self.trace.count_earlier(&own, &of_agents);
                }
                failpoint::hit("gate.folded");
                // The journal begins with the events of the start.
                self.events.drain().for_each(drop);
                self.events.extend(recovered.events);
                if let Some(gate) = &mut self.gate {
                    gate.interrupted = recovered.interrupted.into_iter().collect();
                    gate.fetch = recovered.kept;
                }
                if let Some(steps) = since_handoff {
                    let before = recovered.machine.steps().saturating_sub(steps);
                    self.step_limit = before.saturating_add(own_steps);
                }
                recovered.machine
            }
            Err(error) => {
                tracing::error!(run_id = self.run.run_id().as_str(), %error, "the journal of a run cannot be read");
                let mut machine = machine;
                self.events.drain().for_each(drop);
                machine.step(Input::Fail(RunErrorCode::Internal), &self.tools, &mut self.events);
                machine
            }
        }
    }

    /// Makes an action wait for the journal.
    pub(super) fn hold_for_journal(&mut self, action: Action) {
        let Stage::Running(machine) = &mut self.stage else { return };
        let record = machine.take_record().map(|record| Record::from(Content::Turn(record)));
        let Some(gate) = &mut self.gate else { return };
        gate.records.extend(record);
        let action = match action {
            Action::RunTools { calls } => {
                let mut left = calls;
                for call in mem::take(&mut left) {
                    let was_interrupted = gate.interrupted.remove(&call.id);
                    let Some(tool) = self.tools.to_start(&call.name) else {
                        // The server that goes on with the run has other tools.
                        end_agents(self.branch.as_deref_mut(), &call.id, &mut self.events);
                        let result = Err(Text::from_static(NO_TOOL));
                        let input = Input::ToolResult { call_id: call.id, result };
                        machine.step(input, &self.tools, &mut self.events);
                        continue;
                    };
                    if was_interrupted && !tool.may_run_again() {
                        self.trace.tool(&call).ended(Err("unknown"));
                        let audit = self.recording.as_mut().and_then(|recording| recording.call_due(&call));
                        if let Some(audit) = audit {
                            audit.unknown();
                        }
                        end_agents(self.branch.as_deref_mut(), &call.id, &mut self.events);
                        let input = Input::ToolUnknown { call_id: call.id.clone() };
                        machine.step(input, &self.tools, &mut self.events);
                        gate.records.push(Record::from(Content::UnknownOutcome(call.id)));
                    } else {
                        left.push(call);
                    }
                }
                let at_once = self.setup.config.limits.max_parallel_tools.max(1);
                let begun: Vec<_> = left.iter().take(at_once).map(|call| call.id.clone()).collect();
                if !begun.is_empty() {
                    gate.records.push(Record::from(Content::Begun(begun)));
                }
                Action::RunTools { calls: left }
            }
            action => action,
        };
        failpoint::hit("gate.closed");
        gate.waiting = Some(Due::Action(action));
    }

    /// Makes the start of queued tools wait for the journal. Returns `false` if the run is not stored.
    pub(super) fn tools_wait(&mut self) -> bool {
        let Some(gate) = &mut self.gate else { return false };
        let free = self.setup.config.limits.max_parallel_tools.max(1).saturating_sub(self.running.len());
        let begun: Vec<_> = self.queued.iter().take(free).map(|call| call.id.clone()).collect();
        if !begun.is_empty() {
            gate.records.push(Record::from(Content::Begun(begun)));
            gate.waiting = Some(Due::Tools);
        }
        true
    }

    /// Returns `true` if the event must be durable before anybody sees it: somebody may act on it.
    pub(in crate::engine) fn is_consequence(event: &RunEvent) -> bool {
        match event {
            RunEvent::ToolInputAvailable { provider_executed, .. }
            | RunEvent::ToolError { provider_executed, .. } => !provider_executed,
            RunEvent::ToolOutput { preliminary, provider_executed, .. } => !preliminary && !provider_executed,
            RunEvent::ToolApprovalRequest(_)
            | RunEvent::InputRequest(_)
            | RunEvent::ToolInputError { .. }
            | RunEvent::ToolDenied { .. }
            | RunEvent::ToolRefused { .. } => true,
            // The agent keeps its id on another server.
            RunEvent::AgentState(state) => state.status == AgentStatus::Running,
            event => event.is_terminal(),
        }
    }
}

/// Shows the ends of the agents that a call had asked and does not ask again.
fn end_agents(branch: Option<&mut Branch>, call: &Text, events: &mut EventBuf<RunEvent>) {
    events.extend(branch.map(|branch| branch.end_restored(Some(call))).unwrap_or_default());
}
