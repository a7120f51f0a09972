use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use atomic_waker::AtomicWaker;

/// A waker that records if a source caused a poll, so that a source which is still pending is not polled for nothing.
///
/// A task is polled for reasons that do not concern all its sources. HTTP servers poll a body after each frame and each
/// write, and the text of an agent wakes the run that waits for its tools. A source is therefore polled with the waker of
/// its flag, which sets the flag and wakes the task.
#[derive(Debug)]
pub(crate) struct WakeFlag {
    shared: Arc<Shared>,
    waker: Waker,
}

#[derive(Debug)]
struct Shared {
    is_set: AtomicBool,
    task: AtomicWaker,
}

impl WakeFlag {
    /// Creates a flag that is set, for the first poll.
    pub(crate) fn new() -> Self {
        let shared = Arc::new(Shared { is_set: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { waker: Waker::from(Arc::clone(&shared)), shared }
    }

    /// Clears the flag and returns `true` if it was set. From now on it wakes this task.
    pub(crate) fn take(&self, cx: &Context<'_>) -> bool {
        self.shared.task.register(cx.waker());
        self.is_set() && self.shared.is_set.swap(false, Ordering::AcqRel)
    }

    /// Returns `true` if the next [`take`](Self::take) does.
    pub(crate) fn is_set(&self) -> bool {
        self.shared.is_set.load(Ordering::Acquire)
    }

    /// Sets the flag without waking the task, for a source that has more.
    pub(crate) fn set(&self) {
        self.shared.is_set.store(true, Ordering::Release);
    }

    /// Returns the waker that sets the flag.
    pub(crate) fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_set.store(true, Ordering::Release);
        self.task.wake();
    }
}
