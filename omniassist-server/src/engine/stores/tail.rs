//! The latest events of a run, shared by its viewers.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use omniassist_core::event::AgentDelta;
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
pub(in crate::engine) struct Tail {
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
    /// The number of the first event that the tail cache does not have. `None` if it gets none.
    unsent: Option<u64>,
    /// `true` for the tail of a run that another instance drives.
    is_copy: bool,
    /// `true` if an instance has shown events that the journal does not have, and another one has claimed the run.
    is_stale: bool,
}

struct Viewer {
    id: u64,
    /// The position in the journal up to which the viewer had read it when it joined.
    joined: u64,
    next: u64,
    waker: Option<Waker>,
    /// `true` if the viewer counts the events of its epoch, so that it does not see those of the next one.
    is_of_epoch: bool,
    is_cut: bool,
    /// `true` if the viewer has to go back to `next`, since the events after it were withdrawn.
    goes_back: bool,
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
pub(in crate::engine) struct TailEvents {
    /// The number of the first of `events`.
    first: u64,
    events: Vec<RunEvent>,
}

impl TailEvents {
    /// Returns the events from `next` on.
    pub(in crate::engine) fn after(mut self, next: u64) -> Vec<RunEvent> {
        let at = usize::try_from(next.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.events.split_off(at.min(self.events.len()))
    }
}

/// The result of a viewer's read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) enum Polled {
    Events,
    /// The next event is in the journal only.
    Behind,
    /// Events were withdrawn. The next one has this number.
    Withdrawn(u64),
    /// There are no more events.
    End,
}

impl Tail {
    /// Creates the tail of a run whose journal has this many events.
    pub(in crate::engine) fn new(first: u64, epoch: u32) -> Self {
        let state = State {
            epoch,
            events: VecDeque::new(),
            first,
            durable: first,
            viewers: Vec::new(),
            next_viewer: 0,
            end: None,
            admission: Admission::Undecided,
            unsent: None,
            is_copy: false,
            is_stale: false,
        };
        Self { state: Mutex::new(state), unwatched: Notify::new(), begun: CancellationToken::new() }
    }

    /// Makes this the tail of a run that another instance drives, whose viewers withdraw nothing more.
    pub(in crate::engine) fn copied(self) -> Self {
        lock(&self.state).is_copy = true;
        self.begin();
        self
    }

    /// Returns `true` for the tail of a run that another instance drives.
    pub(in crate::engine) fn is_copy(&self) -> bool {
        lock(&self.state).is_copy
    }

    pub(in crate::engine) fn epoch(&self) -> u32 {
        lock(&self.state).epoch
    }

    /// Begins another epoch: the events that follow are those of another instance. Viewers that count the events of their
    /// epoch come back.
    pub(in crate::engine) fn take_over(&self, epoch: u32) {
        self.change(|state| {
            state.is_stale |= epoch > state.epoch && state.published() > state.durable;
            state.epoch = epoch;
            state.viewers.iter_mut().for_each(|viewer| viewer.is_cut = viewer.is_of_epoch);
        });
    }

