//! The agents of a stored run: their records are part of its journal, and another server restores them.

use std::mem;
use std::sync::Arc;

use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::{Content, Record};
use omniassist_core::tree::{AgentBudget, Ledger, NodeId};
use omniassist_core::{RunEvent, Text, Usage};

use super::agent_records::{AgentRecords, interrupted};
use super::branch::{Begin, Branch};
use super::ready::bit;
use crate::cost::Price;
use crate::store::ModelUsage;
use crate::sync::lock;
use crate::throttle::Spent;

impl Branch {
    /// Returns the agents of the run, if it is stored.
    pub(in crate::engine) fn stored_agents(&self) -> Option<&Arc<AgentRecords>> {
        self.journal.as_ref()
    }

    /// Returns the model calls of the agents that have ended since the last time.
    pub(in crate::engine) fn take_used(&mut self) -> Vec<ModelUsage> {
        self.children.iter_mut().flatten().flat_map(|child| child.work.take_used()).collect()
    }

    /// Removes and returns the records of agents that have ended.
    pub(in crate::engine) fn take_last_records(&mut self) -> Vec<Record> {
        mem::take(&mut self.last_records)
    }

    /// Restores the place of an agent in the tree: what it has used, and the agents that the interrupted calls had asked.
    /// Returns the usage of the agent's own calls, and that of the agents that are not asked again.
    ///
    /// Records do not name models, so calls count at the price of the agent's model of now.
    pub(in crate::engine) fn restore(
        &mut self,
        own: &[Record],
        interrupted: &[Text],
        price: Option<Price>,
    ) -> (Usage, Usage) {
        if self.agent_id.is_none() {
            self.agents = self.journal.iter().flat_map(|journal| journal.states()).cloned().collect();
        }
        let mut usage = Usage::default();
        let (calls, spent) = turns(own);
        let Some(journal) = self.journal.clone() else { return (spent, usage) };
        let mut ledger = lock(&self.tree.ledger);
        ledger.count(self.node, calls, tokens(&spent), cost(&spent, price));
        for state in journal.below(self.agent_id.as_ref()) {
            if interrupted.contains(&state.tool_call_id) {
                self.restored.push(state.clone());
            } else {
                usage.add(&count(&mut ledger, &journal, self.node, state, &*self.tree.begin));
            }
        }
        (spent, usage)
    }

    /// Removes and returns the id of the agent that a call had asked before the run was interrupted.
    pub(super) fn take_restored(&mut self, call_id: &Text) -> Option<Text> {
        let at = self.restored.iter().rposition(|state| state.tool_call_id == *call_id)?;
        Some(self.restored.remove(at).agent_id)
    }

    /// Returns the ends of the agents at work that a call had asked and does not ask again, with those below them.
    pub(in crate::engine) fn end_restored(&mut self, call: Option<&Text>) -> Vec<RunEvent> {
        let is_of_call = |state: &mut AgentState| call.is_none_or(|call| state.tool_call_id == *call);
        let left: Vec<_> = self.restored.extract_if(.., is_of_call).collect();
        let mut ends = Vec::new();
        for state in left {
            if let Some(journal) = &self.journal {
                count(&mut lock(&self.tree.ledger), journal, self.node, &state, &*self.tree.begin);
            }
            self.end_with_those_below(state, &mut ends);
        }
        ends
    }

    fn end_with_those_below(&self, state: AgentState, ends: &mut Vec<RunEvent>) {
        if state.status != AgentStatus::Running {
            return;
        }
        for below in self.journal.iter().flat_map(|journal| journal.below(Some(&state.agent_id))) {
            self.end_with_those_below(below.clone(), ends);
        }
        ends.push(interrupted(state));
    }

    /// Returns `true` if agents have records for the journal.
    pub(in crate::engine) fn has_records(&self) -> bool {
        self.recording != 0 || !self.last_records.is_empty()
    }

    /// Appends the records of the agents. Returns `true` if one of them waits until its records are durable.
    pub(in crate::engine) fn take_records(&mut self, out: &mut Vec<Record>) -> bool {
        out.append(&mut self.last_records);
        let recording = mem::take(&mut self.recording);
        for (slot, child) in self.children.iter_mut().enumerate() {
            if recording & bit(slot) != 0
                && let Some(child) = child
                && child.take_records(out)
            {
                self.gated |= bit(slot);
            }
        }
        self.gated != 0
    }

    /// Lets the agents go on whose records are durable.
    pub(in crate::engine) fn open_gates(&mut self) {
        let gated = mem::take(&mut self.gated);
        for (slot, child) in self.children.iter_mut().enumerate() {
            if gated & bit(slot) != 0
                && let Some(child) = child
            {
                child.open_gate();
            }
        }
        self.woken |= gated;
    }
}

/// Counts an agent that is not asked again, with those below it. Returns its usage.
fn count(
    ledger: &mut Ledger,
    journal: &AgentRecords,
    above: NodeId,
    state: &AgentState,
    agents: &dyn Begin,
) -> Usage {
    let (calls, spent) = turns(&journal.of(&state.agent_id));
    // The usage of an agent has that of those below it.
    let usage = state.usage.unwrap_or(spent);
    let Ok(node) = ledger.open(above, AgentBudget::default()) else { return usage };
    let mut below = Usage::default();
    for state in journal.below(Some(&state.agent_id)) {
        below.add(&count(ledger, journal, node, state, agents));
    }
    // The last turn of an agent has no record.
    let last = u32::from(state.status != AgentStatus::Running);
    let own = |of: &dyn Fn(&Usage) -> u128| of(&usage).saturating_sub(of(&below));
    let tokens = u64::try_from(own(&|usage| tokens(usage).into())).unwrap_or(u64::MAX);
    let price = agents.price_of(&state.name);
    ledger.count(node, calls + last, tokens, own(&|usage| cost(usage, price)));
    ledger.close(node);
    usage
}

/// Returns the number of model calls of a run, and their usage.
fn turns(own: &[Record]) -> (u32, Usage) {
    let (mut calls, mut usage) = (0, Usage::default());
    for record in own {
        if let Content::Turn(turn) = &record.content
            && turn.is_of_model()
        {
            calls += 1;
            usage.add(&turn.usage().unwrap_or_default());
        }
    }
    (calls, usage)
}

fn tokens(usage: &Usage) -> u64 {
    Spent::new(*usage, false).tokens()
}

fn cost(usage: &Usage, price: Option<Price>) -> u128 {
    price.map_or(0, |price| price.cost_of(&Spent::new(*usage, false)))
}
