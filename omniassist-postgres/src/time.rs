//! Times and durations of the database.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The end of the year 9999, in milliseconds since 1970. The database has no times long after it.
const LATEST_MS: u64 = 253_402_300_799_000;

/// The longest duration that is told from a longer one: 1,000 years.
const MAX_DURATION: Duration = Duration::from_secs(1_000 * 366 * 24 * 60 * 60);

/// Returns a time in milliseconds since 1970 as the database stores it.
pub(crate) fn stored(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms.min(LATEST_MS))
}

/// Returns a stored time in milliseconds since 1970.
pub(crate) fn loaded(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns a duration in seconds, which SQL multiplies with `interval '1 second'`.
pub(crate) fn seconds(time: Duration) -> f64 {
    time.min(MAX_DURATION).as_secs_f64()
}
