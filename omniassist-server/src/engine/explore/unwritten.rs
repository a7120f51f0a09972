use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use omniassist_core::event::AgentDelta;
use omniassist_core::{RunEvent, Text};
use tokio::sync::Notify;

/// The changes that the journal of a tree does not have yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    /// The agents whose states have changed.
    changed: HashSet<Text>,
    deltas: Vec<RunEvent>,
    notify: Arc<Notify>,
}

impl Unwritten {
    /// Notes that the states of these agents have changed.
    pub(super) fn changed<'a>(&mut self, ids: impl IntoIterator<Item = &'a Text>) {
        self.changed.extend(ids.into_iter().cloned());
        self.notify.notify_one();
    }

    /// Notes what an agent has written.
    pub(super) fn delta(&mut self, agent_id: &Text, delta: Text) {
        let (agent_id, delta) = (agent_id.clone(), AgentDelta::Text { delta });
        self.deltas.push(RunEvent::AgentDelta { agent_id, delta });
        self.notify.notify_one();
    }

    /// Takes the agents whose states have changed, and what was written.
    pub(super) fn take(&mut self) -> (HashSet<Text>, Vec<RunEvent>) {
        (mem::take(&mut self.changed), mem::take(&mut self.deltas))
    }

    /// Returns what is notified when there is something to write.
    pub(super) fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.notify)
    }
}
