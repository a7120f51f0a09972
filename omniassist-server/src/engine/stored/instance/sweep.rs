//! Deletes what a store no longer keeps, on a timer.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::engine::stores::Stores;
use crate::one_line;
use crate::store::{Retention, RunStore, Swept};

/// The time between two sweeps.
const EVERY: Duration = Duration::from_secs(60);

/// The number of things of a kind that are deleted in one transaction.
const BATCH: usize = 200;

/// The time between two transactions, in which others write: while there is much to delete, and while things become due one
/// after the other.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

impl Stores {
    /// Begins to sweep, once, if there is a runtime. The sweeps end with the assistant.
    pub(in crate::engine) fn begin_sweeps(self: &Arc<Self>, retention: &Retention) {
        let Ok(runtime) = Handle::try_current() else { return };
        self.sweeps.call_once(|| {
            runtime.spawn(sweeps(Arc::downgrade(self), retention.clone()));
        });
    }
}

async fn sweeps(stores: Weak<Stores>, retention: Retention) {
    let mut tick = interval(EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut at_most = BATCH;
    loop {
        tick.tick().await;
        let Some(stores) = stores.upgrade() else { return };
        let runs = Arc::clone(&stores.runs);
        drop(stores);
        at_most = sweep(&*runs, &retention, at_most).await;
    }
}

/// Deletes in transactions of at most this many things of a kind, and returns the number for the next sweep.
async fn sweep(runs: &dyn RunStore, retention: &Retention, at_most: usize) -> usize {
    loop {
        let swept = match runs.sweep(retention, at_most).await {
            Ok(swept) if swept.is_empty() => return BATCH,
            Ok(swept) => swept,
            Err(error) => {
                tracing::warn!(error = %one_line::chain(&error), "what is no longer kept was not deleted");
                // It may have taken too long.
                return (at_most / 2).max(1);
            }
        };
        let Swept { conversations, journals, tombstones, usage } = swept;
        tracing::debug!(conversations, journals, tombstones, "what is no longer kept was deleted");
        let has_more =
            conversations > 0 || [journals, tombstones, usage].into_iter().any(|count| count >= at_most);
        sleep(if has_more { PAUSE.0 } else { PAUSE.1 }).await;
    }
}
