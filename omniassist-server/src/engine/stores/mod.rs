//! The stores of an assistant, and the stored runs of this process.

pub(super) mod answers;
mod flusher;
pub(super) mod followed;
pub(super) mod journal;
pub(super) mod left_open;
mod pieces;
pub(super) mod queue;
pub(super) mod refused;
pub(super) mod shown_leg;
pub(super) mod tail;
mod watched;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::Duration;

use omniassist_core::{Error, Text};
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, Notify, OnceCell, Semaphore};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::CancellationToken;
use crate::afs::{Afs, AfsHistory};
use crate::engine::end::STOPPED;
use crate::store::{
    Begun, Change, Claim, Claimed, ConversationStore, InstanceId, NewRun, NotSaved, Notice, RunHead, RunId,
    RunState, RunStore, Saved, Scope, StoreError, TailCache, TailOf, Wake, Which, Writer,
};
use crate::sync::lock;
use answers::Answer;
use flusher::Flusher;
use followed::Followed;
use queue::Queue;
use shown_leg::ShownLeg;
use tail::Tail;
use watched::Watched;

/// The time between two writes of text, and of text that somebody reads from the journal.
const FLUSH: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(50));

/// The number of runs that are taken over at the same time.
pub(super) const ROOM: usize = 32;

/// The reason for the end of a run whose conversation was deleted.
pub(super) const DELETED: Text = Text::from_static("The conversation was deleted.");

/// A position after the end of each journal. A store can add to it without an overflow of 32 bits.
const AFTER_ALL: u32 = 1 << 30;

/// The stores of an assistant, and the stored runs that this process drives.
pub(crate) struct Stores {
    pub(crate) runs: Arc<dyn RunStore>,
    pub(crate) conversations: Arc<dyn ConversationStore>,
    /// `true` if a run and its conversation change in one transaction.
    pub(super) is_one: bool,
    pub(super) instance: InstanceId,
    /// The runtime of the work that outlives its request. None is set if requests have one that outlives them.
    pub(super) runtime: OnceLock<Handle>,
    /// Set when the lease of this instance has begun.
    pub(super) lease: OnceCell<()>,
    /// Held while the lease is extended or ended.
    pub(super) beating: AsyncMutex<()>,
    /// Completed when the sweeps have begun.
    pub(super) sweeps: Once,
    /// Completed when the log says that chats of anonymous users are not stored.
    anonymous: Once,
    /// Cancelled when this process lets go of its runs.
    pub(super) released: CancellationToken,
    flusher: OnceLock<Flusher>,
    live: Mutex<HashMap<RunId, LiveLeg>>,
    /// The runs of other instances that have viewers here.
    pub(super) followed: Followed,
    /// The runs in queues for which this process waits.
    pub(super) queue: Queue,
    /// Hints from and to other instances.
    pub(super) wake: Option<Arc<dyn Wake>>,
    /// The text of runs from other instances, and to them.
    pub(super) tail_cache: Option<Arc<dyn TailCache>>,
    /// The runs of this instance that have viewers on other instances. `None` without a tail cache.
    pub(super) watched: Option<Arc<Watched>>,
    /// Notified when the lease is extended before its time, since something has changed.
    pub(super) beat_now: Arc<Notify>,
    /// Receives hints and pieces, until they are dropped.
    pub(super) listeners: OnceLock<Vec<AbortOnDropHandle<()>>>,
    /// Runs that may name this process although nothing here drives them, since an answer of the store was lost or a claimed
    /// run could not be continued.
    left: Mutex<HashSet<RunId>>,
    /// Free runs that this process failed to claim, such as those whose key it does not have.
    refused: Mutex<HashSet<RunId>>,
    /// The places for runs that are taken over at the same time.
    pub(super) takeovers: Arc<Semaphore>,
    started: Instant,
}

/// A run that this process drives.
#[derive(Clone)]
pub(super) struct LiveLeg {
    pub(super) scope: Scope,
    pub(super) shown: ShownLeg,
    pub(super) control: Arc<dyn Control>,
    /// Cancelled when the leg is settled, or this process has lost the run.
    pub(super) over: CancellationToken,
}

/// The control of a run from outside.
pub(super) trait Control: Send + Sync {
    /// Ends the run, with a reason for its client.
    fn abort(&self, reason: Text);

    /// Stops an agent that works for the run. Returns `false` if there is none with this id.
    fn stop_agent(&self, agent_id: &str) -> bool;

    /// Leaves the run to the process that goes on with it.
    fn release(&self) {}

    /// Gives an open question of a tree its answer. Returns `false` if there is none with this id, as in all other runs.
    fn answer(&self, _query_id: &str, _answer: Answer) -> bool {
        false
    }
}

impl Stores {
    /// Returns the history of components in the conversations.
    pub(super) fn afs(&self) -> Afs {
        Afs::new().mount(AfsHistory::new(Arc::clone(&self.conversations)))
    }

