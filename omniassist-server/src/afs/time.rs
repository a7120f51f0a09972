use omniassist_core::Day;

const DAY_MS: u64 = 86_400_000;

/// Returns a time as ISO 8601 text, as JavaScript's `toISOString` does.
pub(crate) fn iso(ms: u64) -> String {
    let of_day = ms % DAY_MS;
    let (hours, minutes) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (seconds, millis) = (of_day / 1_000 % 60, of_day % 1_000);
    format!("{}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z", Day::of_ms(ms))
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn a_time_is_written_as_in_javascript() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(1_796_000_000_123), "2026-11-30T00:53:20.123Z");
    }
}
