//! The link to a server, which stays when connections end.

mod backoff;
mod held_call;
mod shared;
mod state;
mod supervisor;

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use omniassist_server::Principal;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(super) use held_call::HeldCall;
use shared::Shared;
pub(super) use shared::Watcher;
pub(super) use state::Ready;
use state::State;

use super::McpError;
use super::config::Config;
use super::connection::Listing;
use crate::sync::lock;

/// A link. Dropping it ends the connection.
pub(super) struct Link {
    shared: Arc<Shared>,
    stop: CancellationToken,
}

/// The end of a link, by a stop or with the runtime.
struct Stopped {
    shared: Arc<Shared>,
}

/// A link that is in use.
pub(super) struct Used {
    link: Arc<Link>,
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
        let stopped = Stopped { shared: Arc::clone(&shared) };
        let supervise = supervisor::supervise(Arc::clone(&shared));
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            let _stopped = stopped;
            supervise.await;
        }));
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

    /// Ends the connection, and makes another. Calls that are under way end by themselves.
    pub(super) fn reconnect(&self) {
        if let Some(ready) = &self.shared.state.borrow().ready {
            ready.connection.abandon();
        }
        self.shared.wanted.notify_one();
    }

    /// Forgets the last list, so that its tools do not exist for the user.
    pub(super) fn forget_listing(&self) {
        *lock(&self.shared.listing) = None;
    }

    /// Ends the link.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends the rest of a link. It counts as one that connects from now on.
    pub(super) fn wake(&self) {
        self.shared.set_at_rest(false);
        self.shared.wanted.notify_one();
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.shared.calls.load(Ordering::Relaxed) > 0
    }

    pub(super) fn last_used(&self) -> Instant {
        *lock(&self.shared.used)
    }

    /// Returns `true` if the link has no connection, and makes none until it is wanted.
    pub(super) fn is_at_rest(&self) -> bool {
        self.shared.state.borrow().is_at_rest
    }

    /// Returns `true` if the link was ended, or its runtime has.
    pub(super) fn is_stopped(&self) -> bool {
        self.shared.state.borrow().is_stopped
    }

    /// Returns the last list of the server's tools.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        lock(&self.shared.listing).clone()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.shared.stopped();
    }
}

impl Used {
    pub(super) fn new(link: Arc<Link>) -> Self {
        link.shared.calls.fetch_add(1, Ordering::Relaxed);
        Self { link }
    }
}

impl Deref for Used {
    type Target = Link;

    fn deref(&self) -> &Link {
        &self.link
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        *lock(&self.link.shared.used) = Instant::now();
        self.link.shared.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::time::Duration;

    use omniassist_server::Principal;
    use tokio::time::{advance, sleep, timeout};

    use super::*;
    use crate::client::McpAuth;

    /// Returns a link whose user has no credentials, so that nothing is connected.
    fn link() -> Link {
        link_with(McpAuth::per_principal(async |_| None))
    }

    fn link_with(auth: McpAuth) -> Link {
        Link::start(Arc::new(Config::unreachable(auth)), Principal::anonymous(), Weak::<()>::new())
    }

    async fn is_ready(future: impl Future<Output = ()>) -> bool {
        timeout(Duration::ZERO, future).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_is_idle_after_a_time_without_a_call() {
        let (link, time) = (Arc::new(link()), Duration::from_secs(300));
        let under_way = Used::new(Arc::clone(&link));
        advance(time * 2).await;
        assert!(!is_ready(link.shared.idle(time)).await, "a call is under way");
        drop(under_way);
        advance(time - Duration::from_secs(1)).await;
        assert!(!is_ready(link.shared.idle(time)).await);
        advance(Duration::from_secs(1)).await;
        assert!(is_ready(link.shared.idle(time)).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_user_who_has_left_costs_no_attempts() {
        let tried = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tried);
        // Nothing listens at the address of the server.
        let link = link_with(McpAuth::per_principal(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Some("token".to_owned()) }
        }));
        assert!(link.ready().await.is_err());
        sleep(Duration::from_secs(60)).await;
        let before = tried.load(Ordering::Relaxed);
        sleep(Duration::from_secs(3600)).await;
        assert_eq!(tried.load(Ordering::Relaxed), before);
        assert!(link.ready().await.is_err());
        assert_eq!(tried.load(Ordering::Relaxed), before + 1, "the next run tries");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_reads_the_failure_of_the_attempt_that_it_asked_for() {
        let link = link();
        for _ in 0..3 {
            assert!(link.ready().await.is_err_and(|error| error.is_unauthenticated()));
        }
        link.stop();
        assert!(link.ready().await.is_err_and(|error| error.is_disconnected()));
    }
}