    /// Saves a change in a store of conversations that is not the store of runs.
    ///
    /// # Errors
    ///
    /// Returns an error if the change is refused, or the store is not available.
    pub(super) async fn save(&self, scope: &Scope, chat: &str, change: &Change) -> Result<(), Error> {
        let saved = self.conversations.save(scope, chat, change).await;
        match saved.map_err(|error| refused::by_store(&error))? {
            Saved::Version(_) => Ok(()),
            Saved::Refused(refusal) => Err(refused::by_conversation(&refusal)),
        }
    }

    /// Saves the message of a run that ends in a store of conversations that is not the store of runs. A change that is refused
    /// is logged unless the conversation was deleted, and the run ends without it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available. The save can be repeated.
    pub(super) async fn save_end(
        &self,
        run: RunId,
        scope: &Scope,
        chat: &str,
        change: &Change,
    ) -> Result<(), StoreError> {
        if let Saved::Refused(refusal) = self.conversations.save(scope, chat, change).await?
            && refusal != NotSaved::Deleted
        {
            tracing::error!(run_id = %run, ?refusal, "a run ends without its message, which the store refuses");
        }
        Ok(())
    }

    pub(crate) fn new(
        runs: Arc<dyn RunStore>,
        conversations: Arc<dyn ConversationStore>,
        is_one: bool,
    ) -> Self {
        let (wake, tail_cache) = (runs.hints(), runs.tail_cache());
        let watched = tail_cache.clone().map(|cache| Arc::new(Watched::new(cache)));
        Self {
            runs,
            conversations,
            is_one,
            instance: InstanceId::random(),
            runtime: OnceLock::new(),
            lease: OnceCell::new(),
            beating: AsyncMutex::default(),
            sweeps: Once::new(),
            anonymous: Once::new(),
            released: CancellationToken::new(),
            flusher: OnceLock::new(),
            live: Mutex::default(),
            followed: Followed::default(),
            queue: Queue::default(),
            wake,
            tail_cache,
            watched,
            beat_now: Arc::default(),
            listeners: OnceLock::new(),
            left: Mutex::default(),
            refused: Mutex::default(),
            takeovers: Arc::new(Semaphore::new(ROOM)),
            started: Instant::now(),
        }
    }

    /// Logs once that chats of anonymous users are not stored.
    pub(super) fn report_anonymous(&self) {
        self.anonymous.call_once(|| {
            tracing::info!(
                "the chat of an anonymous user is not stored, and others will not be: a stored chat needs a named \
                 `Principal`, from a middleware or from `AssistantBuilder::authenticate`"
            );
        });
    }

    pub(super) fn flusher(&self) -> &Flusher {
        self.flusher
            .get_or_init(|| Flusher::start(Arc::clone(&self.runs), self.wake.clone(), self.watched.clone()))
    }

    /// Returns the next time at which text is written, sooner for a run that another instance reads. It is the same for all
    /// such runs, so that their text shares a write.
    pub(super) fn next_flush(&self, is_read: bool) -> Instant {
        let flush = if is_read { FLUSH.1 } else { FLUSH.0 };
        let elapsed = self.started.elapsed().as_millis() / flush.as_millis();
        self.started + flush * u32::try_from(elapsed + 1).unwrap_or(u32::MAX)
    }