    /// Shows events to all viewers. They are dropped if the tail has ended.
    pub(in crate::engine) fn publish(&self, events: &mut Vec<RunEvent>) {
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
    pub(in crate::engine) fn mark_durable(&self, events: u64) {
        let mut state = lock(&self.state);
        state.durable = events;
        state.trim();
    }

    /// Shows the events of a segment of another instance's journal, apart from those that pieces have shown. The journal
    /// has `until` events with them.
    ///
    /// Returns `false` if pieces have shown what the journal does not have, and viewers cannot withdraw it.
    pub(in crate::engine) fn publish_segment(&self, mut events: Vec<RunEvent>, until: u64) -> bool {
        if events.len() < SHARE_BUFFER {
            events.iter_mut().for_each(copy_text);
        }
        let mut is_shown = true;
        self.change(|state| {
            if state.is_stale && !events.is_empty() {
                is_shown = events.first() == Some(&RunEvent::StepReset) && state.withdraw();
            }
            if is_shown {
                state.extend(state.durable, events);
                state.durable = until;
                state.trim();
            }
        });
        is_shown
    }

    /// Shows the events of a piece, whose first event has this number, apart from those that were shown.
    pub(in crate::engine) fn publish_piece(&self, from: u64, mut events: Vec<RunEvent>) {
        events.iter_mut().for_each(copy_text);
        self.change(|state| state.extend(from, events));
    }

    /// Returns the number of the event that a piece may show next. `None` until the journal has told what a claim withdraws.
    pub(in crate::engine) fn next_event(&self) -> Option<u64> {
        let state = lock(&self.state);
        (!state.is_stale).then(|| state.published())
    }

    /// Keeps the events that are not durable yet for the tail cache. Returns `false` if the tail has ended.
    pub(in crate::engine) fn begin_to_send(&self) -> bool {
        let mut state = lock(&self.state);
        if state.end.is_none() {
            state.unsent = Some(state.durable);
        }
        state.end.is_none()
    }

    /// Keeps no more events for the tail cache.
    pub(in crate::engine) fn end_to_send(&self) {
        lock(&self.state).unsent = None;
    }

    /// Returns the number of the first event that was not sent, the events from it on, and `true` if the tail has ended.
    pub(in crate::engine) fn take_unsent(&self) -> (u64, Vec<RunEvent>, bool) {
        let mut state = lock(&self.state);
        let published = state.published();
        let from = state.unsent.replace(published).unwrap_or(published).max(state.first);
        let at = usize::try_from(from - state.first).unwrap_or(usize::MAX);
        let events = state.events.iter().skip(at).cloned().collect();
        state.trim();
        (from, events, state.end.is_some())
    }

    pub(in crate::engine) fn admit(&self, admission: Admission) {
        self.change(|state| state.admission = admission);
    }

    /// Records that a recovery withdraws nothing more.
    pub(in crate::engine) fn begin(&self) {
        self.begun.cancel();
    }

    /// Waits until a recovery withdraws nothing more, and returns the events that the tail has. Those before are in the
    /// journal. A caller reads the journal afterwards: a write in between would drop events from the tail that the caller
    /// has not read.
    ///
    /// It returns none of another instance's run, of which a claim may withdraw events that the journal does not have.
    pub(in crate::engine) async fn begun(&self) -> TailEvents {
        self.begun.cancelled().await;
        self.events()
    }

    /// Returns the events that the tail has, without those of another instance's run.
    pub(in crate::engine) fn events(&self) -> TailEvents {
        let state = lock(&self.state);
        if state.is_copy {
            return TailEvents::default();
        }
        TailEvents { first: state.first, events: state.events.iter().cloned().collect() }
    }

    pub(in crate::engine) fn admission(&self) -> Admission {
        lock(&self.state).admission.clone()
    }

    /// Ends the tail after the terminal event.
    pub(in crate::engine) fn complete(&self) {
        self.change(|state| state.end = Some(End::Complete));
        self.begin();
    }

    /// Returns `true` for a tail that ended before its run.
    pub(in crate::engine) fn is_broken(&self) -> bool {
        lock(&self.state).end == Some(End::Broken)
    }

    /// Ends the tail, unless it is complete. The run may go on elsewhere, so that viewers have to come back.
    pub(in crate::engine) fn break_off(&self) {
        self.change(|state| {
            state.end.get_or_insert(End::Broken);
        });
        self.begin();
    }

    /// Opens a tail if it was broken off, because its run goes on here. Its viewers have left meanwhile.
    pub(in crate::engine) fn mend(&self) {
        let mut state = lock(&self.state);
        let was_broken = state.end.take_if(|end| *end == End::Broken).is_some();
        if was_broken && state.viewers.is_empty() {
            self.unwatched.notify_one();
        }
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
    pub(in crate::engine) fn join(&self, next: u64) -> u64 {
        let mut state = lock(&self.state);
        let id = state.next_viewer;
        state.next_viewer += 1;
        state.viewers.push(Viewer {
            id,
            joined: next,
            next,
            waker: None,
            is_of_epoch: true,
            is_cut: false,
            goes_back: false,
        });
        id
    }

    /// Keeps a viewer when another epoch begins.
    pub(in crate::engine) fn keep(&self, id: u64) {
        let mut state = lock(&self.state);
        if let Some(viewer) = state.viewers.iter_mut().find(|viewer| viewer.id == id) {
            viewer.is_of_epoch = false;
        }
    }

    /// Cuts a viewer that counts the events of an epoch which was over when it joined: it has not read what the next one
    /// withdraws.
    pub(in crate::engine) fn count_in(&self, id: u64, epoch: u32) {
        let mut state = lock(&self.state);
        let is_cut = state.epoch > epoch;
        if let Some(viewer) = state.viewers.iter_mut().find(|viewer| viewer.id == id) {
            viewer.is_cut |= is_cut;
        }
    }

    /// Removes a viewer that the run does not wait for.
    pub(in crate::engine) fn detach(&self, id: u64) {
        lock(&self.state).viewers.retain(|viewer| viewer.id != id);
    }

    pub(in crate::engine) fn leave(&self, id: u64) {
        let mut state = lock(&self.state);
        state.viewers.retain(|viewer| viewer.id != id);
        if state.viewers.is_empty() && state.end.is_none() {
            self.unwatched.notify_one();
        }
    }

    /// Returns `true` if there is a viewer.
    pub(in crate::engine) fn is_watched(&self) -> bool {
        !lock(&self.state).viewers.is_empty()
    }

    /// Waits until the last viewer leaves.
    pub(in crate::engine) async fn unwatched(&self) {
        self.unwatched.notified().await;
    }

    /// Appends the events from `next` on to `into`.
    pub(in crate::engine) fn poll(
        &self,
        id: u64,
        next: u64,
        into: &mut VecDeque<RunEvent>,
        cx: &Context<'_>,
    ) -> Poll<Polled> {
        let mut state = lock(&self.state);
        let State { events, first, durable, viewers, end, is_copy, .. } = &mut *state;
        let mut viewer = viewers.iter_mut().find(|viewer| viewer.id == id);
        if viewer.as_ref().is_some_and(|viewer| viewer.is_cut) {
            return Poll::Ready(Polled::End);
        }
        if let Some(viewer) = &mut viewer
            && std::mem::take(&mut viewer.goes_back)
        {
            return Poll::Ready(Polled::Withdrawn(viewer.next));
        }
        let Some(at) = next.checked_sub(*first) else { return Poll::Ready(Polled::Behind) };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        // The journal that the viewer has read may be that of a claim which the tail does not show yet.
        let is_known = !*is_copy || viewer.as_ref().is_none_or(|viewer| viewer.joined <= *durable);
        if at < events.len() && is_known {
            into.extend(events.range(at..).cloned());
            if let Some(viewer) = viewer {
                viewer.next = *first + events.len() as u64;
            }
            return Poll::Ready(Polled::Events);
        }
        if end.is_some() {
            return Poll::Ready(Polled::End);
        }
        if let Some(viewer) = &mut viewer {
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
    | RunEvent::ToolInputDelta { delta, .. }
    | RunEvent::AgentDelta { delta: AgentDelta::Text { delta }, .. } = event
    {
        *delta = Text::from(delta.as_str());
    }
}

/// Returns `true` for an event of which a client has nothing after a `StepReset`: text, reasoning, and arguments that are
/// not complete.
pub(in crate::engine) fn is_withdrawn_with_its_step(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::TextStart { .. }
            | RunEvent::TextDelta { .. }
            | RunEvent::TextEnd { .. }
            | RunEvent::ReasoningStart { .. }
            | RunEvent::ReasoningDelta { .. }
            | RunEvent::ReasoningEnd { .. }
            | RunEvent::ToolInputStart { .. }
            | RunEvent::ToolInputDelta { .. }
    )
}

impl State {
    /// Returns the number of the event after the last one.
    fn published(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// Appends events of which the first one has this number, apart from those that are there.
    fn extend(&mut self, from: u64, events: Vec<RunEvent>) {
        if self.end.is_none() {
            let known = usize::try_from(self.published().saturating_sub(from)).unwrap_or(usize::MAX);
            self.events.extend(events.into_iter().skip(known));
        }
    }

    /// Drops the events that the journal does not have. Viewers that have read them go back. Returns `false` if a client
    /// does not withdraw all of them with the step.
    fn withdraw(&mut self) -> bool {
        let kept = usize::try_from(self.durable.saturating_sub(self.first)).unwrap_or(usize::MAX);
        if !self.events.iter().skip(kept).all(is_withdrawn_with_its_step) {
            return false;
        }
        self.events.truncate(kept);
        let durable = self.durable;
        for viewer in self.viewers.iter_mut().filter(|viewer| viewer.joined <= durable) {
            if viewer.next > durable {
                (viewer.next, viewer.goes_back) = (durable, true);
            }
        }
        self.is_stale = false;
        true
    }

    /// Drops the durable events that every viewer and the tail cache have, or that only slow viewers do not have.
    fn trim(&mut self) {
        let published = self.published();
        let slowest = self.viewers.iter().map(|viewer| viewer.next).min().unwrap_or(published);
        let keep = self.durable.min(slowest.max(published.saturating_sub(KEPT_EVENTS)));
        let keep = keep.min(self.unsent.unwrap_or(keep));
        while self.first < keep && self.events.pop_front().is_some() {
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use omniassist_core::event::BlockId;

    use super::*;

    fn delta(text: &'static str) -> RunEvent {
        RunEvent::TextDelta { id: BlockId(0), delta: Text::from_static(text) }
    }

    fn poll(tail: &Tail, viewer: u64, next: u64) -> (Poll<Polled>, Vec<RunEvent>) {
        let mut events = VecDeque::new();
        let took = tail.poll(viewer, next, &mut events, &Context::from_waker(Waker::noop()));
        (took, events.into())
    }

    #[test]
    fn events_that_become_durable_are_kept_until_they_are_sent() {
        let tail = Tail::new(4, 1);
        tail.publish(&mut vec![delta("a")]);
        assert!(tail.begin_to_send());
        tail.publish(&mut vec![delta("b")]);
        tail.mark_durable(6);
        assert_eq!(tail.take_unsent(), (4, vec![delta("a"), delta("b")], false));
        tail.publish(&mut vec![delta("c")]);
        tail.complete();
        assert_eq!(tail.take_unsent(), (6, vec![delta("c")], true));
        assert!(!tail.begin_to_send());
    }

    /// A viewer has read the journal of a second claim. The tail shows text of the first one, which is in no journal.
    #[tokio::test]
    async fn a_viewer_that_joins_a_copy_waits_for_the_journal_that_it_has_read() {
        let tail = Tail::new(2, 1).copied();
        tail.publish_piece(2, vec![delta("a"), delta("b"), delta("c")]);
        assert!(tail.begun().await.after(0).is_empty());
        let (viewer, earlier) = (tail.join(3), tail.join(2));
        tail.keep(viewer);
        tail.keep(earlier);
        assert_eq!(poll(&tail, viewer, 3), (Poll::Pending, vec![]));
        assert_eq!(poll(&tail, earlier, 2).1.len(), 3);

        tail.take_over(2);
        assert_eq!(tail.next_event(), None);
        assert!(tail.publish_segment(Vec::new(), 2));
        assert!(tail.publish_segment(vec![RunEvent::StepReset], 3));
        assert!(tail.publish_segment(vec![delta("x")], 4));
        assert_eq!(poll(&tail, viewer, 3), (Poll::Ready(Polled::Events), vec![delta("x")]));
        assert_eq!(poll(&tail, earlier, 5), (Poll::Ready(Polled::Withdrawn(2)), vec![]));
        let again = vec![RunEvent::StepReset, delta("x")];
        assert_eq!(poll(&tail, earlier, 2), (Poll::Ready(Polled::Events), again));
        assert_eq!(tail.next_event(), Some(4));
    }

    /// Another instance claims the run between the read of the journal and the join. The client has a delta that is in no
    /// journal, so that the reset would count as the chunk that it has.
    #[test]
    fn a_viewer_of_an_epoch_that_was_over_when_it_joined_is_cut() {
        let tail = Tail::new(2, 1).copied();
        tail.take_over(2);
        let (late, new) = (tail.join(2), tail.join(2));
        tail.count_in(late, 1);
        tail.count_in(new, 2);
        assert!(tail.publish_segment(vec![RunEvent::StepReset], 3));
        assert_eq!(poll(&tail, late, 2), (Poll::Ready(Polled::End), vec![]));
        assert_eq!(poll(&tail, new, 2), (Poll::Ready(Polled::Events), vec![RunEvent::StepReset]));
    }

    #[test]
    fn a_copy_does_not_go_on_after_what_no_client_withdraws() {
        for shown in [RunEvent::StepStart, RunEvent::Metadata(serde_json::Map::new())] {
            let tail = Tail::new(2, 1).copied();
            tail.publish_piece(2, vec![shown, delta("a")]);
            tail.take_over(2);
            assert!(!tail.publish_segment(vec![RunEvent::StepReset], 3));
        }
        let tail = Tail::new(2, 1).copied();
        tail.publish_piece(2, vec![delta("a")]);
        tail.take_over(2);
        assert!(!tail.publish_segment(vec![RunEvent::StepStart], 3));
    }

    #[tokio::test]
    async fn events_that_become_durable_are_not_lost_for_a_reader_of_the_journal() {
        let tail = Tail::new(2, 1);
        tail.publish(&mut vec![RunEvent::StepReset, RunEvent::StepStart]);
        tail.begin();
        for (next, left) in [(2, 2), (3, 1), (4, 0), (9, 0)] {
            assert_eq!(tail.begun().await.after(next).len(), left, "{next}");
        }
        let shown = tail.begun().await;
        tail.mark_durable(4);
        assert_eq!(shown.after(2), [RunEvent::StepReset, RunEvent::StepStart]);
    }
}
