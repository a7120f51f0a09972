use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LAST: Duration = Duration::from_secs(60);

/// The delays between attempts: 0.5 s to 60 s, doubled each time, with up to half of it by chance.
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    pub(super) fn next(&mut self) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        doubled.mul_f64(1.0 + fastrand::f64() / 2.0).min(LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_from_half_a_second_to_a_minute() {
        let mut backoff = Backoff::default();
        let delays: Vec<_> = (0..100).map(|_| backoff.next()).collect();
        assert!((FIRST..FIRST * 2).contains(&delays[0]));
        assert!(delays.is_sorted() && delays[99] == LAST);
        backoff.reset();
        assert!(backoff.next() < FIRST * 2);
    }
}
