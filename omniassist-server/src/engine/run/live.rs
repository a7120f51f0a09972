use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use omniassist_core::event::AgentState;
use omniassist_core::{Error, Limits, Text};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::task::TaskTracker;

use super::admitted::{Admitted, ChatKey, Post, Wanted};
use super::client::ClientRun;
use super::driver::Driver;
use crate::engine::end::{End, RETRY_ELSEWHERE, SUPERSEDED};
use crate::engine::settings::WhenBusy;
use crate::quota::{Quota, QuotaFull, Share};
use crate::sync::lock;
use crate::{CancellationToken, Principal};

/// The delay after which one of a principal's runs may have ended.
const RETRY_OWN: Duration = Duration::from_secs(1);

/// The delay after which one of all runs may have ended.
const RETRY_ANY: Duration = Duration::from_secs(2);

/// The runs of one assistant that are in progress.
///
/// A run makes progress when its body is polled. A body that is not polled cannot detect a deadline, so one task per
/// assistant checks this table once a second while it is not empty.
#[derive(Debug, Default)]
pub(in crate::engine) struct LiveRuns {
    table: Mutex<Table>,
    slots: Arc<Quota>,
    /// The trees of agents in progress, which have no driver of their own, and the WebSockets that are open.
    pub(in crate::engine) trees: TaskTracker,
    /// Fires when those must end.
    pub(in crate::engine) ending: CancellationToken,
    /// Fires when no further run may begin.
    pub(in crate::engine) closing: CancellationToken,
}

#[derive(Debug, Default)]
struct Table {
    runs: HashMap<u64, Arc<LiveRun>>,
    /// The latest run of each chat.
    chats: HashMap<ChatKey, u64>,
    next: u64,
    /// `true` if no further run may begin.
    closed: bool,
    sweeper: Option<JoinHandle<()>>,
}

pub(in crate::engine) struct LiveRun {
    post: Option<Post>,
    /// The slot that a client's run occupies.
    slot: Mutex<Option<Share>>,
    /// Fires when the terminal event was returned, or the run was dropped.
    ended: CancellationToken,
    driver: Mutex<Option<Box<Driver>>>,
    started: Instant,
    /// The number of polls. It is cheaper for each token than reading a clock.
    polls: AtomicU64,
    /// The number of polls at the last check, and the time when that number was first seen.
    seen: Mutex<(u64, Instant)>,
    /// `true` if an unread body ends the run, as for HTTP responses.
    ends_when_unread: AtomicBool,
    end_request: Mutex<EndRequest>,
    /// `true` if the run is stored, so that another process can go on with it.
    is_stored: bool,
    /// `true` if another process goes on with the run.
    pub(in crate::engine) is_released: AtomicBool,
    /// The client's id of the run.
    named: Option<ClientRun>,
}

/// A request to end a run, and the task to wake for it.
#[derive(Default)]
struct EndRequest {
    end: Option<End>,
    is_made: bool,
    waker: Option<Waker>,
}

impl LiveRun {
    fn new(driver: Driver, post: Option<Post>, slot: Option<Share>) -> Self {
        Self {
            post,
            slot: Mutex::new(slot),
            ended: CancellationToken::new(),
            is_stored: driver.is_stored(),
            is_released: AtomicBool::new(false),
            named: driver.client_run(),
            driver: Mutex::new(Some(Box::new(driver))),
            started: Instant::now(),
            polls: AtomicU64::new(0),
            seen: Mutex::new((0, Instant::now())),
            ends_when_unread: AtomicBool::new(false),
            end_request: Mutex::default(),
        }
    }

