use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use omniassist_core::event::AgentDelta;
use omniassist_core::{RunEvent, Text};
use tokio::sync::Notify;

use crate::store::ModelUsage;

/// The changes that the journal of a tree does not have yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    /// The agents whose states have changed.
    changed: HashSet<Text>,
    deltas: Vec<RunEvent>,
    /// The model calls that have ended. They are written with the next change.
    pub(super) used: Vec<ModelUsage>,
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

    /// Takes the agents whose states have changed, what was written, and the model calls.
    pub(super) fn take(&mut self) -> (HashSet<Text>, Vec<RunEvent>, Vec<ModelUsage>) {
        (mem::take(&mut self.changed), mem::take(&mut self.deltas), mem::take(&mut self.used))
    }

    /// Returns what is notified when there is something to write.
    pub(super) fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.notify)
    }
}
