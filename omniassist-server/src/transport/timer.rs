use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

/// Stands for "never" where a deadline would not fit the clock.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

pin_project! {
    /// One timer for every deadline of a stream. A deadline that moves on with each chunk costs no re-arming: the
    /// timer is left to fire and then compared with the deadline as it is by then.
    #[derive(Default)]
    pub(super) struct Timer {
        // Made at the first poll: a `Sleep` can only be made inside a runtime.
        #[pin]
        sleep: Option<Sleep>,
    }
}

impl Timer {
    /// Ready once `deadline` is over.
    pub(super) fn poll_deadline(self: Pin<&mut Self>, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let mut slot = self.project().sleep;
        if slot.is_none() {
            slot.set(Some(sleep_until(deadline)));
        }
        loop {
            let Some(mut sleep) = slot.as_mut().as_pin_mut() else { return Poll::Pending };
            if sleep.deadline() > deadline {
                sleep.as_mut().reset(deadline);
            }
            ready!(sleep.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.reset(deadline);
        }
    }
}

/// The moment `delay` after `start`.
pub(super) fn after(start: Instant, delay: Duration) -> Instant {
    start.checked_add(delay).unwrap_or_else(|| start + FAR)
}
