//! A viewer of a stored run.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use omniassist_core::RunEvent;

use crate::engine::Admission;
use crate::engine::run::{EventSink, poll_one};
use crate::engine::stores::Stores;
use crate::engine::stores::journal::{self, Position};
use crate::engine::stores::tail::{Polled, Tail};
use crate::one_line;
use crate::store::{RunId, Scope, StoreError};

/// The begin of a run that is queued, as a viewer of it. `None`: the viewer is cut.
type Begins = Pin<Box<dyn Future<Output = Option<View>> + Send>>;

type Reading = Pin<Box<dyn Future<Output = Result<(Vec<RunEvent>, Position), StoreError>> + Send>>;

/// The events of a stored run for one client: those of the journal, then those that follow.
///
/// Dropping it does not stop the run, unless the assistant's [`OnDisconnect`](crate::OnDisconnect) says so.
pub(crate) struct View {
    stores: Arc<Stores>,
    scope: Scope,
    run: RunId,
    queue: VecDeque<RunEvent>,
    /// The position of the journal up to which the events were read or are in the queue.
    read: Position,
    /// The number of the event after those of the queue.
    next: u64,
    epoch: Option<u32>,
    /// The number of events before the next step, if that replaces one of which the client has text.
    resets_after: Option<usize>,
    /// `true` if the viewer sees the events of later epochs too.
    is_across: bool,
    live: Option<(Arc<Tail>, u64)>,
    /// Events that a slow viewer reads from the journal. The lock makes the view `Sync`; it is never held.
    reading: Mutex<Option<Reading>>,
    /// Set while the run is queued.
    begins: Mutex<Option<Begins>>,
}

impl View {
    /// Creates a viewer of the events after `read`. It first gets those in `queue`, which come before.
    pub(in crate::engine::stored) fn new(
        stores: &Arc<Stores>,
        scope: Scope,
        run: RunId,
        queue: VecDeque<RunEvent>,
        read: Position,
        tail: Option<Arc<Tail>>,
    ) -> Self {
        let next = read.events;
        let epoch = tail.as_ref().map(|tail| tail.epoch());
        let live = tail.map(|tail| {
            let viewer = tail.join(next);
            (tail, viewer)
        });
        let (stores, reading, begins) = (Arc::clone(stores), Mutex::new(None), Mutex::new(None));
        let (resets_after, is_across) = (None, false);
        Self { stores, scope, run, queue, read, next, epoch, resets_after, is_across, live, reading, begins }
    }

    /// Creates a viewer of a run that is queued. It becomes the one that `begins` returns.
    pub(in crate::engine::stored) fn queued(
        stores: &Arc<Stores>,
        scope: Scope,
        run: RunId,
        begins: Begins,
    ) -> Self {
        let mut view = Self::new(stores, scope, run, VecDeque::new(), Position::default(), None).of_epoch(1);
        view.begins = Mutex::new(Some(begins));
        view
    }

    /// Returns the id of the run.
    pub(crate) fn run_id(&self) -> RunId {
        self.run
    }

    /// Sets the epoch in which the events are counted. Default: that of the run, if it goes on.
    pub(in crate::engine::stored) fn of_epoch(mut self, epoch: u32) -> Self {
        if let Some((tail, viewer)) = &self.live {
            tail.count_in(*viewer, epoch);
        }
        self.epoch = Some(epoch);
        self
    }

    /// Resets the step that the client has when the next one after the events of the queue begins, or the run ends. Default:
    /// `false`.
    pub(super) fn resets_step(mut self, resets_step: bool) -> Self {
        self.resets_after = resets_step.then_some(self.queue.len());
        self
    }

    /// Shows the events of later epochs too, if another instance goes on with the run. Default: the viewer is cut.
    ///
    /// The client must be able to withdraw the text of a step.
    #[must_use]
    pub(crate) fn across_epochs(mut self) -> Self {
        self.is_across = true;
        if let Some((tail, viewer)) = &self.live {
            tail.keep(*viewer);
        }
        self
    }

    /// Sets the number of events in the queue that come after those of the journal. Default: 0.
    pub(in crate::engine::stored) fn ahead(mut self, events: usize) -> Self {
        self.next += events as u64;
        self
    }

