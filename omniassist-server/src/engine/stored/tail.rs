//! The latest events of a run, shared by its viewers.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use omniassist_core::{RunEvent, Text};
use tokio::sync::Notify;

use crate::CancellationToken;
use crate::engine::Admission;
use crate::sync::lock;

/// The number of events that are kept for a viewer that reads slowly. A slower one reads the journal.
const KEPT_EVENTS: u64 = 256;

/// The number of events from which on the texts of a batch keep the buffer into which they were read.
///
/// A delta that arrives alone would keep a buffer of 8 KiB of its connection for some bytes. The connection would also need
/// a new buffer for each read.
const SHARE_BUFFER: usize = 8;

/// The events of a run that a viewer can read without the journal: those that are not durable yet, and a few before them.
///
/// There is no queue for each viewer. A viewer is a number in this list.
pub(super) struct Tail {
    state: Mutex<State>,
    /// Notified when the last viewer leaves.
    unwatched: Notify,
    /// Cancelled when the leg has shown what a recovery withdraws, or has ended.
    begun: CancellationToken,
}

struct State {
    /// The epoch in which the last events were written.
    epoch: u32,
    events: VecDeque<RunEvent>,
    /// The number of the first of `events`.
    first: u64,
    /// The number of events that the journal has.
    durable: u64,
    viewers: Vec<Viewer>,
    next_viewer: u64,
    end: Option<End>,
    admission: Admission,
}

struct Viewer {
    id: u64,
    next: u64,
    waker: Option<Waker>,
    /// `true` if the viewer counts the events of its epoch, so that it does not see those of the next one.
    is_of_epoch: bool,
    is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The terminal event is the last one.
    Complete,
    /// Another instance may go on with the run, or nobody.
    Broken,
}

/// The events of a tail at one time.
#[derive(Default)]
pub(super) struct Shown {
    /// The number of the first of `events`.
    first: u64,
    events: Vec<RunEvent>,
}

impl Shown {
    /// Returns the events from `next` on.
    pub(super) fn after(mut self, next: u64) -> Vec<RunEvent> {
        let at = usize::try_from(next.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.events.split_off(at.min(self.events.len()))
    }
}

/// The result of a viewer's read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Took {
    Events,
    /// The next event is in the journal only.
    Behind,
    /// There are no more events.
    End,
}

impl Tail {
    /// Creates the tail of a run whose journal has this many events.
    pub(super) fn new(first: u64, epoch: u32) -> Self {
        let state = State {
            epoch,
            events: VecDeque::new(),
            first,
            durable: first,
            viewers: Vec::new(),
            next_viewer: 0,
            end: None,
            admission: Admission::Undecided,
        };
        Self { state: Mutex::new(state), unwatched: Notify::new(), begun: CancellationToken::new() }
    }

    pub(super) fn epoch(&self) -> u32 {
        lock(&self.state).epoch
    }

    /// Begins another epoch: the events that follow are those of another instance. Viewers that count the events of their
    /// epoch come back.
    pub(super) fn take_over(&self, epoch: u32) {
        self.change(|state| {
            state.epoch = epoch;
            state.viewers.iter_mut().for_each(|viewer| viewer.is_cut = viewer.is_of_epoch);
        });
    }

    /// Shows events to all viewers. They are dropped if the tail has ended.
    pub(super) fn publish(&self, events: &mut Vec<RunEvent>) {
        if !events.is_empty() {
            if events.len() < SHARE_BUFFER {
                events.iter_mut().for_each(copy_text);
            }
            self.change(|state| {
                let events = events.drain(..);
                if state.end.is_none() {
                    state.events.extend(events);
                    state.trim();
                }
            });
        }
    }

    /// Records that the journal has this many events.
    pub(super) fn is_durable(&self, events: u64) {
        let mut state = lock(&self.state);
        state.durable = events;
        state.trim();
    }

    pub(super) fn admit(&self, admission: Admission) {
        self.change(|state| state.admission = admission);
    }

    /// Records that a recovery withdraws nothing more.
    pub(super) fn begin(&self) {
        self.begun.cancel();
    }

    /// Waits until a recovery withdraws nothing more, and returns the events that the tail has. Those before are in the
    /// journal. A caller reads the journal afterwards: a write in between would drop events from the tail that the caller
    /// has not read.
    pub(super) async fn begun(&self) -> Shown {
        self.begun.cancelled().await;
        let state = lock(&self.state);
        Shown { first: state.first, events: state.events.iter().cloned().collect() }
    }

    pub(super) fn admission(&self) -> Admission {
        lock(&self.state).admission.clone()
    }

