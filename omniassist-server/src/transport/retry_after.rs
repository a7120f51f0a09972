use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// Returns the time that an answer's headers ask to wait: `retry-after-ms`, or else `Retry-After` in seconds or as a
/// date ([RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
///
/// A date is compared with the answer's own `Date` where there is one, so that the local clock need not be right. A
/// date in the past means now. Negative values and other texts are ignored.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        // 06 Nov 1994 08:49:37
        read(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn every_form_of_the_header_is_read() {
        let ms = Duration::from_millis;
        for (value, expected) in [
            ("0", Some(ms(0))),
            ("7", Some(ms(7_000))),
            (" 1.5 ", Some(ms(1_500))),
            ("86400", Some(ms(86_400_000))),
            ("1e300", Some(Duration::MAX)),
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("soon", None),
            ("", None),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(ms(10_000))),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(ms(0))),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(ms(0))),
            ("Sun, 06 Nov 1994 08:49:47 CET", None),
            ("Sun, 99 Nov 1994 08:49:47 GMT", None),
            ("Sun, 06 Nov 99999999999999999999 08:49:47 GMT", None),
            ("Sun, 06 Nov", None),
        ] {
            assert_eq!(wait(&[("retry-after", value)]), expected, "{value}");
        }
    }

    #[test]
    fn milliseconds_win_over_seconds() {
        let both = |ms| wait(&[("retry-after", "7"), ("retry-after-ms", ms)]);
        assert_eq!(both("250"), Some(Duration::from_millis(250)));
        assert_eq!(both("-250"), Some(Duration::from_secs(7)));
    }

    #[test]
    fn a_date_is_compared_with_the_servers_own_clock() {
        let skewed =
            [("date", "Tue, 01 Jan 2030 00:00:00 GMT"), ("retry-after", "Tue, 01 Jan 2030 00:00:05 GMT")];
        assert_eq!(wait(&skewed), Some(Duration::from_secs(5)));
    }
}
