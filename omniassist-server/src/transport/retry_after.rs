use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// How long an answer's headers ask to wait: `retry-after-ms`, or else `Retry-After` in seconds or as a date
/// ([RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)).
///
/// A date is compared with the answer's own `Date` where there is one, so that our clock need not be right; a date
/// that is over means now. What is negative or no number is ignored.
pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis, 1e-3)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Some(wait) = seconds(value, 1.0) {
        return Some(wait);
    }
    let until = http_date(value)?;
    let now = text(DATE.as_str()).and_then(http_date).unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let seconds = number.parse::<f64>().ok()? * unit;
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the only form of a date that RFC 9110 lets a server send.
fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.split_once(", ")?;
    let mut words = date.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    if words.next()? != "GMT" || words.next().is_some() {
        return None;
    }
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    // Days from 1970-01-01 in the Gregorian calendar, with years that begin in March so that the leap day is last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
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

    #[test]
    fn dates_follow_the_calendar() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Tue, 29 Feb 2000 23:59:59 GMT", 951_868_799),
            ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
            ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
        ] {
            let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(http_date(text), Some(expected), "{text}");
        }
    }
}
