//! Times, their percentiles, and the pace of the machine that measures them.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::task::AbortHandle;
use tokio::time::sleep;

/// The time between two looks at the clock.
const BEAT: Duration = Duration::from_millis(5);

/// The lateness of timers that doubles a limit.
const LATE: Duration = Duration::from_millis(10);

/// Measured times.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        let at = self.0.partition_point(|other| *other <= time);
        self.0.insert(at, time);
    }

    /// Returns the time that a percentage does not exceed.
    pub(crate) fn at(&self, percent: usize) -> Duration {
        let at = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(at).copied().unwrap_or_default()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [half, most, all] = [50, 99, 100].map(|percent| self.at(percent));
        write!(f, "{} times, p50 {half:.1?}, p99 {most:.1?}, longest {all:.1?}", self.0.len())
    }
}

/// The lateness of timers, which tells how busy the machine is. It is measured until the value is dropped.
pub(crate) struct Pace {
    late: Arc<Mutex<Times>>,
    task: AbortHandle,
}

impl Pace {
    pub(crate) fn start() -> Self {
        let late = Arc::<Mutex<Times>>::default();
        let seen = Arc::clone(&late);
        let task = tokio::spawn(async move {
            loop {
                let since = Instant::now();
                sleep(BEAT).await;
                seen.lock().unwrap().push(since.elapsed().saturating_sub(BEAT));
            }
        });
        Self { late, task: task.abort_handle() }
    }

    /// Returns a limit for this machine. It is doubled if 1 % of its timers are late by more than 10 ms, and so on.
    pub(crate) fn limit(&self, calm: Duration) -> Duration {
        let late = self.late.lock().unwrap().at(99);
        calm.mul_f64(1.0 + late.as_secs_f64() / LATE.as_secs_f64())
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.task.abort();
    }
}
