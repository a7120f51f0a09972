//! The records of agents in the journal of the run that has asked them.

use std::collections::BTreeMap;

use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::{Content, Record};
use omniassist_core::message::{Message, MessageCollector};
use omniassist_core::{FinishReason, RunEvent, Text};

/// The agents of a stored run, from the journal of its last leg. Empty for a new run.
#[derive(Debug, Default)]
pub(in crate::engine) struct AgentRecords {
    records: BTreeMap<Text, Vec<Record>>,
    /// The latest state of each agent, parents first.
    states: Vec<AgentState>,
    /// The agents that waited for the user before the leg.
    waiting: WaitingAgents,
    /// The calls that tools have made, in order, each with the call in whose name it was made.
    inner: Vec<(Text, Text)>,
}

/// Agents that wait for the user, by the calls that asked them.
pub(in crate::engine) type WaitingAgents = BTreeMap<Text, WaitingAgent>;

/// An agent that waits for the user.
#[derive(Debug, Clone)]
pub(in crate::engine) struct WaitingAgent {
    pub(in crate::engine) agent_id: Text,
    /// The message of the agent, with the calls that wait.
    pub(in crate::engine) message: Message,
}

impl AgentRecords {
    /// Separates the records of a run from those of its agents.
    pub(in crate::engine) fn split(journal: Vec<Record>) -> (Vec<Record>, Self) {
        let (mut own, mut of_agents) = (Vec::with_capacity(journal.len()), Self::default());
        for Record { head, content } in journal {
            if let Some(agent) = head.agent() {
                if let Some(asked_by) = head.asked_by()
                    && !of_agents.inner.iter().any(|(id, _)| id == agent)
                {
                    of_agents.inner.push((agent.into(), asked_by.into()));
                }
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

    /// Adds the agents that waited for the user before the leg. Default: none.
    pub(in crate::engine) fn after(self, waiting: WaitingAgents) -> Self {
        Self { waiting, ..self }
    }

    /// Returns the agents that waited for the user before the leg.
    pub(in crate::engine) fn waiting(&self) -> &WaitingAgents {
        &self.waiting
    }

    /// Returns the agents that wait for the user at the end of the leg. Their calls are answered in the message with this id.
    pub(in crate::engine) fn into_waiting(self, message_id: &Text) -> WaitingAgents {
        let Self { mut records, states, waiting, inner } = self;
        let waits = states.into_iter().filter(|state| state.status == AgentStatus::Waiting);
        let waits = waits.map(|state| (state.agent_id, state.tool_call_id));
        let inner: Vec<_> = inner.into_iter().filter(|(id, _)| is_waiting(records.get(id))).collect();
        let mut agents = WaitingAgents::new();
        for (agent_id, tool_call_id) in waits.chain(inner) {
            let earlier = waiting.get(&tool_call_id).filter(|earlier| earlier.agent_id == agent_id);
            let mut collector = earlier.map_or_else(MessageCollector::new, |earlier| {
                MessageCollector::continuing(earlier.message.clone())
            });
            for record in records.remove(&agent_id).unwrap_or_default() {
                match record.content {
                    Content::Event(event) => collector.apply(&event),
                    Content::Deltas(deltas) => collector.apply(&deltas.merged()),
                    _ => {}
                }
            }
            let message = Message { id: message_id.clone(), ..collector.into_message() };
            agents.insert(tool_call_id, WaitingAgent { agent_id, message });
        }
        agents
    }

    fn take_state(&mut self, state: &AgentState) {
        match self.states.iter_mut().find(|earlier| earlier.agent_id == state.agent_id) {
            Some(earlier) => earlier.clone_from(state),
            None => self.states.push(state.clone()),
        }
    }

    /// Returns the records of an agent.
    pub(in crate::engine) fn of(&self, agent_id: &str) -> Vec<Record> {
        self.records.get(agent_id).cloned().unwrap_or_default()
    }

    /// Returns the latest state of each agent, parents first.
    pub(in crate::engine) fn states(&self) -> &[AgentState] {
        &self.states
    }

    /// Returns the ends of the agents at work, for a run that does not go on. Those below end before those above.
    pub(in crate::engine) fn into_ends(self) -> impl Iterator<Item = RunEvent> {
        let at_work = self.states.into_iter().rev().filter(|state| state.status == AgentStatus::Running);
        at_work.map(interrupted)
    }

    /// Returns the states of the agents that an agent has asked, or the run itself.
    pub(in crate::engine) fn below(&self, parent: Option<&Text>) -> impl Iterator<Item = &AgentState> {
        self.states.iter().filter(move |state| state.parent_id.as_ref() == parent)
    }
}

/// Returns `true` if the last event of a run is that it waits.
fn is_waiting(records: Option<&Vec<Record>>) -> bool {
    let last = records.into_iter().flatten().rev().find_map(|record| match &record.content {
        Content::Event(event) => Some(event),
        _ => None,
    });
    matches!(last, Some(RunEvent::Finish { reason: FinishReason::ToolCalls, .. }))
}

/// Returns the end of an agent whose server stopped.
pub(in crate::engine) fn interrupted(mut state: AgentState) -> RunEvent {
    state.status = AgentStatus::Cancelled;
    state.reason = Some(Text::from_static("interrupted"));
    RunEvent::AgentState(Box::new(state))
}