    /// Returns `true` if other instances get the text of a run from the tail cache.
    pub(super) fn sends(&self, run: RunId) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.sends(run))
    }

    /// Begins or ends to send the text of a run to the tail cache, if there is one.
    pub(super) fn send_if_watched(&self, writer: Writer, tail: &Arc<Tail>, notice: Notice) {
        match &self.watched {
            Some(watched) if notice.watched => watched.insert(writer, tail),
            Some(watched) => watched.remove(writer.run),
            None => {}
        }
    }

    pub(super) fn live(&self, run: RunId) -> Option<LiveLeg> {
        lock(&self.live).get(&run).cloned()
    }

    /// Returns the leg of a run that this process drives. A process that was suspended may still have the leg of an earlier
    /// epoch: another instance has taken the run over, and counts its events in another way.
    pub(super) fn live_in(&self, head: &RunHead) -> Option<LiveLeg> {
        self.live(head.run).filter(|leg| leg.shown.tail.epoch() >= head.epoch)
    }

    /// Aborts a run that this process drives.
    pub(super) fn abort(&self, run: RunId, reason: Text) {
        if let Some(leg) = self.live(run) {
            leg.control.abort(reason);
        }
    }

    /// Aborts the runs of this process that were deleted, ended or taken over through another one. A run that writes learns of
    /// it by its write; a silent provider or a slow tool would go on. Looks at queued runs that wait no more, too.
    ///
    /// # Errors
    ///
    /// Returns an error if the runs cannot be read.
    pub(super) async fn look_at_own(&self) -> Result<(), StoreError> {
        let legs: Vec<_> = lock(&self.live).iter().map(|(run, leg)| (*run, leg.clone())).collect();
        let queued = self.queue.runs();
        let live = legs.iter().map(|(run, leg)| (leg.scope.clone(), *run));
        let questions: Vec<_> =
            live.chain(queued).map(|(scope, run)| TailOf::new(scope, run, AFTER_ALL)).collect();
        if questions.is_empty() {
            return Ok(());
        }
        let mut tails = self.runs.read(&questions, 0).await?.into_iter();
        for ((run, leg), tail) in legs.iter().zip(&mut tails) {
            match tail {
                None => leg.control.abort(DELETED),
                Some(tail) if tail.epoch > leg.shown.tail.epoch() => {
                    if tail.state == RunState::Running && !self.must_stop(&leg.scope, *run).await {
                        leg.control.release();
                    }
                    leg.control.abort(Text::from_static(STOPPED));
                }
                Some(_) => {}
            }
        }
        for (question, tail) in questions.iter().skip(legs.len()).zip(tails) {
            if tail.is_none_or(|tail| tail.state != RunState::Queued) {
                self.queue.look_at(question.run);
            }
        }
        Ok(())
    }

    /// Returns `true` if somebody has asked for the end of a run. A process that takes it over then only ends it.
    pub(super) async fn must_stop(&self, scope: &Scope, run: RunId) -> bool {
        let head = self.runs.find(scope, Which::Run(run)).await;
        head.is_ok_and(|head| head.is_some_and(|head| head.notice.stop))
    }

    /// Returns one of the runs that this process drives.
    pub(super) fn any_live(&self) -> Option<LiveLeg> {
        lock(&self.live).values().next().cloned()
    }

    pub(super) fn insert(&self, run: RunId, leg: LiveLeg) {
        lock(&self.live).insert(run, leg);
    }

    /// Begins a run. A try whose answer may be lost is repeated once, which begins no second run. If that fails too, the store
    /// may have the run; a later beat then continues it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(super) async fn begin(&self, new: &NewRun) -> Result<Begun, Error> {
        let begun = match self.runs.begin(new).await {
            Err(error) if error.is_unavailable() => self.runs.begin(new).await,
            begun => begun,
        };
        begun.inspect_err(|_| self.remember_left(new.run)).map_err(|error| refused::by_store(&error))
    }

    /// Claims a run. If the answer is lost, this process may have the run; a later beat then continues it.
    ///
    /// # Errors
    ///
    /// Returns an error if the claim cannot be stored.
    pub(super) async fn claim(&self, run: RunId, condition: Claim) -> Result<Option<Claimed>, StoreError> {
        self.runs.claim(run, self.instance, condition).await.inspect_err(|error| {
            lock(&self.refused).insert(run);
            // Nothing is written without the key.
            if !error.is_missing_key() {
                self.remember_left(run);
            }
        })
    }

    /// Returns the number of free runs for which a beat asks in addition to those for which there is room, so that runs which
    /// this process cannot claim do not hide the others.
    pub(super) fn refused(&self) -> usize {
        lock(&self.refused).len()
    }

    /// Returns at most this many of the free runs. Those that this process failed to claim come last.
    pub(super) fn choose(&self, free: Vec<RunId>, at_most: usize) -> Vec<RunId> {
        let mut refused = lock(&self.refused);
        let (last, mut chosen): (Vec<_>, Vec<_>) = free.into_iter().partition(|run| refused.contains(run));
        *refused = last.iter().copied().collect();
        chosen.extend(last);
        chosen.truncate(at_most);
        chosen
    }

    /// Remembers a run that may name this process although nothing here drives it. A later beat claims it again, which the
    /// store refuses if another instance has the run.
    pub(super) fn remember_left(&self, run: RunId) {
        lock(&self.left).insert(run);
    }

    /// Takes at most this many of the remembered runs. A run that is driven here stays remembered until it is not.
    pub(super) fn take_left(&self, at_most: usize) -> Vec<RunId> {
        let live = lock(&self.live);
        let mut left = lock(&self.left);
        let taken: Vec<_> =
            left.iter().filter(|run| !live.contains_key(*run)).take(at_most).copied().collect();
        left.retain(|run| !taken.contains(run));
        taken
    }

    /// Removes the leg of a run, unless another one has taken its place, and ends its tail.
    pub(super) fn drop_leg(&self, run: RunId, tail: &Arc<Tail>) {
        tail.break_off();
        let mut live = lock(&self.live);
        if live.get(&run).is_some_and(|leg| Arc::ptr_eq(&leg.shown.tail, tail)) {
            live.remove(&run);
        }
        drop(live);
        // Another instance has the run, or it still names this one: the store has lost an acknowledged write, or the task
        // has panicked.
        if tail.is_broken() {
            self.remember_left(run);
        }
    }
}
