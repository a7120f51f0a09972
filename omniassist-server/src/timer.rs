use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

pin_project! {
    /// One timer for every deadline of a stream. A deadline that moves with each chunk does not re-arm the timer: the
    /// timer fires early, and is then set to the deadline as it is by then.
    #[derive(Default)]
    pub(crate) struct Timer {
        // Made at the first poll: a `Sleep` can only be made inside a runtime.
        #[pin]
        sleep: Option<Sleep>,
        // The task that it wakes.
        waker: Option<Waker>,
    }
}

impl Timer {
    /// Returns `true` if it will wake the task that polled it last.
    pub(crate) fn is_armed(&self) -> bool {
        self.waker.is_some() && self.sleep.as_ref().is_some_and(|sleep| !sleep.is_elapsed())
    }

    /// Is ready once `deadline` is over.
    pub(crate) fn poll_deadline(self: Pin<&mut Self>, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let this = self.project();
        let mut slot = this.sleep;
        if slot.is_none() {
            slot.set(Some(sleep_until(deadline)));
        }
        loop {
            let Some(mut sleep) = slot.as_mut().as_pin_mut() else { return Poll::Pending };
            if sleep.deadline() > deadline {
                sleep.as_mut().reset(deadline);
            } else if !sleep.is_elapsed()
                && this.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()))
            {
                // It will wake this task as it is.
                return Poll::Pending;
            }
            *this.waker = None;
            if sleep.as_mut().poll(cx).is_pending() {
                *this.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            sleep.reset(deadline);
        }
    }
}
