//! The states of agents that the journal of a tree has.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use omniassist_core::agent_tree::{NodeState, Status};
use omniassist_core::event::{AgentState, AgentStatus};
use omniassist_core::journal::{Content, Head, Record};
use omniassist_core::{JsonText, RunEvent, Text};
use tokio::time::Instant;

use crate::engine::tree::cut;

/// The kind of the data with a whole state.
pub(super) const STATE: &str = "agent-node";

/// The time between two writes of a state whose step and status are the same.
pub(super) const REWRITE: Duration = Duration::from_secs(1);

/// The states that the journal of a tree has.
pub(super) struct Written {
    states: HashMap<Text, State>,
    /// The bytes of whole states that may be written until the end of the tree.
    left: usize,
}

/// The latest state of an agent.
struct State {
    shown: AgentState,
    step: u8,
    status: Status,
    at: Instant,
    /// `true` if the journal has the whole state.
    is_whole: bool,
}

impl Written {
    /// Creates the states of a tree that has not begun, of which this many bytes may be written until it ends.
    pub(super) fn new(left: usize) -> Self {
        Self { states: HashMap::new(), left }
    }

    /// Returns `true` if a state that has changed is written now: its agent has begun, or does another step, or has another
    /// status, or was not written for a second.
    pub(super) fn is_due(&self, state: &NodeState) -> bool {
        self.states.get(&state.agent_id).is_none_or(|known| {
            known.step != state.metadata.step || known.status != state.status || known.at.elapsed() >= REWRITE
        })
    }

    /// Returns `true` if the latest state was written as a whole.
    pub(super) fn has_whole(&self, state: &NodeState) -> bool {
        self.states.get(&state.agent_id).is_some_and(|known| known.is_whole)
    }

    /// Returns the event that shows the viewers of the run an agent that has begun.
    pub(super) fn begin(&mut self, state: &NodeState) -> Option<RunEvent> {
        if self.states.contains_key(&state.agent_id) {
            return None;
        }
        let mut shown = shown_state(state);
        (shown.status, shown.text) = (AgentStatus::Running, None);
        let begun = RunEvent::AgentState(Box::new(shown.clone()));
        let (step, status, at) = (state.metadata.step, state.status, Instant::now());
        self.states.insert(state.agent_id.clone(), State { shown, step, status, at, is_whole: false });
        Some(begun)
    }

    /// Returns the event that shows the viewers of the run the state, if it is another one for them.
    pub(super) fn show(&mut self, state: &NodeState) -> Option<RunEvent> {
        let known = self.states.get_mut(&state.agent_id)?;
        let shown = shown_state(state);
        (known.step, known.status, known.at) = (state.metadata.step, state.status, Instant::now());
        known.is_whole = false;
        (known.shown != shown).then(|| {
            known.shown.clone_from(&shown);
            RunEvent::AgentState(Box::new(shown))
        })
    }

    /// Returns the record of the whole state. It belongs to the agent, so that viewers of the run are not shown it. `None` if
    /// the states have too many bytes, and it is not the last one.
    pub(super) fn record(&mut self, state: &NodeState, is_last: bool) -> Option<Record> {
        if self.left == 0 && !is_last {
            return None;
        }
        let data = JsonText::from_serialize(state)
            .inspect_err(|error| tracing::error!(%error, "the state of an agent is not in the journal"))
            .ok()?;
        let left = self.left.checked_sub(data.as_str().len());
        self.left = left.unwrap_or(0);
        if left.is_none() && !is_last {
            tracing::info!(agent_id = %*state.agent_id, "the states of a tree are written at its end only");
            return None;
        }
        if let Some(known) = self.states.get_mut(&state.agent_id) {
            known.is_whole = true;
        }
        let head = Head::default().with(Head::AGENT, Bytes::copy_from_slice(state.agent_id.as_bytes()));
        let data = RunEvent::Data { name: Text::from_static(STATE), id: None, data, transient: true };
        Some(Record { head, content: Content::Event(data) })
    }
}

/// Returns a state as the viewers of a run know those of asked agents.
fn shown_state(state: &NodeState) -> AgentState {
    let (id, name) = (state.agent_id.clone(), state.metadata.name.clone());
    let mut shown = AgentState::begun(id, name, Text::new(), cut(&state.user_content));
    (shown.parent_id, shown.depth) = (state.parent_id.clone(), state.metadata.depth);
    shown.text = state.result.as_ref().map(cut);
    shown.status = match state.status {
        Status::Completed => AgentStatus::Completed,
        Status::Failed => AgentStatus::Failed,
        Status::Cancelled => AgentStatus::Cancelled,
        Status::WaitingForUser | Status::Paused => AgentStatus::Waiting,
        _ => AgentStatus::Running,
    };
    shown
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn state(id: &str) -> NodeState {
        NodeState::begun(id.into(), None, "task".into(), 0)
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_is_due_at_a_change_of_step_or_status_and_once_a_second() {
        let (mut written, mut state) = (Written::new(usize::MAX), state("a"));
        assert!(written.is_due(&state), "it has begun");
        written.begin(&state).unwrap();
        written.show(&state);
        state.user_comment = Some("x".into());
        advance(REWRITE - Duration::from_millis(1)).await;
        assert!(!written.is_due(&state));
        state.metadata.step = 2;
        assert!(written.is_due(&state));
        written.show(&state);
        assert!(!written.is_due(&state));
        state.status = Status::Paused;
        assert!(written.is_due(&state));
        written.show(&state);
        advance(REWRITE).await;
        assert!(written.is_due(&state));
    }

    #[tokio::test(start_paused = true)]
    async fn whole_states_are_written_up_to_the_limit_and_at_the_end() {
        let (one, two) = (state("a"), state("b"));
        let bytes = JsonText::from_serialize(&one).unwrap().as_str().len();
        for (limit, fits) in [(2 * bytes, true), (2 * bytes - 1, false)] {
            let mut written = Written::new(limit);
            for state in [&one, &two] {
                written.begin(state).unwrap();
            }
            assert!(written.record(&one, false).is_some());
            assert_eq!(written.record(&two, false).is_some(), fits);
            assert!(written.record(&one, false).is_none(), "no more fits");
            assert_eq!((written.has_whole(&one), written.has_whole(&two)), (true, fits));
            assert!(written.record(&two, true).is_some());
            assert!(written.has_whole(&two));
        }
    }
}
