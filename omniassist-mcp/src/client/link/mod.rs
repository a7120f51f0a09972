//! The link to a server, which stays when connections end.

mod backoff;
mod shared;
mod state;
mod supervisor;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use omniassist_server::Principal;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use shared::Watcher;
use shared::{Shared, locked};
pub(super) use state::Ready;
use state::State;

use super::McpError;
use super::config::Config;
use super::connection::Listing;

/// A link. Dropping it ends the connection.
pub(super) struct Link {
    shared: Arc<Shared>,
    stop: CancellationToken,
}

/// A call that is under way on a link.
pub(super) struct Use {
    shared: Arc<Shared>,
}

impl Link {
    /// Starts a link in this runtime.
    pub(super) fn start(config: Arc<Config>, principal: Principal, watcher: Weak<dyn Watcher>) -> Self {
        let shared = Arc::new(Shared {
            config,
            principal,
            watcher,
            state: watch::Sender::new(State::default()),
            wanted: Notify::new(),
            listing: Mutex::new(None),
            used: Mutex::new(Instant::now()),
            calls: AtomicUsize::new(0),
        });
        let stop = CancellationToken::new();
        let (supervised, stopped) = (Arc::clone(&shared), stop.clone());
        tokio::spawn(async move {
            let supervise = supervisor::supervise(Arc::clone(&supervised));
            stopped.run_until_cancelled(supervise).await;
            supervised.state.send_modify(|state| (state.ready, state.is_stopped) = (None, true));
        });
        Self { shared, stop }
    }

    /// Waits for a connection. Without one, the next attempt is made at once, and its failure is the result.
    ///
    /// # Errors
    ///
    /// Returns the error of the attempt, or that the link has ended.
    pub(super) async fn ready(&self) -> Result<Ready, Arc<McpError>> {
        let mut state = self.shared.state.subscribe();
        let failures = state.borrow().failures;
        loop {
            {
                let state = state.borrow_and_update();
                match (&state.ready, &state.last_failure) {
                    (Some(ready), _) if !ready.connection.is_unusable() => return Ok(ready.clone()),
                    _ if state.is_stopped => return Err(Arc::new(McpError::disconnected())),
                    (_, Some(failure)) if state.failures > failures => return Err(Arc::clone(failure)),
                    _ => {}
                }
            }
            self.shared.wanted.notify_one();
            if state.changed().await.is_err() {
                return Err(Arc::new(McpError::disconnected()));
            }
        }
    }

    /// Ends the link.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Marks the link as used until the result is dropped.
    pub(super) fn begin_use(&self) -> Use {
        self.shared.calls.fetch_add(1, Ordering::Relaxed);
        Use { shared: Arc::clone(&self.shared) }
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.shared.calls.load(Ordering::Relaxed) > 0
    }

    pub(super) fn last_used(&self) -> Instant {
        *locked(&self.shared.used)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.shared.state.borrow().ready.is_some()
    }

    /// Returns the last list of the server's tools.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        locked(&self.shared.listing).clone()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        *locked(&self.shared.used) = Instant::now();
        self.shared.calls.fetch_sub(1, Ordering::Relaxed);
    }
}
