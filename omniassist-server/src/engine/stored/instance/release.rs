//! The shutdown of a process that drives stored runs.

use std::time::Duration;

use crate::engine::stores::Stores;

impl Stores {
    /// Lets go of the runs of this process, as soon as what they have written is durable.
    pub(crate) fn release(&self) {
        self.released.cancel();
    }

    /// Returns `true` if the process lets go of its runs.
    pub(in crate::engine::stored) fn is_released(&self) -> bool {
        self.released.is_cancelled()
    }

    /// Waits until this process drives no run, and ends its lease. Another process can then claim what is left at once.
    pub(crate) async fn leave(&self) {
        self.release();
        while let Some(leg) = self.any_live() {
            leg.over.cancelled().await;
        }
        // A beat that arrives later would extend the lease again.
        let _beat = self.beating.lock().await;
        if self.lease.get().is_some()
            && let Err(error) = self.runs.beat(self.instance, Duration::ZERO, 0).await
        {
            tracing::warn!(error = %crate::one_line::chain(&error), "the lease of this process was not ended");
        }
    }
}
