use futures_util::stream;
use tokio::sync::broadcast::{Sender, channel, error::RecvError};

use crate::store::{Hint, Wake, WakeStream, Woken};

/// The hints that are kept for an instance that does not read them.
const KEPT: usize = 64;

/// Hints between the instances of one process.
pub(super) struct Hints(Sender<Vec<Hint>>);

impl Default for Hints {
    fn default() -> Self {
        Self(channel(KEPT).0)
    }
}

impl Wake for Hints {
    fn wake(&self, hints: &[Hint]) {
        // Nobody may listen.
        let _ = self.0.send(hints.to_vec());
    }

    fn listen(&self) -> WakeStream {
        Box::pin(stream::unfold(self.0.subscribe(), |mut receiver| async move {
            match receiver.recv().await {
                Ok(hints) => Some((Woken::Hints(hints), receiver)),
                Err(RecvError::Lagged(_)) => Some((Woken::Missed, receiver)),
                Err(RecvError::Closed) => None,
            }
        }))
    }
}
