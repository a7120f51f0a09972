use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use omniassist_core::{JsonText, RunEvent, Text};

use super::ToolError;

/// Progress values that wait for a slow reader; the oldest goes when another comes.
const MAX_WAITING: usize = 16;

/// Events that wait for a slow reader; what comes beyond them is left out.
const MAX_EVENTS: usize = 1_024;

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
    /// It shows the client something beside its output.
    Event(RunEvent),
    /// It has changed the state that the run shares with its client.
    SharedStateChanged,
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
    events: VecDeque<RunEvent>,
    state_changed: bool,
    result: Option<Result<JsonText, ToolError>>,
    ended: bool,
    waker: Option<Waker>,
}

pub(crate) enum Update {
    Progress(JsonText),
    Event(RunEvent),
    StateChanged,
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

    /// Adds an event for the client, unless the call has ended. One that replaces a waiting one takes its place. Says
    /// whether there was room.
    pub(crate) fn event(&self, event: RunEvent) -> bool {
        let mut shared = self.lock();
        if shared.ended {
            return true;
        }
        let full = shared.events.len() == MAX_EVENTS;
        match shared.events.iter_mut().find(|waiting| replaces(&event, waiting)) {
            Some(waiting) => *waiting = event,
            None if full => return false,
            None => shared.events.push_back(event),
        }
        wake(shared);
        true
    }

    /// Notes that the shared state has changed.
    pub(crate) fn state_changed(&self) {
        let mut shared = self.lock();
        shared.state_changed = true;
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
        if std::mem::take(&mut shared.state_changed) {
            return Poll::Ready(Update::StateChanged);
        }
        if let Some(event) = shared.events.pop_front() {
            return Poll::Ready(Update::Event(event));
        }
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

/// Whether an event makes a waiting one pointless: data and activities of the same name and id.
fn replaces(event: &RunEvent, waiting: &RunEvent) -> bool {
    match (event, waiting) {
        (
            RunEvent::Data { name, id: Some(id), transient, .. },
            RunEvent::Data { name: other_name, id: Some(other_id), transient: other_transient, .. },
        ) => name == other_name && id == other_id && transient == other_transient,
        (RunEvent::ActivitySnapshot { id, .. }, RunEvent::ActivitySnapshot { id: other_id, .. }) => {
            id == other_id
        }
        _ => false,
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
