//! The events of a run, with one delta for each block and without what was withdrawn.

use super::DeltaOf;
use crate::event::AgentStatus;
use crate::{JsonText, RunEvent, Text};

pub(super) struct Merge {
    out: Vec<RunEvent>,
    /// The number of events in `out` that no reset of the current step withdraws.
    kept: usize,
    /// The deltas of the open blocks and calls, and of the agents at work.
    held: Vec<(DeltaOf, String)>,
    quiet_calls: bool,
}

impl Merge {
    /// Begins after `earlier`.
    pub(super) fn after(earlier: Vec<RunEvent>, quiet_calls: bool) -> Self {
        Self { kept: earlier.len(), out: earlier, held: Vec::new(), quiet_calls }
    }

    pub(super) fn push(&mut self, event: RunEvent) {
        if let Some((of, delta)) = DeltaOf::event(&event) {
            return self.hold(of, delta);
        }
        match &event {
            RunEvent::TextEnd { id, .. } => self.release(&DeltaOf::Text(*id)),
            RunEvent::ReasoningEnd { id, .. } => self.release(&DeltaOf::Reasoning(*id)),
            RunEvent::ToolInputAvailable { call_id, name, input, provider_executed: false, .. }
                if self.quiet_calls =>
            {
                return self.quiet_call(call_id, name, input);
            }
            RunEvent::ToolInputAvailable { call_id, .. } | RunEvent::ToolInputError { call_id, .. } => {
                self.release(&DeltaOf::Input(call_id.clone()));
            }
            RunEvent::AgentState(state)
                if state.status == AgentStatus::Running && self.begins_again(&state.agent_id) =>
            {
                return;
            }
            RunEvent::AgentState(state) => self.release(&DeltaOf::Agent(state.agent_id.clone())),
            // Its calls stay between the texts before and after them.
            RunEvent::AgentDelta { agent_id, .. } => self.release(&DeltaOf::Agent(agent_id.clone())),
            RunEvent::StepReset => return self.withdraw(),
            RunEvent::StepStart | RunEvent::StepFinish { .. } => self.release_all(),
            event if event.is_terminal() => self.release_all(),
            _ => {}
        }
        let is_step = matches!(event, RunEvent::StepStart);
        self.out.push(event);
        if is_step {
            self.kept = self.out.len();
        }
    }

    /// Returns the events, including the deltas of blocks that are still open.
    pub(super) fn finish(mut self) -> Vec<RunEvent> {
        self.release_all();
        self.out
    }

    fn hold(&mut self, of: DeltaOf, delta: &str) {
        match self.held.iter_mut().find(|(held, _)| *held == of) {
            Some((_, text)) => text.push_str(delta),
            None => self.held.push((of, delta.to_owned())),
        }
    }

    fn release(&mut self, of: &DeltaOf) {
        if let Some(at) = self.held.iter().position(|(held, _)| held == of) {
            let (of, text) = self.held.remove(at);
            self.out.push(of.delta(text.into()));
        }
    }

    /// Removes what an agent wrote before its state `running`, with which its text begins. Returns `false` if the agent begins.
    fn begins_again(&mut self, agent_id: &Text) -> bool {
        self.held.retain(|(held, _)| !matches!(held, DeltaOf::Agent(id) if id == agent_id));
        let is_delta =
            |event: &RunEvent| matches!(event, RunEvent::AgentDelta { agent_id: id, .. } if id == agent_id);
        let is_state =
            |event: &RunEvent| matches!(event, RunEvent::AgentState(state) if state.agent_id == *agent_id);
        let kept = self.out.iter().take(self.kept).filter(|event| is_delta(event)).count();
        self.kept = self.kept.saturating_sub(kept);
        let mut has_begun = false;
        // Its first state stays before those of the agents below it.
        self.out.retain(|event| {
            !is_delta(event) && (!is_state(event) || !std::mem::replace(&mut has_begun, true))
        });
        has_begun
    }

    fn release_all(&mut self) {
        self.out.extend(self.held.drain(..).map(|(of, text)| of.delta(text.into())));
    }

    /// Writes a complete call as one that is still being written, which a client does not execute.
    fn quiet_call(&mut self, call_id: &Text, name: &Text, input: &JsonText) {
        self.held.retain(|(held, _)| !matches!(held, DeltaOf::Input(id) if id == call_id));
        let begun =
            |event: &RunEvent| matches!(event, RunEvent::ToolInputStart { call_id: id, .. } if id == call_id);
        if !self.out.iter().skip(self.kept).any(begun) {
            let (call_id, name) = (call_id.clone(), name.clone());
            self.out.push(RunEvent::ToolInputStart { call_id, name, title: None, app: None });
        }
        self.out.push(RunEvent::ToolInputDelta { call_id: call_id.clone(), delta: input.text().clone() });
    }

    /// Removes the parts of the current step. What clients keep outside the parts stays.
    fn withdraw(&mut self) {
        self.held.retain(|(held, _)| matches!(held, DeltaOf::Agent(_)));
        let step = self.out.split_off(self.kept.min(self.out.len()));
        self.out.extend(step.into_iter().filter(|event| {
            matches!(
                event,
                RunEvent::Metadata(_)
                    | RunEvent::StateSnapshot(_)
                    | RunEvent::StateDelta(_)
                    | RunEvent::ActivitySnapshot { .. }
                    | RunEvent::Data { transient: true, .. }
                    | RunEvent::AgentDelta { .. }
            )
        }));
    }
}
