use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// Returns the time that an answer's headers ask to wait: `retry-after-ms`, or else `Retry-After` in seconds or as a
/// date ([RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
///
/// A date is compared with the answer's `Date`, if there is one, so that the local clock need not be right. A date in
/// the past means no wait. Negative values and other texts are ignored.
pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis, 1e-3)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Some(wait) = seconds(value, 1.0) {
        return Some(wait);
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let now = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let seconds = number.parse::<f64>().ok()? * unit;
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