    /// Returns the epoch in which the events are counted.
    pub(crate) fn epoch(&self) -> Option<u32> {
        self.epoch
    }

    /// Drops the viewer of a run that goes on without one, regardless of [`OnDisconnect`](crate::OnDisconnect).
    pub(crate) fn detach(mut self) {
        if let Some((tail, viewer)) = self.live.take() {
            tail.detach(viewer);
        }
        if self.begins.get_mut().is_ok_and(|begins| begins.is_some()) {
            self.stores.queue.detach(self.run);
        }
    }

    /// Returns the host's decision about the beginning of the run, if it was made.
    pub(crate) fn admission(&self) -> Admission {
        match &self.live {
            Some((tail, _)) if self.queue.is_empty() => tail.admission(),
            _ => Admission::Granted,
        }
    }

    /// Polls for the next event. Returns `None` after the last one. A view that ends without a terminal event is cut: the
    /// run may go on.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        poll_one(|sink| self.poll_events(cx, sink))
    }

    /// Passes the events that are ready to `sink`, until it breaks. Returns `Pending` if there are or will be more events.
    pub(crate) fn poll_events(&mut self, cx: &mut Context<'_>, sink: EventSink<'_>) -> Poll<()> {
        loop {
            while let Some(mut event) = self.queue.pop_front() {
                let is_start = matches!(event, RunEvent::StepStart | RunEvent::StepReset);
                match &mut self.resets_after {
                    Some(0) if is_start || event.is_terminal() => {
                        self.resets_after = None;
                        let reset = mem::replace(&mut event, RunEvent::StepReset);
                        if reset.is_terminal() {
                            self.queue.push_front(reset);
                        }
                    }
                    Some(before) => *before = before.saturating_sub(1),
                    None => {}
                }
                if sink(event).is_break() {
                    return Poll::Pending;
                }
            }
            if !ready!(self.poll_queue(cx)) {
                return Poll::Ready(());
            }
        }
    }

    /// Fills the queue. Returns `false` at the end.
    fn poll_queue(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let begins = self.begins.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(future) = begins {
            let view = ready!(future.as_mut().poll(cx));
            *begins = None;
            return Poll::Ready(match view {
                Some(view) => {
                    *self = view;
                    true
                }
                None => false,
            });
        }
        let reading = self.reading.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(future) = reading {
            let read = ready!(future.as_mut().poll(cx));
            *reading = None;
            return Poll::Ready(match read {
                Ok((events, position)) => {
                    // The journal may have grown beyond what is asked for.
                    let known =
                        usize::try_from(self.next.saturating_sub(self.read.events)).unwrap_or(usize::MAX);
                    let is_new = position.events > self.next;
                    self.queue.extend(events.into_iter().skip(known));
                    self.next = self.next.max(position.events);
                    self.read = position;
                    is_new
                }
                Err(error) if error.is_gone() => false,
                Err(error) => {
                    let error = one_line::chain(&error);
                    tracing::error!(run_id = %self.run, %error, "a journal cannot be read; its viewer is cut");
                    false
                }
            });
        }
        let Some((tail, viewer)) = &self.live else { return Poll::Ready(false) };
        let before = self.queue.len();
        match ready!(tail.poll(*viewer, self.next, &mut self.queue, cx)) {
            Polled::Events => {
                self.next += (self.queue.len() - before) as u64;
                Poll::Ready(true)
            }
            Polled::Withdrawn(next) => {
                self.next = next;
                Poll::Ready(true)
            }
            Polled::End => Poll::Ready(false),
            Polled::Behind => {
                let (stores, scope, run, read) =
                    (Arc::clone(&self.stores), self.scope.clone(), self.run, self.read);
                // The tail may not know yet that another instance has written to the journal.
                let last = self.epoch.filter(|_| !self.is_across);
                let events = async move { journal::after(&*stores.runs, &scope, run, read, last).await };
                *reading = Some(Box::pin(events));
                Poll::Ready(true)
            }
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some((tail, viewer)) = &self.live {
            tail.leave(*viewer);
        }
    }
}
