use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use omniassist_core::{JsonText, RunEvent, Text};

use super::agent_ask::AgentAsk;
use crate::tool::ToolError;

/// The maximum number of progress values that wait for a slow reader. A further value replaces the oldest.
const MAX_WAITING: usize = 16;

/// The maximum number of events that wait for a slow reader. Later events are left out.
const MAX_EVENTS: usize = 1_024;

/// An update of a [`RunningTool`](crate::tool::RunningTool).
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolUpdate {
    /// A preliminary output.
    Progress {
        /// The call.
        call_id: Text,
        /// The value; replaces earlier ones.
        output: JsonText,
    },
    /// Data or an activity for the client, beside the output.
    Event(RunEvent),
    /// The tool has changed the state that the run shares with its client.
    SharedStateChanged,
    /// A question of the tool to an agent, or a call in the name of its own. Dropping it answers with an error.
    AgentAsked(AgentAsk),
    /// The end of the call; the last update.
    Done(ToolOutcome),
}

/// The end of a call.
#[derive(Debug)]
pub struct ToolOutcome {
    /// The call.
    pub call_id: Text,
    /// The output, or the error.
    pub result: Result<JsonText, ToolError>,
}

/// The queue from a tool's task to the reader of its updates. It holds a bounded number of values and bytes, and the
/// tool never waits for the reader.
#[derive(Debug)]
pub(crate) struct Updates {
    shared: Mutex<Shared>,
    /// Bytes of the events, and bytes of the progress values, that wait for a slow reader. A single larger one may wait
    /// too.
    max_bytes: usize,
    /// The calls that the tool has made in the name of its own and that have not ended.
    open_calls: AtomicUsize,
}

/// A call that a tool has made in the name of its own, until it ends.
pub(crate) struct OpenInnerCall<'a>(&'a AtomicUsize);

impl Drop for OpenInnerCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct Shared {
    progress: VecDeque<JsonText>,
    progress_bytes: usize,
    events: VecDeque<RunEvent>,
    event_bytes: usize,
    state_changed: bool,
    asked: VecDeque<AgentAsk>,
    result: Option<Result<JsonText, ToolError>>,
    /// `true` if the call waits for the user.
    waits: bool,
    ended: bool,
    waker: Option<Waker>,
}

pub(crate) enum Update {
    Progress(JsonText),
    Event(RunEvent),
    StateChanged,
    Asked(AgentAsk),
    Done(Result<JsonText, ToolError>),
}

impl Updates {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { shared: Mutex::default(), max_bytes, open_calls: AtomicUsize::new(0) }
    }

    /// Counts a call that the tool makes in the name of its own. Returns `true` if another one is open.
    pub(crate) fn open_call(&self) -> (OpenInnerCall<'_>, bool) {
        let is_beside = self.open_calls.fetch_add(1, Ordering::Relaxed) > 0;
        (OpenInnerCall(&self.open_calls), is_beside)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        crate::sync::lock(&self.shared)
    }

    /// Adds a preliminary output, unless the call has ended.
    pub(crate) fn progress(&self, value: JsonText) {
        let mut shared = self.lock();
        if shared.ended {
            return;
        }
        shared.progress_bytes += value.as_str().len();
        shared.progress.push_back(value);
        while shared.progress.len() > MAX_WAITING
            || shared.progress_bytes > self.max_bytes && shared.progress.len() > 1
        {
            shared.pop_progress();
        }
        wake(shared);
    }

    /// Adds an event for the client, unless the call has ended. An event may replace a waiting one. Returns `false` if
    /// there is no room.
    pub(crate) fn event(&self, event: RunEvent) -> bool {
        let mut shared = self.lock();
        if shared.ended {
            return true;
        }
        let waiting = shared.events.iter().position(|waiting| replaces(&event, waiting));
        let freed = waiting.and_then(|index| shared.events.get(index)).map_or(0, bytes_of);
        let bytes = shared.event_bytes - freed + bytes_of(&event);
        let others = shared.events.len() - usize::from(waiting.is_some());
        if others == MAX_EVENTS || bytes > self.max_bytes && others > 0 {
            return false;
        }
        shared.event_bytes = bytes;
        match waiting.and_then(|index| shared.events.get_mut(index)) {
            Some(waiting) => *waiting = event,
            None => shared.events.push_back(event),
        }
        wake(shared);
        true
    }

    /// Adds a question to an agent, unless the call has ended.
    pub(crate) fn asked(&self, ask: AgentAsk) {
        let mut shared = self.lock();
        if !shared.ended {
            shared.asked.push_back(ask);
            wake(shared);
        }
    }

    /// Marks a call that waits for the user: its result does not count.
    pub(crate) fn wait(&self) {
        self.lock().waits = true;
    }

    /// Returns `true` if the call waits for the user.
    pub(crate) fn is_waiting(&self) -> bool {
        self.lock().waits
    }

    pub(crate) fn state_changed(&self) {
        let mut shared = self.lock();
        shared.state_changed = true;
        wake(shared);
    }

    /// Ends the call. Returns `true` for the first end; later ones have no effect.
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

    /// Returns the next update. The task that waits for one is still woken.
    pub(crate) fn pop(&self) -> Option<Update> {
        self.lock().pop()
    }

    /// Returns the next update, and registers the task to wake for it if there is none.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Update> {
        let mut shared = self.lock();
        if let Some(update) = shared.pop() {
            return Poll::Ready(update);
        }
        match &mut shared.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none @ None => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Shared {
    fn pop(&mut self) -> Option<Update> {
        if std::mem::take(&mut self.state_changed) {
            return Some(Update::StateChanged);
        }
        if let Some(event) = self.events.pop_front() {
            self.event_bytes -= bytes_of(&event);
            return Some(Update::Event(event));
        }
        if let Some(value) = self.pop_progress() {
            return Some(Update::Progress(value));
        }
        if let Some(ask) = self.asked.pop_front() {
            return Some(Update::Asked(ask));
        }
        self.result.take().map(Update::Done)
    }

    fn pop_progress(&mut self) -> Option<JsonText> {
        let value = self.progress.pop_front()?;
        self.progress_bytes -= value.as_str().len();
        Some(value)
    }
}

/// Returns the bytes of the texts in an event for the client.
fn bytes_of(event: &RunEvent) -> usize {
    match event {
        RunEvent::Data { name, id, data, .. } => {
            name.len() + id.as_ref().map_or(0, |id| id.len()) + data.as_str().len()
        }
        RunEvent::ActivitySnapshot { id, kind, content } => id.len() + kind.len() + content.as_str().len(),
        RunEvent::Component(event) => event.text_bytes(),
        _ => 0,
    }
}

/// Returns `true` if an event replaces a waiting one: data and activities of the same name and id.
fn replaces(event: &RunEvent, waiting: &RunEvent) -> bool {
    match (event, waiting) {
        (
            RunEvent::Data { name, id: Some(id), transient, .. },
            RunEvent::Data { name: other_name, id: Some(other_id), transient: other_transient, .. },
        ) => name == other_name && id == other_id && transient == other_transient,
        (RunEvent::Component(event), RunEvent::Component(waiting)) => event.replaces(waiting),
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
