//! Times in the database: milliseconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn now() -> i64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a time as the database stores it.
pub(crate) fn stored(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// Returns a stored time.
pub(crate) fn loaded(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}
