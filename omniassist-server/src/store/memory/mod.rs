mod chat;
mod hints;
mod keys;
mod run;
mod runs;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use self::hints::Hints;
use self::state::State;
use super::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationStore, Delete, Deleted,
    Durability, InstanceId, Listing, NewRun, Page, Retention, RunHead, RunId, RunStore, Saved, Scope,
    Segment, Settled, Signal, Signalled, StoreError, StoreFuture, Swept, Tail, TailOf, UsageListing,
    UsageQuery, Wake, Which, Window,
};
use crate::clock;
use crate::sync::lock;

/// A store of runs and conversations in the memory of this process, for tests.
///
/// Its time is that of tokio, so a test with a paused clock controls it. Clones share their content.
#[derive(Clone)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    /// The time at the creation, in milliseconds since 1970, and on tokio's clock.
    created: (u64, Instant),
    hints: Arc<Hints>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::default(), created: (clock::now_ms(), Instant::now()), hints: Arc::default() }
    }

    /// Creates a store with a copy of the content. Later changes of one store do not reach the other.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = lock(&self.state).clone();
        Self { state: Arc::new(Mutex::new(state)), created: self.created, hints: Arc::default() }
    }

    /// Runs a transaction. The state must be as before where it fails.
    fn with<'a, T: 'a>(
        &'a self,
        work: impl FnOnce(&mut State, u64) -> Result<T, StoreError> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let (at, instant) = self.created;
            let now = at.saturating_add(clock::millis(instant.elapsed()));
            work(&mut lock(&self.state), now)
        })
    }
}

impl Default for MemoryStore {
    /// Returns the store that [`new`](Self::new) returns.
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        let mut shown = f.debug_struct("MemoryStore");
        shown
            .field("conversations", &state.chats.len())
            .field("runs", &state.runs.len())
            .finish_non_exhaustive()
    }
}

impl RunStore for MemoryStore {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        self.with(|state, now| state.begin(new, now))
    }

    fn append<'a>(&'a self, batch: &'a [Segment], _how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        self.with(|state, now| Ok(batch.iter().map(|segment| state.append(segment, now)).collect()))
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        self.with(move |state, _| Ok(tails.iter().map(|of| state.tail(of, max_bytes)).collect()))
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        self.with(move |state, now| Ok(state.find(scope, which).map(|run| run.head(now))))
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        self.with(|state, now| state.settle(end, now))
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        self.with(move |state, now| Ok(state.signal(scope, run, signal, now)))
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        self.with(move |state, now| Ok(state.beat(me, lease, room, now)))
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        self.with(move |state, now| Ok(state.claim(run, me, condition, now)))
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        self.with(|state, _| state.usage(query, page))
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        self.with(|state, _| {
            state.delete_usage(scope);
            Ok(())
        })
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        self.with(move |state, now| Ok(state.sweep(policy, at_most, now)))
    }

    fn hints(&self) -> Option<Arc<dyn Wake>> {
        Some(Arc::clone(&self.hints) as Arc<dyn Wake>)
    }
}

impl ConversationStore for MemoryStore {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        self.with(|state, _| Ok(state.chat(scope, chat).map(|chat| chat.load(window))))
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        self.with(|state, now| {
            Ok(state.save(scope, chat, change, now).map_or_else(Saved::Refused, Saved::Version))
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.with(|state, _| state.list(scope, page))
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.with(move |state, now| Ok(state.delete(scope, what, now)))
    }
}
