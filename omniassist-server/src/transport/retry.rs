use std::time::Duration;

use omniassist_core::Limits;

use crate::{Error, ProviderErrorKind};

/// Returns `true` if the same request may be sent once more after `error`. Nothing of the answer was shown yet.
pub(super) fn is_worth_repeating(error: &Error) -> bool {
    match error.status() {
        Some(400 | 401 | 403 | 404) => false,
        // Statuses that stand for a passing state whatever the body says: request timeout, lock conflict, and what
        // gateways answer when the model behind them is gone or overloaded (529).
        Some(408 | 409 | 500 | 502 | 503 | 504 | 529)
            if error.provider_kind() == Some(ProviderErrorKind::Response) =>
        {
            true
        }
        _ => error.is_retryable(),
    }
}

/// Returns the time to wait before repeat number `repeat` (from 0), or `None` if the provider asks for more than the
/// limit.
pub(super) fn delay(limits: &Limits, repeat: u32, asked: Option<Duration>) -> Option<Duration> {
    match asked {
        Some(asked) if asked > limits.max_retry_after => None,
        // Never less than asked; spread a little, so that callers told the same second do not come back as one.
        Some(asked) => Some(asked.saturating_add(limits.retry_base_delay.mul_f64(fastrand::f64()))),
        None => Some(ceiling(limits, repeat).mul_f64(fastrand::f64())),
    }
}

/// The longest back-off before repeat number `repeat`: full jitter draws between zero and this.
fn ceiling(limits: &Limits, repeat: u32) -> Duration {
    let doubled = 1_u32.checked_shl(repeat).unwrap_or(u32::MAX);
    limits.retry_base_delay.saturating_mul(doubled).min(limits.retry_max_delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_doubles_up_to_the_maximum() {
        let limits = Limits::default();
        let ceilings: Vec<_> = (0..6).map(|repeat| ceiling(&limits, repeat).as_millis()).collect();
        assert_eq!(ceilings, [500, 1_000, 2_000, 4_000, 8_000, 8_000]);
        assert_eq!(ceiling(&limits, u32::MAX), limits.retry_max_delay);
    }

    #[test]
    fn what_the_provider_asks_is_kept_up_to_the_limit() {
        let limits = Limits::default();
        let most = limits.max_retry_after;
        let waited = delay(&limits, 0, Some(most)).unwrap();
        assert!(waited >= most && waited <= most + limits.retry_base_delay);
        assert_eq!(delay(&limits, 0, Some(most + Duration::from_nanos(1))), None);
        assert!(delay(&limits, 0, None).unwrap() <= limits.retry_base_delay);
    }

    #[test]
    fn only_passing_failures_are_repeated() {
        let response = |status| Error::provider(ProviderErrorKind::Response).with_status(status);
        for status in [408, 409, 500, 502, 503, 504, 529] {
            assert!(is_worth_repeating(&response(status)), "{status}");
        }
        for status in [300, 400, 401, 402, 403, 404, 413, 422, 501] {
            assert!(!is_worth_repeating(&response(status)), "{status}");
        }
        let limited = || Error::provider(ProviderErrorKind::RateLimited).with_status(429);
        assert!(is_worth_repeating(&limited()));
        assert!(!is_worth_repeating(&limited().with_code("insufficient_quota")));
        assert!(!is_worth_repeating(&Error::provider(ProviderErrorKind::Unavailable).with_status(404)));
    }
}
