use std::time::Duration;

use omniassist_core::Limits;

use crate::{Error, ProviderErrorKind};

/// Returns `true` if the same request may be sent once more after an error that came before any visible event.
pub(super) fn is_worth_repeating(error: &Error) -> bool {
    match error.status() {
        Some(400 | 401 | 403 | 404) => false,
        // These statuses mean a temporary state, regardless of the body: request timeout, lock conflict, and the
        // answers of gateways whose model is not reachable or overloaded (529).
        Some(408 | 409 | 500 | 502 | 503 | 504 | 529)
            if error.provider_kind() == Some(ProviderErrorKind::Response) =>
        {
            true
        }
        _ => error.is_retryable(),
    }
}

/// Returns `true` if a provider refused a request for good.
pub(super) fn is_refusal(error: &Error) -> bool {
    error.status().is_some_and(|status| (400..500).contains(&status)) && !is_worth_repeating(error)
}

/// Returns the time to wait before repeat number `repeat` (from 0), or `None` if the provider asks for more than the
/// limit.
pub(super) fn delay(limits: &Limits, repeat: u32, asked: Option<Duration>) -> Option<Duration> {
    match asked {
        Some(asked) if asked > limits.max_retry_after => None,
        // A random part is added to the requested time, so that clients with the same time do not all retry at once.
        Some(asked) => Some(asked.saturating_add(limits.retry_base_delay.mul_f64(fastrand::f64()))),
        None => Some(ceiling(limits, repeat).mul_f64(fastrand::f64())),
    }
}

/// Returns the longest back-off before repeat number `repeat`. Full jitter draws a time between zero and this.
fn ceiling(limits: &Limits, repeat: u32) -> Duration {
    let doubled = 1_u32.checked_shl(repeat).unwrap_or(u32::MAX);
    limits.retry_base_delay.saturating_mul(doubled).min(limits.retry_max_delay)
}
