//! Hints and pieces of text from the other instances of a store, and hints to them.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::engine::stores::Stores;
use crate::store::{Appended, Ending, Hint, Settled, TailStream, WakeStream, Woken};

/// The shortest time between two beats because hints were missed.
const BEAT_AFTER_MISSED: Duration = Duration::from_secs(1);

impl Stores {
    /// Sends a hint to the other instances, if the store has a way.
    pub(in crate::engine::stored) fn hint(&self, hint: Hint) {
        if let Some(wake) = &self.wake {
            wake.wake(&[hint]);
        }
    }

    /// Sends the hint about an instance's last write to a run.
    pub(in crate::engine::stored) fn hint_settled(&self, end: &Settled, settled: &Appended) {
        let run = end.last.writer.run;
        match settled {
            Appended::Taken(_) if matches!(end.ending, Ending::Released) => self.hint(Hint::Free(run)),
            Appended::Taken(notice) if notice.watched => self.hint(Hint::Grown(run)),
            _ => {}
        }
    }

    /// Begins to receive hints and pieces, once.
    pub(super) fn begin_to_listen(self: &Arc<Self>) {
        self.listeners.get_or_init(|| {
            let hints = self.wake.as_ref().map(|wake| wake.listen());
            let hints = hints.map(|hints| tokio::spawn(listen(Arc::downgrade(self), hints)));
            let pieces = self.tail_cache.as_ref().map(|cache| cache.listen());
            let pieces = pieces.map(|pieces| tokio::spawn(listen_to_tails(Arc::downgrade(self), pieces)));
            hints.into_iter().chain(pieces).map(AbortOnDropHandle::new).collect()
        });
    }

    fn take_hint(&self, hint: Hint) {
        match hint {
            Hint::Grown(run) => self.followed.read_now(Some(run)),
            Hint::Signalled(run) if self.live(run).is_none() => {
                // It may be in a queue.
                self.queue.look_at(run);
            }
            Hint::Signalled(_) | Hint::Free(_) => self.beat_now.notify_one(),
        }
    }
}

async fn listen(stores: Weak<Stores>, mut hints: WakeStream) {
    let mut beaten: Option<Instant> = None;
    while let Some(woken) = poll_fn(|cx| hints.as_mut().poll_next(cx)).await {
        let Some(stores) = stores.upgrade() else { return };
        match woken {
            Woken::Hints(hints) => hints.into_iter().for_each(|hint| stores.take_hint(hint)),
            Woken::Missed => {
                stores.followed.read_now(None);
                // A connection that does not work loses hints again and again.
                if beaten.is_none_or(|at| at.elapsed() >= BEAT_AFTER_MISSED) {
                    beaten = Some(Instant::now());
                    stores.beat_now.notify_one();
                }
            }
        }
    }
}

async fn listen_to_tails(stores: Weak<Stores>, mut pieces: TailStream) {
    while let Some(pieces) = poll_fn(|cx| pieces.as_mut().poll_next(cx)).await {
        let Some(stores) = stores.upgrade() else { return };
        stores.followed.take(pieces);
    }
}
