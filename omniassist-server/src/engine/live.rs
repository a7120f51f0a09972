use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use omniassist_core::{Limits, Text};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use super::driver::Driver;

/// The runs of one assistant that are under way.
///
/// A run is driven by whoever polls its body. A body that nobody polls cannot notice a deadline, so one task per
/// assistant looks at this table once a second while it is not empty.
#[derive(Debug, Default)]
pub(super) struct LiveRuns {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    runs: HashMap<u64, Arc<LiveRun>>,
    next: u64,
    sweeper: Option<JoinHandle<()>>,
}

/// One run under way.
pub(super) struct LiveRun {
    driver: Mutex<Option<Box<Driver>>>,
    started: Instant,
    /// Milliseconds from `started` to the latest poll.
    polled: AtomicU64,
    /// Whether an unread body ends the run: so for HTTP responses, not for runs in process.
    ends_when_unread: AtomicBool,
    order: Mutex<Order>,
}

/// What somebody outside wants of a run, and whom to wake for it.
#[derive(Default)]
struct Order {
    end: Option<End>,
    waker: Option<Waker>,
}

/// Why a run is ended from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Deadline,
    Abort(Text),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveRun {
    /// Runs `poll` with the driver, unless the run was taken away.
    pub(super) fn with<T>(&self, poll: impl FnOnce(&mut Driver) -> T) -> Option<T> {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.polled.store(elapsed, Ordering::Relaxed);
        lock(&self.driver).as_deref_mut().map(poll)
    }

    /// What somebody outside wants; registers whom to wake when that changes.
    pub(super) fn take_order(&self, cx: &Context<'_>) -> Option<End> {
        let mut order = lock(&self.order);
        if let Some(end) = order.end.take() {
            return Some(end);
        }
        match &mut order.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none @ None => *none = Some(cx.waker().clone()),
        }
        None
    }

    pub(super) fn end(&self, end: End) {
        let waker = {
            let mut order = lock(&self.order);
            order.end.get_or_insert(end);
            order.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn end_when_unread(&self) {
        self.ends_when_unread.store(true, Ordering::Relaxed);
    }

    /// Drops the driver: its provider connection closes, and its tools are cancelled.
    pub(super) fn take(&self) {
        let driver = match self.driver.try_lock() {
            Ok(mut driver) => driver.take(),
            Err(TryLockError::Poisoned(driver)) => driver.into_inner().take(),
            // Somebody polls it right now.
            Err(TryLockError::WouldBlock) => None,
        };
        drop(driver);
    }

    fn sweep(&self, limits: &Limits) {
        let age = self.started.elapsed();
        let unread = age.saturating_sub(Duration::from_millis(self.polled.load(Ordering::Relaxed)));
        if unread > limits.write_timeout && self.ends_when_unread.load(Ordering::Relaxed) {
            tracing::debug!(?unread, "nobody reads the response; the run is dropped");
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
    /// Takes up a run; the sweeper starts with the first one.
    pub(super) fn insert(self: &Arc<Self>, driver: Driver, limits: &Arc<Limits>) -> (u64, Arc<LiveRun>) {
        let run = Arc::new(LiveRun {
            driver: Mutex::new(Some(Box::new(driver))),
            started: Instant::now(),
            polled: AtomicU64::new(0),
            ends_when_unread: AtomicBool::new(false),
            order: Mutex::default(),
        });
        let mut table = lock(&self.table);
        let key = table.next;
        table.next += 1;
        table.runs.insert(key, Arc::clone(&run));
        // A sweeper whose runtime is gone counts as finished.
        if table.sweeper.as_ref().is_none_or(JoinHandle::is_finished)
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            table.sweeper = Some(runtime.spawn(sweep(Arc::downgrade(self), Arc::clone(limits))));
        }
        (key, run)
    }

    pub(super) fn remove(&self, key: u64) {
        let run = lock(&self.table).runs.remove(&key);
        drop(run);
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.table).runs.len()
    }

    pub(super) fn end_all(&self, reason: &Text) {
        let runs: Vec<_> = lock(&self.table).runs.values().cloned().collect();
        for run in runs {
            run.end(End::Abort(reason.clone()));
        }
    }
}

/// Looks at the live runs once a second, and ends when there are none.
async fn sweep(runs: Weak<LiveRuns>, limits: Arc<Limits>) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
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
