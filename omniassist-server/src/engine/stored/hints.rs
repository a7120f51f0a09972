//! Hints to and from the other instances of a store.

use std::future::poll_fn;
use std::sync::{Arc, Weak};

use tokio_util::task::AbortOnDropHandle;

use super::stores::Stores;
use crate::store::{Appended, Ending, Hint, Settled, WakeStream, Woken};

impl Stores {
    /// Sends a hint to the other instances, if the store has a way.
    pub(super) fn hint(&self, hint: Hint) {
        if let Some(wake) = &self.wake {
            wake.wake(&[hint]);
        }
    }

    /// Sends the hint about an instance's last write to a run.
    pub(super) fn hint_settled(&self, end: &Settled, settled: &Appended) {
        let run = end.last.writer.run;
        match settled {
            Appended::Taken(_) if matches!(end.ending, Ending::Released) => self.hint(Hint::Free(run)),
            Appended::Taken(notice) if notice.watched => self.hint(Hint::Grown(run)),
            _ => {}
        }
    }

    /// Begins to receive hints, once.
    pub(super) fn begin_to_listen(self: &Arc<Self>) {
        if let Some(wake) = &self.wake {
            let listen = || AbortOnDropHandle::new(tokio::spawn(listen(Arc::downgrade(self), wake.listen())));
            self.listener.get_or_init(listen);
        }
    }

    fn take_hint(&self, hint: Hint) {
        match hint {
            Hint::Grown(run) => self.followed.read_now(Some(run)),
            Hint::Signalled(run) if self.live(run).is_none() => {}
            Hint::Signalled(_) | Hint::Free(_) => self.beat_now.notify_one(),
        }
    }
}

async fn listen(stores: Weak<Stores>, mut hints: WakeStream) {
    while let Some(woken) = poll_fn(|cx| hints.as_mut().poll_next(cx)).await {
        let Some(stores) = stores.upgrade() else { return };
        match woken {
            Woken::Hints(hints) => hints.into_iter().for_each(|hint| stores.take_hint(hint)),
            Woken::Missed => {
                stores.followed.read_now(None);
                stores.beat_now.notify_one();
            }
        }
    }
}
