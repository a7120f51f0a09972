use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use omniassist_core::{JsonText, Text};

use super::ToolError;

/// Progress values that wait for a slow reader; the oldest goes when another comes.
const MAX_WAITING: usize = 16;

/// What a [`RunningTool`](super::RunningTool) reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolUpdate {
    /// How far it has come: a preliminary output.
    Progress {
        /// The call.
        call_id: Text,
        /// The value; replaces earlier ones.
        output: JsonText,
    },
    /// It has ended; the last update.
    Done(ToolOutcome),
}

/// How a call ended.
#[derive(Debug)]
pub struct ToolOutcome {
    /// The call.
    pub call_id: Text,
    /// Its output, or why there is none.
    pub result: Result<JsonText, ToolError>,
}

/// The way from a tool's task to whoever reads its updates. Holds a bounded number of values, so that neither side
/// ever waits for the other.
#[derive(Debug, Default)]
pub(crate) struct Updates {
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    progress: VecDeque<JsonText>,
    result: Option<Result<JsonText, ToolError>>,
    ended: bool,
    waker: Option<Waker>,
}

pub(crate) enum Update {
    Progress(JsonText),
    Done(Result<JsonText, ToolError>),
}

impl Updates {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a preliminary output, unless the call has ended.
    pub(crate) fn progress(&self, value: JsonText) {
        let mut shared = self.lock();
        if shared.ended {
            return;
        }
        if shared.progress.len() == MAX_WAITING {
            shared.progress.pop_front();
        }
        shared.progress.push_back(value);
        wake(shared);
    }

    /// Ends the call. Only the first end counts; says whether this was it.
    pub(crate) fn finish(&self, result: Result<JsonText, ToolError>) -> bool {
        let mut shared = self.lock();
        if shared.ended {
            return false;
        }
        shared.ended = true;
        shared.result = Some(result);
        wake(shared);
        true
    }

    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Update> {
        let mut shared = self.lock();
        if let Some(value) = shared.progress.pop_front() {
            return Poll::Ready(Update::Progress(value));
        }
        if let Some(result) = shared.result.take() {
            return Poll::Ready(Update::Done(result));
        }
        match &mut shared.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none @ None => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

/// Wakes the reader after the lock is free: waking may run the reader's code.
fn wake(mut shared: MutexGuard<'_, Shared>) {
    let waker = shared.waker.take();
    drop(shared);
    if let Some(waker) = waker {
        waker.wake();
    }
}
