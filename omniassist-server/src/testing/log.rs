use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use tokio::sync::watch;

use super::FakeRequest;

/// An event on a [`FakeProvider`](super::FakeProvider).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakeEvent {
    /// The time, by the real clock.
    pub at: Instant,
    /// The connection, numbered from 0 in the order of arrival.
    pub connection: usize,
    /// The event.
    pub kind: FakeEventKind,
}

/// The kinds of events on a [`FakeProvider`](super::FakeProvider).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FakeEventKind {
    /// A client connected.
    Connected,
    /// A request was read, body included.
    Request,
    /// A reply was sent to its scripted end.
    Replied,
    /// The client closed or reset the connection during a reply, or before a delayed one.
    Aborted,
    /// The client closed or reset the connection between two requests.
    Closed,
}

/// The record of a fake provider, and the waiters for more of it.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Mutex<Entries>,
    sent: AtomicU64,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) events: Vec<FakeEvent>,
    pub(super) requests: Vec<FakeRequest>,
    /// Unexpected events, which must fail the test that owns the server.
    pub(super) faults: Vec<String>,
    /// Aborted replies that were already reported.
    pub(super) aborts_seen: usize,
}

impl Log {
    pub(super) fn lock(&self) -> MutexGuard<'_, Entries> {
        crate::sync::lock(&self.entries)
    }

    pub(super) fn event(&self, connection: usize, kind: FakeEventKind) {
        self.lock().events.push(FakeEvent { at: Instant::now(), connection, kind });
        self.changed.send_replace(());
    }

    pub(super) fn request(&self, connection: usize, request: FakeRequest) {
        self.lock().requests.push(request);
        self.event(connection, FakeEventKind::Request);
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(super) fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn fault(&self, what: String) {
        self.lock().faults.push(what);
    }

    /// Waits until `look` returns a value.
    pub(super) async fn wait<T>(&self, mut look: impl FnMut(&mut Entries) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(found) = look(&mut self.lock()) {
                return found;
            }
            // The sender lives in `self`, so this cannot fail.
            let _ = changed.changed().await;
        }
    }
}
