use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use omniassist_server::Principal;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::state::{Ready, State};
use crate::client::McpError;
use crate::client::config::Config;
use crate::client::connection::Listing;
use crate::sync::lock;

/// The receiver of what happens to a link.
pub(in crate::client) trait Watcher: Send + Sync {
    /// There is a new list of tools.
    fn listed(&self);

    /// The connection has ended.
    fn lost(&self);

    /// The server cannot be used at present.
    fn failed(&self, error: &McpError);
}

/// Links of tests that nothing watches have a `Weak<()>`.
#[cfg(test)]
impl Watcher for () {
    fn listed(&self) {}
    fn lost(&self) {}
    fn failed(&self, _: &McpError) {}
}

/// The parts of a link that its calls and its supervisor have.
pub(super) struct Shared {
    pub(super) config: Arc<Config>,
    pub(super) principal: Principal,
    pub(super) watcher: Weak<dyn Watcher>,
    pub(super) state: watch::Sender<State>,
    /// Is notified when a call needs a connection.
    pub(super) wanted: Notify,
    /// The last list. It stays when the connection ends.
    pub(super) listing: Mutex<Option<Arc<Listing>>>,
    pub(super) used: Mutex<Instant>,
    pub(super) calls: AtomicUsize,
}

impl Shared {
    pub(super) fn connected(&self, ready: Ready) {
        *lock(&self.used) = Instant::now();
        *lock(&self.listing) = Some(Arc::clone(&ready.listing));
        self.state.send_modify(|state| state.ready = Some(ready));
        self.tell(|watcher| watcher.listed());
    }

    pub(super) fn listed(&self, listing: Arc<Listing>) {
        *lock(&self.listing) = Some(Arc::clone(&listing));
        self.state.send_modify(|state| {
            if let Some(ready) = &mut state.ready {
                ready.listing = listing;
            }
        });
        self.tell(|watcher| watcher.listed());
    }

    pub(super) fn unlisted(&self, error: &McpError) {
        self.tell(|watcher| watcher.failed(error));
    }

    pub(super) fn disconnected(&self) {
        self.state.send_modify(|state| state.ready = None);
        self.tell(|watcher| watcher.lost());
    }

    pub(super) fn set_at_rest(&self, is_at_rest: bool) {
        self.state.send_if_modified(|state| {
            state.is_at_rest = is_at_rest;
            // Nobody waits for it.
            false
        });
    }

    /// Ends the calls that are under way too.
    pub(super) fn stopped(&self) {
        let mut ready = None;
        self.state.send_modify(|state| {
            state.is_stopped = true;
            ready = state.ready.take();
        });
        if let Some(ready) = ready {
            ready.connection.close();
        }
    }

    pub(super) fn failed(&self, error: McpError) {
        self.tell(|watcher| watcher.failed(&error));
        self.state.send_modify(|state| {
            state.failures += 1;
            state.last_failure = Some(Arc::new(error));
        });
    }

    fn tell(&self, what: impl FnOnce(&dyn Watcher)) {
        if let Some(watcher) = self.watcher.upgrade() {
            what(&*watcher);
        }
    }

    pub(super) fn fresh_for(&self) -> Option<Duration> {
        lock(&self.listing).as_ref().and_then(|listing| listing.fresh_for)
    }

    /// Waits until the connection of one user was not used for a time.
    pub(super) async fn idle(&self, time: Duration) {
        if !self.config.is_per_principal() {
            return std::future::pending().await;
        }
        loop {
            let until = *lock(&self.used) + time;
            sleep_until(until).await;
            let is_idle =
                self.calls.load(Ordering::Relaxed) == 0 && *lock(&self.used) + time <= Instant::now();
            if is_idle {
                return;
            }
            // A call is under way, or another has ended meanwhile.
            sleep(Duration::from_secs(1)).await;
        }
    }
}
