use std::pin::pin;
use std::task::Context;
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::Instant;

/// The number of frames that are sent at once at the start of an answer: its head and its first words.
const FIRST_FRAMES: u8 = 2;

/// The largest number of frames that are sent at once between two attempts to batch.
const MAX_PAUSE: u8 = 63;

/// The longest time that a frame is held. One turn of the scheduler takes long on a busy server, and every stream
/// receives bytes in each turn. Without this limit, a frame would wait until it is full.
const MAX_HELD: Duration = Duration::from_millis(5);

/// Gathers the events of a fast answer into few frames.
///
/// An HTTP client passes its body on one chunk at a time, and each chunk takes a turn of the scheduler. A body that
/// sends whenever nothing more is ready therefore needs one write for each chunk, and writes are most of the cost of a
/// fast answer. A frame is therefore held for one turn of the scheduler, and for further turns while each adds bytes.
///
/// A turn that adds nothing costs latency, as with a single stream of a slow model. The result of an attempt therefore
/// decides about the next one. After an attempt that added bytes, the next frame is held too. After an attempt that
/// added none, 1, 3, 7 and finally [`MAX_PAUSE`] frames are sent at once before the next attempt.
#[derive(Debug)]
pub(super) struct Batch {
    /// The frame that is held, if any.
    held: Option<Held>,
    /// The number of frames that are sent at once before the next attempt.
    pause: u8,
    /// The length of the pause that began last.
    last_pause: u8,
}

#[derive(Debug)]
struct Held {
    since: Instant,
    /// Its length when the attempt began.
    first_bytes: usize,
    /// Its length at the last check.
    bytes: usize,
    /// Set if the next poll is refused. Servers poll a pending body twice before they let go of the task, and nothing
    /// can arrive between the two polls.
    refuse: bool,
}

impl Default for Batch {
    fn default() -> Self {
        Self { held: None, pause: FIRST_FRAMES, last_pause: 0 }
    }
}

impl Batch {
    /// Returns `true` if this poll comes before the scheduler had its turn. The task is then woken again. A poll that
    /// the source has caused is never refused, since its next event is ready.
    pub(in crate::http) fn refuses(&mut self, is_woken: bool, cx: &mut Context<'_>) -> bool {
        let refuse = self.held.as_mut().is_some_and(|held| std::mem::take(&mut held.refuse)) && !is_woken;
        if refuse {
            wake_after_turn(cx);
        }
        refuse
    }

    /// Returns `true` if a frame of this length waits for more. The task is then woken after a turn of the scheduler.
    pub(in crate::http) fn holds(&mut self, bytes: usize, cx: &mut Context<'_>) -> bool {
        match &mut self.held {
            Some(held) if bytes > held.bytes && held.since.elapsed() < MAX_HELD => {
                held.bytes = bytes;
                held.refuse = true;
            }
            Some(_) => return false,
            None if self.pause > 0 => return false,
            None => {
                self.held = Some(Held { since: Instant::now(), first_bytes: bytes, bytes, refuse: true });
            }
        }
        wake_after_turn(cx);
        true
    }

    /// Records that a frame of this length is sent.
    pub(in crate::http) fn sent(&mut self, bytes: usize) {
        match self.held.take() {
            Some(held) => {
                let is_success = bytes > held.first_bytes;
                self.last_pause = if is_success { 0 } else { (2 * self.last_pause + 1).min(MAX_PAUSE) };
                self.pause = self.last_pause;
            }
            None => self.pause = self.pause.saturating_sub(1),
        }
    }
}

/// Wakes the task after all other tasks and the sockets were polled. Waking it at once is not enough for a task in a
/// `LocalSet`, such as the tasks of actix. Only the tasks of the set would be polled, and not the connection to the
/// provider, which is a task of the runtime.
fn wake_after_turn(cx: &mut Context<'_>) {
    // The first poll leaves the waker with the runtime.
    let _ = pin!(yield_now()).poll(cx);
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Sends frames and returns the number of held frames. A held frame grows once if `grows` is set.
    fn held(batch: &mut Batch, frames: usize, grows: bool) -> usize {
        let mut cx = Context::from_waker(Waker::noop());
        let mut held = 0;
        for _ in 0..frames {
            let mut bytes = 10;
            if batch.holds(bytes, &mut cx) {
                held += 1;
                assert!(batch.refuses(false, &mut cx), "the poll before the turn must be refused");
                assert!(!batch.refuses(false, &mut cx), "the poll after the turn must be accepted");
                if grows {
                    bytes = 20;
                    assert!(batch.holds(bytes, &mut cx));
                }
                assert!(!batch.holds(bytes, &mut cx), "an unchanged frame must be sent");
            }
            batch.sent(bytes);
        }
        held
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_batched_from_the_third_frame_on() {
        let mut batch = Batch::default();
        assert_eq!(held(&mut batch, 2, true), 0);
        assert_eq!(held(&mut batch, 100, true), 100);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_bursts_is_rarely_held() {
        let mut batch = Batch::default();
        held(&mut batch, 200, false);
        assert_eq!(held(&mut batch, 64 * 10, false), 10);
        // One successful attempt is enough.
        held(&mut batch, 64, true);
        assert_eq!(held(&mut batch, 10, true), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn an_endlessly_growing_frame_is_sent() {
        let mut batch = Batch::default();
        let mut cx = Context::from_waker(Waker::noop());
        held(&mut batch, 2, false);
        let mut bytes = 0;
        while batch.holds(bytes + 1, &mut cx) {
            bytes += 1;
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(bytes, 5);
    }
}
