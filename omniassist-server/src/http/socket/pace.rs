use std::time::Duration;

use tokio::time::Instant;

/// The rate at which a client sends frames.
pub(super) struct Pace {
    pub(super) per_second: u32,
    /// The time that a frame takes up.
    interval: Duration,
    /// The time that may be taken up in advance.
    burst: Duration,
    /// The end of the time that the frames so far take up.
    until: Instant,
}

impl Pace {
    /// Allows this many frames a second, and twice as many at once.
    pub(super) fn new(per_second: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        let burst = interval.saturating_mul(per_second.saturating_mul(2));
        Self { per_second, interval, burst, until: Instant::now() }
    }

    /// Counts a frame. Returns `false` if it is one too many.
    pub(super) fn take(&mut self) -> bool {
        let now = Instant::now();
        self.until = self.until.max(now) + self.interval;
        self.until - now <= self.burst
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ten_frames_a_second_and_twenty_at_once_are_allowed() {
        let mut pace = Pace::new(10);
        assert!((0..20).all(|_| pace.take()));
        for _ in 0..100 {
            advance(Duration::from_millis(100)).await;
            assert!(pace.take());
        }
        assert!(!pace.take(), "one more is too many");
        advance(Duration::from_secs(60)).await;
        assert!((0..20).all(|_| pace.take()) && !pace.take(), "rest is not saved up");
    }

    #[tokio::test(start_paused = true)]
    async fn the_extremes_are_no_frame_and_no_limit() {
        assert!(!Pace::new(0).take());
        let mut pace = Pace::new(u32::MAX);
        assert!((0..10_000).all(|_| pace.take()));
    }
}
