use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::task::Task;
use crate::engine::stored::instance::LEASE;
use crate::store::{RunHead, RunState, Which};

/// The time between two looks at a run that ends elsewhere.
const LOOK: Duration = Duration::from_millis(50);

impl Task {
    /// Returns `true` if a stop has taken the run from this leg and ended it without another one. Then no other process calls
    /// `on_finish`. The journal has the mark of that claim and the end, and nothing of a leg in between.
    pub(super) async fn was_given_up(&self) -> bool {
        self.tail.break_off();
        let is_stopped = async {
            loop {
                let found = self.stores.runs.find(&self.scope, Which::Run(self.writer.run)).await;
                if let Ok(found) = found {
                    let Some(RunHead { state, epoch, head, notice, .. }) = found else { return false };
                    let goes_on = epoch > self.writer.epoch + 1 || head > self.at.segments + 2;
                    if goes_on || !(notice.stop || self.run.must_end()) {
                        return false;
                    }
                    if state != RunState::Running {
                        return state == RunState::Stopped;
                    }
                }
                sleep(LOOK).await;
            }
        };
        timeout(LEASE, is_stopped).await.unwrap_or_default()
    }
}