    /// Ends the tail after the terminal event.
    pub(super) fn complete(&self) {
        self.change(|state| state.end = Some(End::Complete));
        self.begin();
    }

    /// Ends the tail, unless it is complete. The run may go on elsewhere, so that viewers have to come back.
    pub(super) fn break_off(&self) {
        self.change(|state| {
            state.end.get_or_insert(End::Broken);
        });
        self.begin();
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        // Most runs have one viewer. Its waker needs no allocation.
        let (first, others): (_, Vec<_>) = {
            let mut state = lock(&self.state);
            change(&mut state);
            let mut wakers = state.viewers.iter_mut().filter_map(|viewer| viewer.waker.take());
            (wakers.next(), wakers.collect())
        };
        first.into_iter().chain(others).for_each(Waker::wake);
    }

    /// Adds a viewer that has the events before this number.
    pub(super) fn join(&self, next: u64) -> u64 {
        let mut state = lock(&self.state);
        let id = state.next_viewer;
        state.next_viewer += 1;
        state.viewers.push(Viewer { id, next, waker: None, is_of_epoch: true, is_cut: false });
        id
    }

    /// Keeps a viewer when another epoch begins.
    pub(super) fn keep(&self, id: u64) {
        let mut state = lock(&self.state);
        if let Some(viewer) = state.viewers.iter_mut().find(|viewer| viewer.id == id) {
            viewer.is_of_epoch = false;
        }
    }

    /// Removes a viewer that the run does not wait for.
    pub(super) fn detach(&self, id: u64) {
        lock(&self.state).viewers.retain(|viewer| viewer.id != id);
    }

    pub(super) fn leave(&self, id: u64) {
        let mut state = lock(&self.state);
        state.viewers.retain(|viewer| viewer.id != id);
        if state.viewers.is_empty() && state.end.is_none() {
            self.unwatched.notify_one();
        }
    }

    /// Returns `true` if there is a viewer.
    pub(super) fn is_watched(&self) -> bool {
        !lock(&self.state).viewers.is_empty()
    }

    /// Waits until the last viewer leaves.
    pub(super) async fn unwatched(&self) {
        self.unwatched.notified().await;
    }

    /// Appends the events from `next` on to `into`.
    pub(super) fn poll(
        &self,
        id: u64,
        next: u64,
        into: &mut VecDeque<RunEvent>,
        cx: &Context<'_>,
    ) -> Poll<Took> {
        let mut state = lock(&self.state);
        let State { events, first, viewers, end, .. } = &mut *state;
        let viewer = viewers.iter_mut().find(|viewer| viewer.id == id);
        if viewer.as_ref().is_some_and(|viewer| viewer.is_cut) {
            return Poll::Ready(Took::End);
        }
        let Some(at) = next.checked_sub(*first) else { return Poll::Ready(Took::Behind) };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if at < events.len() {
            into.extend(events.range(at..).cloned());
            if let Some(viewer) = viewer {
                viewer.next = *first + events.len() as u64;
            }
            return Poll::Ready(Took::Events);
        }
        if end.is_some() {
            return Poll::Ready(Took::End);
        }
        if let Some(viewer) = viewer {
            match &mut viewer.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none @ None => *none = Some(cx.waker().clone()),
            }
        }
        Poll::Pending
    }
}

/// Copies the text of a delta out of the buffer into which it was read.
fn copy_text(event: &mut RunEvent) {
    if let RunEvent::TextDelta { delta, .. }
    | RunEvent::ReasoningDelta { delta, .. }
    | RunEvent::ToolInputDelta { delta, .. } = event
    {
        *delta = Text::from(delta.as_str());
    }
}

impl State {
    /// Drops the durable events that every viewer has read, or that only slow viewers have not read.
    fn trim(&mut self) {
        let published = self.first + self.events.len() as u64;
        let slowest = self.viewers.iter().map(|viewer| viewer.next).min().unwrap_or(published);
        let keep = self.durable.min(slowest.max(published.saturating_sub(KEPT_EVENTS)));
        while self.first < keep && self.events.pop_front().is_some() {
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_that_become_durable_are_not_lost_for_a_reader_of_the_journal() {
        let tail = Tail::new(2, 1);
        tail.publish(&mut vec![RunEvent::StepReset, RunEvent::StepStart]);
        tail.begin();
        for (next, left) in [(2, 2), (3, 1), (4, 0), (9, 0)] {
            assert_eq!(tail.begun().await.after(next).len(), left, "{next}");
        }
        let shown = tail.begun().await;
        tail.is_durable(4);
        assert_eq!(shown.after(2), [RunEvent::StepReset, RunEvent::StepStart]);
    }
}
