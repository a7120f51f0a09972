//! The exchange of hints and text between the servers of a store: one stream in Redis for all of them.

use std::sync::{Arc, OnceLock};

use futures_util::stream::{self, BoxStream, StreamExt};
use omniassist_server::store::{Hint, TailCache, TailPiece, TailStream, Wake, WakeStream, Woken};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::AbortOnDropHandle;

use crate::shared::Shared;
use crate::{Redis, reader, writer};

/// Sends and receives hints and pieces by two tasks, which begin with the first use and end when it is dropped.
pub(crate) struct Exchange {
    shared: Arc<Shared>,
    tasks: OnceLock<[AbortOnDropHandle<()>; 2]>,
}

impl Exchange {
    pub(crate) fn new(redis: Redis, below: Option<Arc<dyn Wake>>) -> Self {
        Self { shared: Arc::new(Shared::new(redis, below)), tasks: OnceLock::new() }
    }

    fn start(&self) {
        self.tasks.get_or_init(|| {
            let (reads, writes) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
            [tokio::spawn(reader::read(reads)), tokio::spawn(writer::write(writes))]
                .map(AbortOnDropHandle::new)
        });
    }
}

impl Wake for Exchange {
    fn wake(&self, hints: &[Hint]) {
        self.start();
        if !self.shared.health.writes() {
            return self.shared.wake_below(hints);
        }
        self.shared.put_hints(hints);
    }

    fn listen(&self) -> WakeStream {
        self.start();
        let own = received(&self.shared.hints, || Woken::Missed);
        match self.shared.below() {
            Some(below) => Box::pin(stream::select(own, below.listen())),
            None => own,
        }
    }
}

impl TailCache for Exchange {
    fn push(&self, pieces: &[TailPiece]) -> bool {
        self.start();
        self.shared.health.writes() && self.shared.put_pieces(pieces)
    }

    fn listen(&self) -> TailStream {
        self.start();
        // The journal has what was lost.
        received(&self.shared.pieces, Vec::new)
    }
}

/// Returns the items that arrive from now on. `missed` stands for those that were not read in time.
fn received<T: Clone + Send + 'static>(
    sender: &broadcast::Sender<T>,
    missed: fn() -> T,
) -> BoxStream<'static, T> {
    let next = move |mut receiver: broadcast::Receiver<T>| async move {
        match receiver.recv().await {
            Ok(item) => Some((item, receiver)),
            Err(RecvError::Lagged(_)) => Some((missed(), receiver)),
            Err(RecvError::Closed) => None,
        }
    };
    stream::unfold(sender.subscribe(), next).boxed()
}
