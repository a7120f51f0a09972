//! Times and their percentiles.

use std::fmt;
use std::time::Duration;

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
