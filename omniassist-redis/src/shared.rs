//! The part of an exchange that its two tasks use.

use std::sync::{Arc, Mutex};

use omniassist_server::store::{Hint, InstanceId, TailPiece, Wake, Woken};
use tokio::sync::{Notify, broadcast};

use crate::Redis;
use crate::entry::{Entry, OVERHEAD};
use crate::health::Health;
use crate::sync::lock;

/// The name of the stream.
const STREAM: &str = "tail";

/// The bytes of pieces that wait to be sent. More are dropped.
const MAX_WAITING: usize = 1024 * 1024;

/// The hints that wait to be sent. More are dropped.
const MAX_HINTS: usize = 4096;

/// The received items that are kept for a task that does not read them.
const KEPT: usize = 256;

/// The part of an exchange that its tasks use.
pub(crate) struct Shared {
    pub(crate) redis: Redis,
    pub(crate) stream: String,
    /// The sender of the entries of this server, which reads those of the others.
    pub(crate) me: InstanceId,
    outbox: Mutex<Outbox>,
    /// Notified when there is something to send.
    pub(crate) filled: Notify,
    pub(crate) health: Health,
    pub(crate) hints: broadcast::Sender<Woken>,
    pub(crate) pieces: broadcast::Sender<Vec<TailPiece>>,
    /// The hints of the store, for the time in which Redis does not work.
    below: Option<Arc<dyn Wake>>,
}

#[derive(Default)]
struct Outbox {
    entry: Entry,
    /// The bytes of the pieces.
    waiting: usize,
}

impl Shared {
    pub(crate) fn new(redis: Redis, below: Option<Arc<dyn Wake>>) -> Self {
        Self {
            stream: redis.key(STREAM),
            redis,
            me: InstanceId::random(),
            outbox: Mutex::default(),
            filled: Notify::new(),
            health: Health::default(),
            hints: broadcast::Sender::new(KEPT),
            pieces: broadcast::Sender::new(KEPT),
            below,
        }
    }

    /// Sends hints with the next entry.
    pub(crate) fn put_hints(&self, hints: &[Hint]) {
        let mut outbox = lock(&self.outbox);
        let room = MAX_HINTS.saturating_sub(outbox.entry.hints.len());
        outbox.entry.hints.extend(hints.iter().take(room));
        self.filled.notify_one();
    }

    /// Sends pieces with the next entry. Returns `false` if too many wait.
    pub(crate) fn put_pieces(&self, pieces: &[TailPiece]) -> bool {
        let more: usize = pieces.iter().map(|piece| piece.data.len() + OVERHEAD).sum();
        let mut outbox = lock(&self.outbox);
        if outbox.waiting + more > MAX_WAITING {
            return false;
        }
        outbox.waiting += more;
        outbox.entry.pieces.extend_from_slice(pieces);
        self.filled.notify_one();
        true
    }

    /// Returns the hints of the store.
    pub(crate) fn below(&self) -> Option<&Arc<dyn Wake>> {
        self.below.as_ref()
    }

    /// Takes what has to be sent.
    pub(crate) fn take(&self) -> Entry {
        std::mem::take(&mut *lock(&self.outbox)).entry
    }

    /// Sends hints in the way of the store.
    pub(crate) fn wake_below(&self, hints: &[Hint]) {
        if let Some(below) = &self.below
            && !hints.is_empty()
        {
            below.wake(hints);
        }
    }
}
