//! The notices that a store returns with the writes of a run.

use std::sync::Arc;

use crate::engine::stores::Stores;
use crate::engine::stores::tail::Tail;
use crate::store::{Notice, Writer};

/// The notices of one run.
#[derive(Debug, Default)]
pub(in crate::engine::stored) struct Notices {
    /// `true` if the run has a viewer on another instance, which reads the journal.
    pub(in crate::engine::stored) is_watched: bool,
    /// The number of the latest signal that this instance knows of.
    signals: u32,
}

impl Notices {
    /// Takes the notice of a write. Returns `true` if the run should stop.
    pub(in crate::engine::stored) fn take(
        &mut self,
        stores: &Stores,
        writer: Writer,
        tail: &Arc<Tail>,
        notice: Notice,
    ) -> bool {
        let Notice { watched, stop, signals, .. } = notice;
        if self.is_watched || watched {
            stores.send_if_watched(writer, tail, notice);
        }
        self.is_watched = watched;
        if signals > self.signals {
            self.signals = signals;
            // The beat has the signal.
            stores.beat_now.notify_one();
        }
        stop
    }
}
