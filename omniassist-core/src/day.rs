use std::fmt;

use serde::{Serialize, Serializer};

/// The days from 1 March of the year 0 to 1970.
const BEFORE_1970: u64 = 719_468;

/// The days of 400 years.
const ERA: u64 = 146_097;

/// A day in UTC, from 1970 to 9999. It is displayed as in ISO 8601, which is also its JSON form.
///
/// ```
/// use omniassist_core::Day;
///
/// let day = Day::parse("2026-02-28").unwrap();
/// assert_eq!(day.next().to_string(), "2026-03-01");
/// assert_eq!(Day::parse("2026-02-30"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(u32);

impl Day {
    /// The first day: 1 January 1970.
    pub const MIN: Self = Self(0);

    /// The last day: 31 December 9999.
    pub const MAX: Self = Self(2_932_896);

    /// Returns the day of a time in milliseconds since 1970.
    #[must_use]
    pub fn of_ms(ms: u64) -> Self {
        Self::from_number(u32::try_from(ms / 86_400_000).unwrap_or(u32::MAX))
    }

    /// Returns the day with this number since 1970, which has the number 0. A number that is too large gives
    /// [`MAX`](Self::MAX).
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self(number.min(Self::MAX.0))
    }

    /// Returns the number of days since 1970.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the next day. The one after [`MAX`](Self::MAX) is itself.
    #[must_use]
    pub fn next(self) -> Self {
        Self::from_number(self.0.saturating_add(1))
    }

    /// Reads a day in the form `2026-11-23`. `None` if the text has another form or there is no such day.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (year, month, day): (u64, u64, u64) =
            (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        // Years are counted from March, so that the leap day is the last day of the year.
        let (year, from_march) =
            if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, (month + 9) % 12) };
        if year > 9999 || month > 12 || day > 31 {
            return None;
        }
        let of_year = (153 * from_march + 2) / 5 + day.checked_sub(1)?;
        let (era, of_era) = (year / 400, year % 400);
        let days = era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        let found = Self::from_number(u32::try_from(days.checked_sub(BEFORE_1970)?).ok()?);
        // A day that does not exist is displayed as another one.
        (found.to_string() == text).then_some(found)
    }

    /// Returns the year, the month and the day of the month.
    fn date(self) -> (u64, u64, u64) {
        let days = u64::from(self.0) + BEFORE_1970;
        let (era, of_era) = (days / ERA, days % ERA);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        (year + era * 400 + u64::from(month <= 2), month, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_is_read_as_it_is_displayed() {
        let mut day = Day::MIN;
        while day < Day::MAX {
            assert_eq!(Day::parse(&day.to_string()), Some(day));
            assert!(day.next().to_string() > day.to_string());
            day = day.next();
        }
        assert_eq!(day.to_string(), "9999-12-31");
        assert_eq!(day.next(), day);
    }

    #[test]
    fn other_texts_are_no_days() {
        for text in
            ["", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "2026-1-1", "1969-12-31", "+2026-01-01"]
        {
            assert_eq!(Day::parse(text), None, "{text}");
        }
        assert_eq!(Day::parse("2024-02-29").map(|day| day.next().to_string()), Some("2024-03-01".to_owned()));
        assert_eq!(Day::parse("10000-01-01"), None);
    }

    #[test]
    fn a_day_has_24_hours() {
        assert_eq!(Day::of_ms(86_399_999), Day::MIN);
        assert_eq!(Day::of_ms(86_400_000).number(), 1);
        assert_eq!(Day::of_ms(u64::MAX), Day::MAX);
    }
}
