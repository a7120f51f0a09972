use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;

use super::{
    Appended, Beat, Begun, Claim, Claimed, Durability, InstanceId, NewRun, OpenRun, Page, Retention, RunHead,
    RunId, Scope, Segment, Settled, Signal, SignalKind, Signalled, StoreFuture, Swept, Tail, TailCache,
    TailOf, UsageListing, UsageQuery, Wake, Which,
};

/// A store of runs and their journals.
///
/// Each method is one transaction, and can be repeated with the same values after an error: a lost acknowledgement of a
/// write is told from the write of another instance. Times come from the clock of the database.
///
/// The one primitive that a database needs is an insert that fails if a segment with the same run and position is there.
///
/// The functions of `testing::store` check an implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store of runs",
    note = "implement `RunStore`, or use a `MemoryStore`"
)]
pub trait RunStore: Send + Sync + 'static {
    /// Begins a run: the change of its conversation, the run and its first segment, or nothing. The write is hard.
    ///
    /// The answer is the first of these that applies: the conversation was deleted, the post repeats, another run of the
    /// conversation is live or queued, the change is refused.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be stored.
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun>;

    /// Appends segments, at most one of each run. Each is judged by itself, and the answers have the order of the segments.
    ///
    /// A segment is taken if its writer still drives the run and its position is free, or if the same writer stored it
    /// there before. Its [usage](Segment::used) is added once. A writer sends the next position only after the one before was
    /// taken, and sends a segment again only as it was.
    ///
    /// # Errors
    ///
    /// Returns an error if the segments cannot be stored. Those that were may be sent again.
    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>>;

    /// Returns the segments of runs after a position: for each run the next ones up to `max_bytes` of data, and at least
    /// one if there is one. A store may limit their number too: [`Tail::head`] tells of more. The answers have the order of
    /// the questions. `None` stands for a run that the owner does not have.
    ///
    /// # Errors
    ///
    /// Returns an error if the segments cannot be read.
    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>>;

    /// Returns a run of an owner, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be read.
    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>>;

    /// Returns the runs of chats that have not ended: for each chat the live one, else the one that is next in the queue. The
    /// order does not matter. Default: [`find`](Self::find) for each chat.
    ///
    /// # Errors
    ///
    /// Returns an error if the runs cannot be read.
    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        Box::pin(async move {
            let mut open = Vec::new();
            for chat in chats {
                let found = self.find(scope, Which::Chat(chat)).await?;
                let found = found.filter(|head| !head.state.is_ended());
                open.extend(found.map(|head| OpenRun::new(head.chat, head.run, head.state)));
            }
            Ok(open)
        })
    }

    /// Ends an instance's work on a run: its last segment, the messages, the usage, the questions and the state, or
    /// nothing. The write is hard.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be stored, and an [invalid](super::StoreError::is_invalid) one if the change of the
    /// conversation is refused.
    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended>;

    /// Sends a signal to a run. The run receives one signal of each key. The write is hard.
    ///
    /// An answer is taken for an open question only. When it is the last open one, or the signal is a stop or a message, a
    /// waiting run becomes free. A stop ends a queued run. The stop of an agent leaves the run as it is.
    ///
    /// # Errors
    ///
    /// Returns an error if the signal cannot be stored.
    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled>;

    /// Tells the instances of runs that other instances have viewers of them for this time. Runs that have ended are left
    /// out. Default: a [watch](super::SignalKind::Watch) for each run.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be stored. It may be stored for some of the runs.
    fn watch<'a>(&'a self, runs: &'a [(Scope, RunId)], time: Duration) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            for (scope, run) in runs {
                self.signal(scope, *run, &Signal::new(SignalKind::Watch(time), scope.owner())).await?;
            }
            Ok(())
        })
    }

    /// Extends the lease of an instance, and returns the signals of its runs and at most `room` runs that are free. A
    /// lease of zero ends the lease.
    ///
    /// # Errors
    ///
    /// Returns an error if the lease cannot be stored. It then ends when it would have.
    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat>;

    /// Claims a run: raises its epoch and inserts the mark of the claim into its journal, or returns `None` if the run does
    /// not exist, has ended, or does not meet the condition. The write is hard.
    ///
    /// Each claim gives a new writer, so that two tasks of one instance never share one. After an error a claim is repeated
    /// with [`Claim::Again`].
    ///
    /// # Errors
    ///
    /// Returns an error if the claim cannot be stored.
    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>>;

    /// Lists the usage of days, in the order of day, owner and model, of which the last two are compared by their bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read, and an [invalid](super::StoreError::is_invalid) one for a cursor that no page
    /// returned.
    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing>;

    /// Deletes the usage of an owner.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be deleted.
    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()>;

    /// Deletes what a policy no longer keeps, at most this many of each kind. To delete everything, it is called until
    /// nothing is left.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be deleted.
    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept>;

    /// Returns the way in which instances of this store send each other hints. Default: none, so that they look at the store
    /// again and again.
    fn hints(&self) -> Option<Arc<dyn Wake>> {
        None
    }

    /// Returns the way in which instances of this store send each other the text of runs. Default: none, so that they read
    /// the journals.
    fn tail_cache(&self) -> Option<Arc<dyn TailCache>> {
        None
    }
}
