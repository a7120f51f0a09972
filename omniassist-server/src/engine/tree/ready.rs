use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Wake, Waker};

use futures_util::task::AtomicWaker;

/// The most children that work at the same time: one bit each.
pub(in crate::engine) const MAX_PARALLEL: usize = u64::BITS as usize;

/// The children that have woken their parent. A wake costs the same for each number of children, since only those are
/// polled that have something.
#[derive(Debug, Default)]
pub(super) struct Ready {
    woken: AtomicU64,
    parent: AtomicWaker,
}

impl Ready {
    /// Returns the children that were woken since the last time, as bits, and wakes this task for later ones.
    pub(super) fn take(&self, cx: &Context<'_>) -> u64 {
        self.parent.register(cx.waker());
        self.woken.swap(0, Ordering::AcqRel)
    }

    /// Returns the waker of a child.
    pub(super) fn waker(self: &Arc<Self>, slot: usize) -> Waker {
        Waker::from(Arc::new(ChildWaker { ready: Arc::clone(self), bit: bit(slot) }))
    }
}

/// Returns the bit of a child: none beyond [`MAX_PARALLEL`].
pub(super) fn bit(slot: usize) -> u64 {
    u32::try_from(slot).ok().and_then(|slot| 1_u64.checked_shl(slot)).unwrap_or(0)
}

struct ChildWaker {
    ready: Arc<Ready>,
    bit: u64,
}

impl Wake for ChildWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.woken.fetch_or(self.bit, Ordering::AcqRel);
        self.ready.parent.wake();
    }
}
