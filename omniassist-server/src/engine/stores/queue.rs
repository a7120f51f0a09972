//! The runs in queues for which this process waits: their clients are connected to it, or it has their requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use http::Extensions;
use omniassist_core::Text;
use tokio::sync::Notify;

use crate::CancellationToken;
use crate::store::{RunHead, RunId, Scope};
use crate::sync::lock;

#[derive(Default)]
pub(in crate::engine) struct Queue(Mutex<HashMap<RunId, Entry>>);

struct Entry {
    scope: Scope,
    chat: Text,
    /// The part of the request that is not stored. A run that begins in another process does without it.
    kept: Option<Extensions>,
    over: CancellationToken,
    /// Notified when the run may begin, or has ended.
    changed: Arc<Notify>,
    /// `true` if the client does not wait for the answer.
    is_detached: bool,
}

impl Entry {
    fn new(scope: &Scope, chat: &Text) -> Self {
        let (scope, chat, over) = (scope.clone(), chat.clone(), CancellationToken::new());
        Self { scope, chat, kept: None, over, changed: Arc::default(), is_detached: false }
    }
}

impl Queue {
    /// Keeps the extensions of a request, with its admission, until its run begins.
    pub(in crate::engine) fn keep(
        &self,
        run: RunId,
        scope: &Scope,
        chat: &Text,
        extensions: Extensions,
    ) -> CancellationToken {
        let entry = Entry { kept: Some(extensions), ..Entry::new(scope, chat) };
        let over = entry.over.clone();
        lock(&self.0).insert(run, entry);
        over
    }

    /// Makes the task that waits for a run look at it now. Returns `true` if this process waits for the run.
    pub(in crate::engine) fn look_at(&self, run: RunId) -> bool {
        let entries = lock(&self.0);
        let entry = entries.get(&run);
        entry.inspect(|entry| entry.changed.notify_one()).is_some()
    }

    /// Returns what is notified when a run may begin, or has ended.
    pub(in crate::engine) fn changed(&self, run: RunId) -> Arc<Notify> {
        lock(&self.0).get(&run).map(|entry| Arc::clone(&entry.changed)).unwrap_or_default()
    }

    /// Returns all runs, with their owners.
    pub(in crate::engine) fn runs(&self) -> Vec<(Scope, RunId)> {
        lock(&self.0).iter().map(|(run, entry)| (entry.scope.clone(), *run)).collect()
    }

    /// Returns the runs of a chat.
    pub(in crate::engine) fn of_chat(&self, scope: &Scope, chat: &str) -> Vec<RunId> {
        let entries = lock(&self.0);
        let of_chat = entries.iter().filter(|(_, entry)| entry.scope == *scope && entry.chat == *chat);
        of_chat.map(|(run, _)| *run).collect()
    }

    /// Returns the token that is cancelled when this process no longer waits for the run, and `true` if it did not wait.
    pub(in crate::engine) fn join(&self, head: &RunHead) -> (CancellationToken, bool) {
        let mut entries = lock(&self.0);
        let is_new = !entries.contains_key(&head.run);
        let entry = entries.entry(head.run).or_insert_with(|| Entry::new(&head.scope, &head.chat));
        (entry.over.clone(), is_new)
    }

    /// Takes the extensions of the request of a run that begins.
    pub(in crate::engine) fn take(&self, run: RunId) -> Option<Extensions> {
        lock(&self.0).get_mut(&run)?.kept.take()
    }

    /// Records that the client does not wait for the answer.
    pub(in crate::engine) fn detach(&self, run: RunId) {
        if let Some(entry) = lock(&self.0).get_mut(&run) {
            entry.is_detached = true;
        }
    }

    /// Ends the wait for a run. Returns `true` if its client does not wait for the answer.
    pub(in crate::engine) fn end(&self, run: RunId) -> bool {
        let Some(entry) = lock(&self.0).remove(&run) else { return false };
        entry.over.cancel();
        entry.is_detached
    }
}

/// Returns `true` if a run ended without having begun.
pub(in crate::engine) fn was_stopped_in_queue(head: &RunHead) -> bool {
    head.state.is_ended() && head.epoch == 0
}