    /// Calls `poll` with the driver, unless the run was dropped.
    pub(in crate::engine) fn with<T>(&self, poll: impl FnOnce(&mut Driver) -> T) -> Option<T> {
        let mut driver = lock(&self.driver);
        // Only the holder of the driver's lock counts, so load and store suffice.
        self.polls.store(self.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        driver.as_deref_mut().map(poll)
    }

    /// Returns a request to end the run, or registers the task to wake for one.
    pub(super) fn take_end(&self, cx: &Context<'_>) -> Option<End> {
        let mut request = lock(&self.end_request);
        if let Some(end) = request.end.take() {
            return Some(end);
        }
        request.waker.get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
        None
    }

    pub(in crate::engine) fn end(&self, end: End) {
        let mut request = lock(&self.end_request);
        request.is_made = true;
        request.end.get_or_insert(end);
        drop(request);
        self.wake();
    }

    /// Wakes the task that polls the run.
    fn wake(&self) {
        let waker = lock(&self.end_request).waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns the agents that were asked in the run. A run that nobody reads ends all the same.
    pub(in crate::engine) fn agents(&self) -> Vec<AgentState> {
        lock(&self.driver).as_deref().map(Driver::agents).unwrap_or_default()
    }

    /// Stops an agent that works for the run. Returns `false` if there is none with this id.
    pub(in crate::engine) fn stop_agent(&self, agent_id: &str) -> bool {
        let is_stopped = self.with(|driver| driver.stop_asked(agent_id)).unwrap_or_default();
        if is_stopped {
            self.wake();
        }
        is_stopped
    }

    /// Returns `true` if the run was ended from outside. Its last events may not have been read.
    pub(in crate::engine) fn must_end(&self) -> bool {
        lock(&self.end_request).is_made
    }

    pub(super) fn end_when_unread(&self) {
        self.ends_when_unread.store(true, Ordering::Relaxed);
    }

    /// Drops the driver: its provider connection closes, and its tools are cancelled.
    pub(in crate::engine) fn take(&self) {
        let driver = match self.driver.try_lock() {
            Ok(mut driver) => driver.take(),
            Err(TryLockError::Poisoned(driver)) => driver.into_inner().take(),
            // The run is being polled.
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(mut driver) = driver
            && self.is_released.load(Ordering::Relaxed)
        {
            driver.release();
        }
        self.mark_ended();
    }

    /// Records that the terminal event was returned, or that there will be none, and gives the place of the run back.
    pub(super) fn mark_ended(&self) {
        drop(self.give_slot());
        self.ended.cancel();
    }

    fn give_slot(&self) -> Option<Share> {
        lock(&self.slot).take()
    }

    pub(in crate::engine) fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Leaves a run that has not ended to the process that goes on with it.
    pub(in crate::engine) fn release(&self) {
        self.mark_released();
        self.with(Driver::release);
    }

    /// Marks the run as released, unless it has ended.
    pub(in crate::engine) fn mark_released(&self) {
        if !self.is_over() {
            self.is_released.store(true, Ordering::Relaxed);
        }
    }

    /// Returns `true` if the terminal event was returned, or the run was dropped.
    pub(in crate::engine) fn is_over(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits until the terminal event was returned, or the run was dropped.
    pub(in crate::engine) async fn over(&self) {
        self.ended.cancelled().await;
    }

    /// Waits until the run has ended, and drops it if it does not end in time.
    pub(in crate::engine) async fn wind_up(&self, until: Instant) {
        if tokio::time::timeout_at(until, self.over()).await.is_err() {
            self.take();
        }
    }

    /// Returns the time since the last known poll.
    fn unread(&self) -> Duration {
        let polls = self.polls.load(Ordering::Relaxed);
        let mut seen = lock(&self.seen);
        if seen.0 != polls {
            *seen = (polls, Instant::now());
        }
        seen.1.elapsed()
    }

    fn sweep(&self, limits: &Limits) {
        let age = self.started.elapsed();
        let unread = self.unread();
        if unread > limits.write_timeout && self.ends_when_unread.load(Ordering::Relaxed) {
            tracing::debug!(?unread, "the response is not read; the run is dropped");
            self.take();
        } else if age > limits.run_timeout + limits.write_timeout {
            self.take();
        } else if age > limits.run_timeout {
            self.end(End::Deadline);
        }
    }
}

impl fmt::Debug for LiveRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRun").field("started", &self.started).finish_non_exhaustive()
    }
}

impl LiveRuns {
    /// Adds a run of the host. It ends at once after [`close`](Self::close), unless it is stored.
    pub(in crate::engine) fn insert(
        self: &Arc<Self>,
        driver: Driver,
        limits: &Arc<Limits>,
    ) -> (u64, Arc<LiveRun>) {
        let run = Arc::new(LiveRun::new(driver, None, None));
        let mut table = lock(&self.table);
        if table.closed && !run.is_stored {
            run.end(End::Shutdown);
        }
        (self.put(&mut table, &run, limits), run)
    }

    /// Admits a client's run. It is called before the expensive part of a request, such as verification.
    ///
    /// # Errors
    ///
    /// Fails if the assistant is draining, the chat's run answers the same message, posts to a busy chat are refused, or the
    /// limit of runs is reached.
    pub(in crate::engine) fn admit(&self, wanted: Wanted, limits: &Limits) -> Result<Admitted, Error> {
        let before = lock(&self.table).before(&wanted)?;
        // A run that supersedes another takes over its slot.
        let slot = match before {
            Some(_) => None,
            None => Some(self.slot(&wanted.principal, limits)?),
        };
        Ok(Admitted { wanted, slot })
    }

    /// Ends the run in progress that an admitted one supersedes, and takes over its slot.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit), if the situation has changed since.
    pub(in crate::engine) async fn make_way(
        &self,
        admitted: &mut Admitted,
        limits: &Limits,
    ) -> Result<(), Error> {
        let before = lock(&self.table).before(&admitted.wanted)?;
        if let Some(before) = before {
            admitted.slot = before.give_slot().or(admitted.slot.take());
            before.end(End::Abort(Text::from_static(SUPERSEDED)));
            before.wind_up(Instant::now() + limits.supersede_grace).await;
        }
        Ok(())
    }

    /// Returns `true` if an admitted run would supersede another one.
    pub(in crate::engine) fn would_supersede(&self, admitted: &Admitted) -> bool {
        let is_busy = |post: &Post| lock(&self.table).of_chat(&post.chat).is_some();
        admitted.wanted.post.as_ref().is_some_and(is_busy)
    }

    /// Adds a client's run, which supersedes the run in progress of its chat.
    ///
    /// # Errors
    ///
    /// As [`admit`](Self::admit), if the situation has changed since.
    pub(in crate::engine) fn insert_posted(
        self: &Arc<Self>,
        driver: Driver,
        Admitted { wanted, slot }: Admitted,
        limits: &Arc<Limits>,
    ) -> Result<(u64, Arc<LiveRun>), Error> {
        let mut table = lock(&self.table);
        let before = table.before(&wanted)?;
        if before.is_some() && wanted.when_busy == WhenBusy::Enqueue {
            return Err(Error::chat_busy());
        }
        let slot = match before.as_ref().and_then(|before| before.give_slot()).or(slot) {
            Some(slot) => slot,
            None => self.slot(&wanted.principal, limits)?,
        };
        let chat = wanted.post.as_ref().map(|post| post.chat.clone());
        let run = Arc::new(LiveRun::new(driver, wanted.post, Some(slot)));
        let key = self.put(&mut table, &run, limits);
        table.chats.extend(chat.map(|chat| (chat, key)));
        drop(table);
        if let Some(before) = before {
            before.end(End::Abort(Text::from_static(SUPERSEDED)));
            let until = Instant::now() + limits.supersede_grace;
            run.with(|driver| driver.wait_for(Box::pin(async move { before.wind_up(until).await })));
        }
        Ok((key, run))
    }

    /// Takes the slot of a client's run.
    ///
    /// # Errors
    ///
    /// Returns an error if the principal, or the server, has as many runs as the limits allow.
    fn slot(&self, principal: &Principal, limits: &Limits) -> Result<Share, Error> {
        let mut slot = self.slots.begin(principal.clone());
        match slot.grow_to(1, limits.max_runs_per_principal, limits.max_runs) {
            Ok(()) => Ok(slot),
            Err(QuotaFull::OfPrincipal) => {
                Err(Error::too_many_runs(limits.max_runs_per_principal, RETRY_OWN))
            }
            Err(QuotaFull::OfAll) => Err(Error::overloaded(RETRY_ANY)),
        }
    }

    /// Inserts a run into the table. The first one starts the sweeper.
    fn put(self: &Arc<Self>, table: &mut Table, run: &Arc<LiveRun>, limits: &Arc<Limits>) -> u64 {
        let key = table.next;
        table.next += 1;
        table.runs.insert(key, Arc::clone(run));
        // A sweeper whose tokio runtime was shut down counts as finished.
        if table.sweeper.as_ref().is_none_or(JoinHandle::is_finished)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            table.sweeper = Some(runtime.spawn(sweep(Arc::downgrade(self), Arc::clone(limits))));
        }
        key
    }

    pub(in crate::engine) fn remove(&self, key: u64) {
        let mut table = lock(&self.table);
        let run = table.runs.remove(&key);
        if let Some(post) = run.as_ref().and_then(|run| run.post.as_ref())
            && table.chats.get(&post.chat) == Some(&key)
        {
            table.chats.remove(&post.chat);
        }
        drop(table);
    }

    /// Returns `true` if the client of a chat's run has another id for it.
    pub(in crate::engine) fn is_other(&self, chat: &ChatKey, named: &ClientRun) -> bool {
        let run = lock(&self.table).of_chat(chat);
        run.is_some_and(|run| run.named.as_ref().is_some_and(|of_client| of_client != named))
    }

    /// Stops the run of a chat. Returns `true` if there was one.
    pub(in crate::engine) fn stop(&self, chat: &ChatKey, reason: Text) -> bool {
        let run = lock(&self.table).of_chat(chat);
        run.inspect(|run| run.end(End::Abort(reason))).is_some()
    }

    /// Stops an agent that works for the run of a chat. `None` if there is no such run.
    pub(in crate::engine) fn stop_agent(&self, chat: &ChatKey, agent_id: &str) -> Option<bool> {
        let run = lock(&self.table).of_chat(chat)?;
        Some(run.stop_agent(agent_id))
    }

    pub(in crate::engine) fn len(&self) -> usize {
        lock(&self.table).runs.len()
    }

    /// Refuses further runs, and returns those in progress.
    pub(in crate::engine) fn close(&self) -> Vec<Arc<LiveRun>> {
        let mut table = lock(&self.table);
        table.closed = true;
        self.trees.close();
        self.closing.cancel();
        table.runs.values().filter(|run| !run.is_over()).cloned().collect()
    }

    pub(in crate::engine) fn is_closed(&self) -> bool {
        lock(&self.table).closed
    }
}

impl Table {
    /// Returns the run that a new one supersedes.
    ///
    /// # Errors
    ///
    /// Returns an error if the assistant is draining, or the run in progress takes precedence.
    fn before(&self, wanted: &Wanted) -> Result<Option<Arc<LiveRun>>, Error> {
        if self.closed {
            return Err(Error::shutting_down(RETRY_ELSEWHERE));
        }
        let Some(post) = &wanted.post else { return Ok(None) };
        let before = self.of_chat(&post.chat);
        match &before {
            Some(before) if before.post.as_ref() == Some(post) => Err(Error::duplicate_run()),
            Some(_) if wanted.when_busy == WhenBusy::Reject => Err(Error::chat_busy()),
            _ => Ok(before),
        }
    }

    /// Returns the run in progress of a chat.
    fn of_chat(&self, chat: &ChatKey) -> Option<Arc<LiveRun>> {
        let run = self.runs.get(self.chats.get(chat)?)?;
        (!run.is_over()).then(|| Arc::clone(run))
    }
}

/// Checks the live runs once a second, and ends when there are none.
async fn sweep(runs: Weak<LiveRuns>, limits: Arc<Limits>) {
    let period = Duration::from_secs(1);
    // The first tick is delayed. At once, the table is often empty again, and the sweeper would end before the next
    // run.
    let mut tick = tokio::time::interval_at(Instant::now() + period, period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        let Some(runs) = runs.upgrade() else { return };
        let live: Vec<_> = {
            let mut table = lock(&runs.table);
            if table.runs.is_empty() {
                table.sweeper = None;
                return;
            }
            table.runs.values().cloned().collect()
        };
        for run in live {
            run.sweep(&limits);
        }
    }
}
