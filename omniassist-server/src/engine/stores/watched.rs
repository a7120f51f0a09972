//! The runs of this instance that have viewers on other instances. Their text goes to the tail cache.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::RunEvent;
use omniassist_core::journal::SegmentWriter;
use tokio::time::sleep;

use super::tail::Tail;
use crate::store::{RunId, TailCache, TailPiece, Writer};
use crate::sync::lock;

/// The time between two sends.
const SEND: Duration = Duration::from_millis(20);

/// The bytes from which on a piece is not sent. Viewers read it from the journal.
const MAX_PIECE: usize = 64 * 1024;

/// Sends the text of watched runs to the tail cache.
pub(in crate::engine) struct Watched {
    cache: Arc<dyn TailCache>,
    state: Mutex<State>,
    /// `true` if the cache has taken the last pieces.
    works: AtomicBool,
}

#[derive(Default)]
struct State {
    runs: HashMap<RunId, (Writer, Arc<Tail>)>,
    /// `true` while the task runs.
    is_sent: bool,
}

impl Watched {
    pub(in crate::engine) fn new(cache: Arc<dyn TailCache>) -> Self {
        Self { cache, state: Mutex::default(), works: AtomicBool::new(true) }
    }

    /// Sends what a run shows from now on.
    pub(in crate::engine) fn insert(self: &Arc<Self>, writer: Writer, tail: &Arc<Tail>) {
        let mut state = lock(&self.state);
        let known = state.runs.get(&writer.run);
        if known.is_some_and(|(_, known)| Arc::ptr_eq(known, tail)) || !tail.begin_to_send() {
            return;
        }
        state.runs.insert(writer.run, (writer, Arc::clone(tail)));
        if !std::mem::replace(&mut state.is_sent, true) {
            tokio::spawn(send(Arc::clone(self)));
        }
    }

    /// Sends no more of a run.
    pub(in crate::engine) fn remove(&self, run: RunId) {
        if let Some((_, tail)) = lock(&self.state).runs.remove(&run) {
            tail.end_to_send();
        }
    }

    /// Returns `true` if other instances get the text of a run from the cache.
    pub(in crate::engine) fn sends(&self, run: RunId) -> bool {
        self.works.load(Ordering::Relaxed) && lock(&self.state).runs.contains_key(&run)
    }

    /// Sends what was shown since the last send. Returns `false` if no run is left.
    fn send_now(&self) -> bool {
        let mut shown = Vec::new();
        let is_sent = {
            let mut state = lock(&self.state);
            state.runs.retain(|_, (writer, tail)| {
                let (from, events, has_ended) = tail.take_unsent();
                if !events.is_empty() {
                    shown.push((*writer, from, events));
                }
                !has_ended
            });
            state.is_sent = !state.runs.is_empty();
            state.is_sent
        };
        let pieces: Vec<_> =
            shown.into_iter().filter_map(|(writer, from, events)| piece(writer, from, &events)).collect();
        if !pieces.is_empty() {
            self.works.store(self.cache.push(&pieces), Ordering::Relaxed);
        }
        is_sent
    }
}

async fn send(watched: Arc<Watched>) {
    while watched.send_now() {
        sleep(SEND).await;
    }
}

/// Returns the piece of these events, or `None` if they cannot be sent.
fn piece(writer: Writer, from: u64, events: &[RunEvent]) -> Option<TailPiece> {
    let mut segment = SegmentWriter::new();
    for event in events {
        segment.event(event).ok()?;
    }
    let data = segment.take()?.bytes;
    let from = u32::try_from(from).ok()?;
    let until = from.checked_add(u32::try_from(events.len()).ok()?)?;
    (data.len() <= MAX_PIECE).then(|| TailPiece::new(writer.run, writer.epoch, from, until, data))
}
