//! The agents of a stored run: their records are part of its journal, and another server restores them.

use std::mem;
use std::sync::Arc;

use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::{Content, Record};
use omniassist_core::tree::AgentBudget;
use omniassist_core::{RunEvent, Text, Usage};

use super::branch::Branch;
use super::ready::bit;
use crate::cost::Price;
use crate::engine::agent_records::{AgentRecords, interrupted};
use crate::sync::lock;
use crate::throttle::Spent;

impl Branch {
    /// Returns the agents of the run, if it is stored.
    pub(in crate::engine) fn stored_agents(&self) -> Option<&Arc<AgentRecords>> {
        self.journal.as_ref()
    }

    /// Removes and returns the records of agents that have ended.
    pub(in crate::engine) fn take_last_records(&mut self) -> Vec<Record> {
        mem::take(&mut self.last_records)
    }

    /// Restores the place of an agent in the tree from the records of its own run. They do not name models, so earlier calls
    /// count with the `price` of the agent's model now.
    pub(in crate::engine) fn restore(&mut self, own: &[Record], price: Option<Price>) {
        let Some(journal) = self.journal.clone() else { return };
        let mut ledger = lock(&self.tree.ledger);
        for content in own.iter().map(|record| &record.content) {
            if let Content::Turn(turn) = content {
                let calls = u32::from(turn.is_of_model());
                let (tokens, cost) = spent(turn.usage(), price);
                ledger.count(self.node, calls, tokens, cost);
            }
        }
        for state in journal.below(self.agent_id.as_ref()) {
            match state.status {
                AgentStatus::Running => {}
                // The limits count the agents that have ended too.
                _ => {
                    if let Ok(node) = ledger.open(self.node, AgentBudget::default()) {
                        let (tokens, cost) = spent(state.usage, self.tree.begin.price_of(&state.name));
                        ledger.count(node, 0, tokens, cost);
                        ledger.close(node);
                    }
                }
            }
            self.restored.push(state.clone());
        }
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

/// Returns the tokens of a usage, and their cost.
fn spent(usage: Option<Usage>, price: Option<Price>) -> (u64, u128) {
    let spent = Spent::new(usage.unwrap_or_default(), false);
    (spent.tokens(), price.map_or(0, |price| price.cost_of(&spent)))
}
