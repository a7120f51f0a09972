//! The wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns the number of whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
