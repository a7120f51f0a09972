use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::store::Scope;

/// The number of conversations that change at the same time. Others share a turn with one of these.
const TURNS: usize = 64;

/// Turns of the writers of this process, so that they do not make each other try again.
///
/// The turn belongs to a conversation, since the store compares the version of the whole conversation.
#[derive(Clone)]
pub(super) struct Turns(Arc<[Mutex<()>]>);

impl Turns {
    pub(super) fn new() -> Self {
        Self((0..TURNS).map(|_| Mutex::new(())).collect())
    }

    /// Waits for the turn of a conversation. It ends when the guard is dropped.
    pub(super) async fn wait(&self, scope: &Scope, session: &str) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        (scope, session).hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or_default();
        match self.0.get(at) {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }
}
