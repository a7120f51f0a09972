use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use atomic_waker::AtomicWaker;

/// Tells a poll for which there is a reason from one without.
///
/// HTTP servers poll a body again after each frame and once more after each write, before they let go of the task. What
/// was pending then still is, and to ask it costs as much as a token. So what is behind the body is polled with a waker of
/// the body's own, which notes that it was woken and wakes the task.
#[derive(Debug)]
pub(super) struct Woken {
    bell: Arc<Bell>,
    waker: Waker,
}

#[derive(Debug)]
struct Bell {
    rung: AtomicBool,
    task: AtomicWaker,
}

impl Woken {
    /// Woken already, for the first poll.
    pub(super) fn new() -> Self {
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: AtomicWaker::new() });
        Self { waker: Waker::from(Arc::clone(&bell)), bell }
    }

    /// Whether it was woken since this was asked last; from now on this task is woken.
    pub(super) fn take(&self, cx: &Context<'_>) -> bool {
        self.bell.task.register(cx.waker());
        self.bell.rung.load(Ordering::Acquire) && self.bell.rung.swap(false, Ordering::AcqRel)
    }

    /// Whether the next [`take`](Self::take) says yes.
    pub(super) fn is_set(&self) -> bool {
        self.bell.rung.load(Ordering::Acquire)
    }

    /// Makes the next [`take`](Self::take) say yes, where there is a reason that wakes nobody.
    pub(super) fn set(&self) {
        self.bell.rung.store(true, Ordering::Release);
    }

    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task.wake();
    }
}
