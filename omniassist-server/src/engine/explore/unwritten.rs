use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use omniassist_core::event::AgentDelta;
use omniassist_core::{RunEvent, Text};
use tokio::sync::Notify;

use crate::store::ModelUsage;

/// The bytes of text that may wait for the journal before the agents wait too. The store is away then, or very slow.
const BYTES: usize = 256 * 1024;

/// The changes that the journal of a tree does not have yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    /// The agents whose states have changed.
    pub(super) changed: HashSet<Text>,
    deltas: Vec<RunEvent>,
    /// The bytes of `deltas`.
    bytes: usize,
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
    pub(super) fn delta(&mut self, agent_id: &Text, delta: &Text) {
        self.bytes += delta.len();
        // A copy, since a delta would keep the whole buffer into which it was read.
        let delta = Text::from(delta.as_str());
        let (agent_id, delta) = (agent_id.clone(), AgentDelta::Text { delta });
        self.deltas.push(RunEvent::AgentDelta { agent_id, delta });
        self.notify.notify_one();
    }

    /// Returns `true` if the agents need not wait for the journal.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < BYTES
    }

    /// Takes the agents whose states have changed, what was written, and the model calls.
    pub(super) fn take(&mut self) -> (HashSet<Text>, Vec<RunEvent>, Vec<ModelUsage>) {
        self.bytes = 0;
        (mem::take(&mut self.changed), mem::take(&mut self.deltas), mem::take(&mut self.used))
    }

    /// Returns what is notified when there is something to write.
    pub(super) fn notify(&self) -> Arc<Notify> {
        Arc::clone(&self.notify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_wait_from_256_kib_of_unwritten_text_on() {
        let mut unwritten = Unwritten::default();
        unwritten.delta(&"a".into(), &"x".repeat(BYTES - 1).into());
        assert!(unwritten.has_room(), "one byte less leaves room");
        unwritten.delta(&"b".into(), &"x".into());
        assert!(!unwritten.has_room(), "256 KiB leave none");
        assert_eq!(unwritten.take().1.len(), 2);
        assert!(unwritten.has_room());
    }

    #[test]
    fn a_delta_does_not_keep_the_buffer_into_which_it_was_read() {
        let mut unwritten = Unwritten::default();
        let read = Text::from("x".repeat(8 * 1024));
        let delta = read.slice_ref(read.get(..100).unwrap());
        unwritten.delta(&"a".into(), &delta);
        let (_, deltas, _) = unwritten.take();
        let [RunEvent::AgentDelta { delta: AgentDelta::Text { delta: kept }, .. }] = &deltas[..] else {
            panic!("{deltas:?}")
        };
        assert_eq!(*kept, delta);
        assert_ne!(kept.as_str().as_ptr(), delta.as_str().as_ptr());
    }
}
