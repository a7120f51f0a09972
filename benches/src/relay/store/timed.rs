//! A store that records the times of its commits.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use omniassist_server::core::Text;
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationStore, Delete, Deleted,
    Durability, InstanceId, Listing, NewRun, OpenRun, Page, Retention, RunHead, RunId, RunStore, Saved,
    Scope, Segment, Settled, Signal, Signalled, StoreError, StoreFuture, Swept, Tail, TailOf, UsageListing,
    UsageQuery, Wake, Which, Window,
};

/// A store that writes a line for each commit into a file: `soft` or `hard`, and the microseconds from the call to its
/// end.
pub(super) struct TimedStore<S> {
    store: S,
    times: File,
}

/// Returns the microseconds of the commits of a kind in the lines of a [`TimedStore`].
pub(in crate::relay) fn commits(lines: &str, kind: &str) -> Vec<u64> {
    let lines = lines.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(of, _)| *of == kind).filter_map(|(_, time)| time.parse().ok()).collect()
}

impl<S> TimedStore<S> {
    pub(super) fn new(store: S, times: &str) -> Result<Self, StoreError> {
        let times = OpenOptions::new().create(true).append(true).open(times);
        Ok(Self { store, times: times.map_err(StoreError::unavailable)? })
    }

    async fn timed<T>(&self, kind: &str, write: StoreFuture<'_, T>) -> Result<T, StoreError> {
        let began = Instant::now();
        let written = write.await;
        // One write appends the whole line.
        let line = format!("{kind} {}\n", began.elapsed().as_micros());
        (&self.times).write_all(line.as_bytes()).map_err(StoreError::unavailable)?;
        written
    }
}

impl<S: RunStore> RunStore for TimedStore<S> {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        Box::pin(self.timed("hard", self.store.begin(new)))
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        let kind = if how == Durability::Hard { "hard" } else { "soft" };
        Box::pin(self.timed(kind, self.store.append(batch, how)))
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        self.store.read(tails, max_bytes)
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        self.store.find(scope, which)
    }

    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        self.store.open_runs(scope, chats)
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        Box::pin(self.timed("hard", self.store.settle(end)))
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        self.store.signal(scope, run, signal)
    }

    fn watch<'a>(&'a self, runs: &'a [(Scope, RunId)], time: Duration) -> StoreFuture<'a, ()> {
        self.store.watch(runs, time)
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        self.store.beat(me, lease, room)
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        self.store.claim(run, me, condition)
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        self.store.usage(query, page)
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        self.store.delete_usage(scope)
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        self.store.sweep(policy, at_most)
    }

    fn hints(&self) -> Option<Arc<dyn Wake>> {
        self.store.hints()
    }
}

impl<S: ConversationStore> ConversationStore for TimedStore<S> {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        self.store.load(scope, chat, window)
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        self.store.save(scope, chat, change)
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.store.list(scope, page)
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        self.store.delete(scope, what)
    }
}
