//! The wall clock, and times that can be added to the current one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omniassist_core::Limits;

/// The longest time that is added to the current one, 30 years. A clock cannot represent the sum with `Duration::MAX`.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Returns the time, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns the number of whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Reduces the times of requests, tools and runs to [`MAX_DURATION`].
pub(crate) fn finite(mut limits: Limits) -> Limits {
    let times = [
        &mut limits.body_timeout,
        &mut limits.tool_cancel_grace,
        &mut limits.approval_lifetime,
        &mut limits.supersede_grace,
        &mut limits.run_timeout,
        &mut limits.write_timeout,
        &mut limits.keep_alive,
    ];
    for time in times {
        *time = MAX_DURATION.min(*time);
    }
    limits
}
