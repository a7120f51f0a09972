use std::pin::pin;
use std::task::Context;
use std::time::Duration;

use tokio::task::yield_now;

/// Events that come closer behind a frame than this belong to a burst: a model that is read from memory, or one that is
/// faster than its reader. No model that thinks between two tokens is this fast.
const GAP: Duration = Duration::from_micros(300);

/// How many frames in a row are close behind each other before a burst is taken for one. The head of an answer and its
/// first words are, and nobody waits longer for anything than for these.
const FRAMES: u8 = 2;

/// Gathers the events of a burst into one frame.
///
/// An HTTP client hands its body over a chunk at a time, each by way of the scheduler. So a body that is sent as soon as
/// nothing more is ready is one write for each chunk, and most of what a burst costs are writes. In a burst, what is
/// there is therefore held until the scheduler was given one turn in which nothing came. Otherwise it is sent at once: an
/// unconditional turn would add to the latency of every token.
#[derive(Debug, Default)]
pub(super) struct Burst {
    /// Bytes that were held when the source was asked last; 0 when none are.
    held: usize,
    /// Whether the next poll is refused unasked. Servers poll a pending body twice before they let go of the task, and
    /// between the two nothing can come.
    refuse: bool,
    /// Frames in a row that went out close behind the one before.
    close: u8,
}

impl Burst {
    /// Whether this poll is turned away, to be repeated after a turn of the scheduler. One that the source has asked for
    /// is not: its next event is there.
    pub(super) fn refuses(&mut self, was_woken: bool, cx: &mut Context<'_>) -> bool {
        let refuse = std::mem::take(&mut self.refuse) && !was_woken;
        if refuse {
            turn(cx);
        }
        refuse
    }

    /// Whether a frame of this many bytes, this long after the one before it, waits for more. Then the task is woken
    /// again by itself.
    pub(super) fn holds(&mut self, bytes: usize, since_last: Duration, cx: &mut Context<'_>) -> bool {
        let grows = bytes > self.held;
        let is_burst = self.held > 0 || (since_last < GAP && self.close >= FRAMES);
        if !(grows && is_burst) {
            return false;
        }
        self.held = bytes;
        self.refuse = true;
        turn(cx);
        true
    }

    /// Notes that the frame goes out, this long after the one before it.
    pub(super) fn sent(&mut self, since_last: Duration) {
        let is_close = self.held > 0 || since_last < GAP;
        *self = Self { close: if is_close { self.close.saturating_add(1) } else { 0 }, ..Self::default() };
    }
}

/// Has the task woken when all others had their turn, and the sockets were looked at. Waking it at once is not enough
/// where the task runs in a `LocalSet`, as actix's do: its tasks would go round without the connection to the provider,
/// which is a task of the runtime's.
fn turn(cx: &mut Context<'_>) {
    // Its first poll leaves the waker with the runtime.
    let _ = pin!(yield_now()).poll(cx);
}
