//! The records of agents in the journal of the run that has asked them.

use std::collections::BTreeMap;

use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::{Content, Record};
use omniassist_core::{RunEvent, Text};

/// The records of the agents of a run that was interrupted. Those of a run that begins are none.
#[derive(Debug, Default)]
pub(super) struct AgentRecords {
    records: BTreeMap<Text, Vec<Record>>,
    /// The latest state of each agent, parents first.
    states: Vec<AgentState>,
}

impl AgentRecords {
    /// Separates the records of a run from those of its agents.
    pub(super) fn split(journal: Vec<Record>) -> (Vec<Record>, Self) {
        let (mut own, mut of_agents) = (Vec::with_capacity(journal.len()), Self::default());
        for Record { head, content } in journal {
            if let Some(agent) = head.agent() {
                // The agent reads them as those of a run of its own.
                of_agents.records.entry(agent.into()).or_default().push(Record::from(content));
                continue;
            }
            if let Content::Event(RunEvent::AgentState(state)) = &content {
                of_agents.take_state(state);
            }
            own.push(Record { head, content });
        }
        (own, of_agents)
    }

    fn take_state(&mut self, state: &AgentState) {
        match self.states.iter_mut().find(|earlier| earlier.agent_id == state.agent_id) {
            Some(earlier) => earlier.clone_from(state),
            None => self.states.push(state.clone()),
        }
    }

    /// Returns the records of an agent. `None` if it has none.
    pub(super) fn of(&self, agent_id: &str) -> Option<Vec<Record>> {
        self.records.get(agent_id).cloned()
    }

    /// Returns the ends of the agents at work, for a run that does not go on.
    pub(super) fn into_ends(self) -> impl Iterator<Item = RunEvent> {
        let at_work = self.states.into_iter().filter(|state| state.status == AgentStatus::Running);
        at_work.map(interrupted)
    }

    /// Returns the states of the agents that an agent has asked, or the run itself.
    pub(super) fn below(&self, parent: Option<&Text>) -> impl Iterator<Item = &AgentState> {
        self.states.iter().filter(move |state| state.parent_id.as_ref() == parent)
    }
}

/// Returns the end of an agent whose server stopped.
pub(super) fn interrupted(mut state: AgentState) -> RunEvent {
    state.status = AgentStatus::Cancelled;
    state.reason = Some(Text::from_static("interrupted"));
    RunEvent::AgentState(Box::new(state))
}
