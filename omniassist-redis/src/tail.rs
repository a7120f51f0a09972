use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationKey, ConversationStore, Delete,
    Deleted, Durability, InstanceId, KeyOf, KeyStore, Listing, NewRun, OpenRun, Page, Retention, RunHead,
    RunId, RunStore, Saved, Scope, Segment, Settled, Signal, Signalled, StoreFuture, Swept, Tail, TailCache,
    TailOf, UsageListing, UsageQuery, Wake, Which, Window,
};

use crate::Redis;
use crate::exchange::Exchange;

/// A store whose servers send each other hints and the text of running answers through Redis.
///
/// The store keeps all that it kept before, and nothing depends on Redis. While Redis does not work, servers read the text
/// from the store, and use its own hints if it has any.
///
/// Text that a viewer on another server waits for is sent every 20 ms. All servers use one stream, whose entries are trimmed
/// after 5 s, and which expires 10 s after the last one.
///
/// To encrypt the content, put `encryption::Encrypted` around it. The order matters, and the other one does not compile:
///
/// ```compile_fail,E0277
/// # use omniassist_redis::{Redis, RedisTail};
/// # use omniassist_server::encryption::{Encrypted, EncryptionKeys};
/// # use omniassist_server::store::MemoryStore;
/// # fn refused(keys: EncryptionKeys, redis: &Redis) {
/// // The text in Redis would not be encrypted.
/// let store = RedisTail::new(Encrypted::new(MemoryStore::new(), keys), redis);
/// # }
/// ```
///
/// Dropping the last clone, and the assistants with it, closes its two connections.
#[derive(Clone)]
pub struct RedisTail<S> {
    store: S,
    exchange: Arc<Exchange>,
}

impl<S: RunStore + KeyStore> RedisTail<S> {
    /// Puts the layer around a store. It connects when an assistant uses it.
    #[must_use]
    pub fn new(store: S, redis: &Redis) -> Self {
        let exchange = Arc::new(Exchange::new(redis.clone(), store.hints()));
        Self { store, exchange }
    }

    /// Returns the store below.
    pub const fn inner(&self) -> &S {
        &self.store
    }
}

impl<S: fmt::Debug> fmt::Debug for RedisTail<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTail").field("store", &self.store).finish_non_exhaustive()
    }
}

impl<S: RunStore> RunStore for RedisTail<S> {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        self.store.begin(new)
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        self.store.append(batch, how)
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
        self.store.settle(end)
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
        Some(Arc::clone(&self.exchange) as Arc<dyn Wake>)
    }

    fn tail_cache(&self) -> Option<Arc<dyn TailCache>> {
        Some(Arc::clone(&self.exchange) as Arc<dyn TailCache>)
    }
}

impl<S: ConversationStore> ConversationStore for RedisTail<S> {
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

impl<S: KeyStore> KeyStore for RedisTail<S> {
    fn key<'a>(&'a self, of: KeyOf<'a>) -> StoreFuture<'a, Option<ConversationKey>> {
        self.store.key(of)
    }

    fn keys<'a>(
        &'a self,
        after: Option<&'a ConversationKey>,
        at_most: usize,
    ) -> StoreFuture<'a, Vec<ConversationKey>> {
        self.store.keys(after, at_most)
    }

    fn replace_key<'a>(&'a self, known: &'a ConversationKey, new: &'a Bytes) -> StoreFuture<'a, bool> {
        self.store.replace_key(known, new)
    }
}
