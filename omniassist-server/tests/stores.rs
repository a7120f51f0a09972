//! The suite for stores: the store in memory passes it, and stores with one fault each do not.

use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use omniassist_server::encryption::{Encrypted, EncryptionKeys};
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationStore, Delete, Deleted,
    Durability, InstanceId, Listing, MemoryStore, NewRun, Page, Retention, RunHead, RunId, RunStore, Saved,
    Scope, Segment, Settled, Signal, Signalled, StoreFuture, Swept, Tail, TailOf, UsageListing, UsageQuery,
    Which, Window,
};
use omniassist_server::testing::store::{self, Factory};

struct InMemory;

impl Factory for InMemory {
    type Store = MemoryStore;

    async fn create(&self) -> MemoryStore {
        MemoryStore::new()
    }

    async fn advance(&self, _store: &MemoryStore, by: Duration) {
        tokio::time::advance(by).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_store_in_memory_passes() {
    store::all(&InMemory).await;
    store::keys::all(&InMemory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_a_component_are_kept() {
    let shared = MemoryStore::new();
    let stores = [(); 3].map(|()| Arc::new(shared.clone()));
    store::components::concurrent_changes_are_kept(&stores, 1_000).await;
}

struct EncryptedInMemory;

impl Factory for EncryptedInMemory {
    type Store = Encrypted<MemoryStore>;

    async fn create(&self) -> Self::Store {
        let keys = EncryptionKeys::new("1", "at least thirty-two bytes of randomness").unwrap();
        Encrypted::new(MemoryStore::new(), keys)
    }

    async fn advance(&self, _store: &Self::Store, by: Duration) {
        tokio::time::advance(by).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_encrypted_store_passes() {
    store::all(&EncryptedInMemory).await;
}

/// A store with a fault.
struct Faulty {
    store: MemoryStore,
    fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// A fenced writer is told that its segment was taken.
    AcknowledgesAll,
    /// Each claim succeeds.
    ClaimsByForce,
    /// A repeated post begins a run.
    ForgetsPosts,
    /// The change of a settled run is lost.
    LosesMessages,
    /// Runs of other owners are found.
    LeaksRuns,
    /// Conversations of all owners are those of one.
    LeaksChats,
    /// A second answer replaces the first.
    TakesSignalsTwice,
    /// A lease never ends.
    KeepsLeases,
    /// The version of a conversation is not compared.
    IgnoresVersions,
    /// Cursors are ignored.
    ListsOnePage,
    /// Nothing is deleted.
    KeepsAll,
    /// Usage is not counted.
    LosesUsage,
    /// The usage of others is listed.
    LeaksUsage,
    /// Usage is not deleted.
    KeepsUsage,
    /// Nothing is swept.
    SweepsNothing,
    /// A version is compared some time before the change is saved, and a claim is judged some time before it is made.
    ChecksBefore,
}

const FAULTS: [Fault; 11] = [
    Fault::AcknowledgesAll,
    Fault::ClaimsByForce,
    Fault::ForgetsPosts,
    Fault::LosesMessages,
    Fault::LeaksRuns,
    Fault::TakesSignalsTwice,
    Fault::KeepsLeases,
    Fault::LosesUsage,
    Fault::LeaksUsage,
    Fault::KeepsUsage,
    Fault::SweepsNothing,
];

const FAULTS_OF_CONVERSATIONS: [Fault; 4] =
    [Fault::LeaksChats, Fault::IgnoresVersions, Fault::ListsOnePage, Fault::KeepsAll];

impl Factory for Fault {
    type Store = Faulty;

    async fn create(&self) -> Faulty {
        Faulty { store: MemoryStore::new(), fault: *self }
    }

    async fn advance(&self, _store: &Faulty, by: Duration) {
        tokio::time::advance(by).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_of_a_store_is_found() {
    store::all(&Fault::None).await;
    for fault in FAULTS {
        let checked = AssertUnwindSafe(store::all(&fault)).catch_unwind().await;
        assert!(checked.is_err(), "{fault:?} was not found");
    }
    for fault in FAULTS_OF_CONVERSATIONS {
        let checked = AssertUnwindSafe(store::conversations::all(&fault)).catch_unwind().await;
        assert!(checked.is_err(), "{fault:?} was not found");
    }
}

/// One random history shows the fault of a store only with some probability, so these are many, and the same in each run.
#[tokio::test(start_paused = true)]
async fn calls_of_two_steps_have_no_order() {
    let fault = Fault::ChecksBefore;
    let run = |seed| AssertUnwindSafe(store::histories::check_runs(&fault, seed)).catch_unwind();
    let runs = stream::iter(0..200).then(run).any(|checked| ready(checked.is_err())).await;
    assert!(runs, "no history of a run shows the fault");
    let conversation =
        |seed| AssertUnwindSafe(store::histories::check_conversations(&fault, seed)).catch_unwind();
    let conversations = stream::iter(0..200).then(conversation).any(|checked| ready(checked.is_err())).await;
    assert!(conversations, "no history of a conversation shows the fault");
}

impl Faulty {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn scope(&self, scope: &Scope) -> Scope {
        if self.has(Fault::LeaksChats) { Scope::new("everybody") } else { scope.clone() }
    }
}

impl RunStore for Faulty {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        let mut new = new.clone();
        new.post = new.post.filter(|_| !self.has(Fault::ForgetsPosts));
        Box::pin(async move { self.store.begin(&new).await })
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        Box::pin(async move {
            let mut answers = self.store.append(batch, how).await?;
            for answer in answers.iter_mut().filter(|_| self.has(Fault::AcknowledgesAll)) {
                *answer = Appended::Taken(Default::default());
            }
            Ok(answers)
        })
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        self.store.read(tails, max_bytes)
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        Box::pin(async move {
            let found = self.store.find(scope, which).await?;
            match found {
                None if self.has(Fault::LeaksRuns) => self.store.find(&Scope::new("alice"), which).await,
                found => Ok(found),
            }
        })
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        let mut end = end.clone();
        end.change = end.change.filter(|_| !self.has(Fault::LosesMessages));
        end.last.used.retain(|_| !self.has(Fault::LosesUsage));
        Box::pin(async move { self.store.settle(&end).await })
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        Box::pin(async move {
            let answer = self.store.signal(scope, run, signal).await?;
            let is_repeated = matches!(answer, Signalled::Repeats(_)) && self.has(Fault::TakesSignalsTwice);
            Ok(if is_repeated { Signalled::Taken } else { answer })
        })
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        let lease = if self.has(Fault::KeepsLeases) { Duration::MAX } else { lease };
        self.store.beat(me, lease, room)
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        Box::pin(async move {
            if self.has(Fault::ChecksBefore) {
                let judged = self.store.fork().claim(run, me, condition).await?;
                tokio::task::yield_now().await;
                return if judged.is_some() {
                    self.store.claim(run, me, Claim::Force).await
                } else {
                    Ok(None)
                };
            }
            let condition = if self.has(Fault::ClaimsByForce) { Claim::Force } else { condition };
            self.store.claim(run, me, condition).await
        })
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        let mut query = query.clone();
        query.scope = query.scope.filter(|_| !self.has(Fault::LeaksUsage));
        Box::pin(async move { self.store.usage(&query, page).await })
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if self.has(Fault::KeepsUsage) { Ok(()) } else { self.store.delete_usage(scope).await }
        })
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        self.store.sweep(policy, if self.has(Fault::SweepsNothing) { 0 } else { at_most })
    }
}

impl ConversationStore for Faulty {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        Box::pin(async move { self.store.load(&self.scope(scope), chat, window).await })
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        let mut change = change.clone();
        change.version = change.version.filter(|_| !self.has(Fault::IgnoresVersions));
        Box::pin(async move {
            if self.has(Fault::ChecksBefore) {
                let judged = self.store.fork().save(scope, chat, &change).await?;
                tokio::task::yield_now().await;
                change.version = None;
                if !matches!(judged, Saved::Version(_)) {
                    return Ok(judged);
                }
            }
            self.store.save(&self.scope(scope), chat, &change).await
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        Box::pin(async move {
            let mut listing = self.store.list(&self.scope(scope), page).await?;
            listing.next = listing.next.filter(|_| !self.has(Fault::ListsOnePage));
            Ok(listing)
        })
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        Box::pin(async move {
            if self.has(Fault::KeepsAll) {
                return Ok(Deleted::default());
            }
            self.store.delete(&self.scope(scope), what).await
        })
    }
}
