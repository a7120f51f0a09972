use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use atomic_waker::AtomicWaker;

/// A waker that records if the source of a body caused a poll.
///
/// HTTP servers poll a body again after each frame, and once more after each write, before they let go of the task. A
/// source that was pending still is, and polling it costs as much as a token. The source is therefore polled with a
/// waker of this flag, which sets the flag and wakes the task.
#[derive(Debug)]
pub(super) struct WakeFlag {
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
    pub(super) fn new() -> Self {
        let shared = Arc::new(Shared { is_set: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { waker: Waker::from(Arc::clone(&shared)), shared }
    }

    /// Clears the flag and returns `true` if it was set. From now on it wakes this task.
    pub(super) fn take(&self, cx: &Context<'_>) -> bool {
        self.shared.task.register(cx.waker());
        self.is_set() && self.shared.is_set.swap(false, Ordering::AcqRel)
    }

    /// Returns `true` if the next [`take`](Self::take) does.
    pub(super) fn is_set(&self) -> bool {
        self.shared.is_set.load(Ordering::Acquire)
    }

    /// Sets the flag without waking the task.
    pub(super) fn set(&self) {
        self.shared.is_set.store(true, Ordering::Release);
    }

    /// Returns the waker that sets the flag.
    pub(super) fn waker(&self) -> &Waker {
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
