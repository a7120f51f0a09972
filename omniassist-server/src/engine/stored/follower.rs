//! Runs that other instances drive and that have viewers here. One task reads all their journals.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use omniassist_core::RunEvent;
use omniassist_core::journal as format;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use super::journal::{self, PIECE, Position};
use super::shown_leg::ShownLeg;
use super::stores::Stores;
use crate::one_line;
use crate::store::{RunHead, RunId, RunState, Scope, Signal, SignalKind, StoreError, Tail, TailOf};
use crate::sync::lock;

/// The time between two reads of the journals: without hints, and where a hint tells of most changes.
const LOOK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The time after which a run without a viewer is no longer followed.
const KEEP: Duration = Duration::from_secs(5);

/// The time for which the instance of a run learns that it has a viewer here, and the time after which it learns it again.
const WATCH: (Duration, Duration) = (Duration::from_secs(9), Duration::from_secs(3));

/// The runs of other instances that have viewers here.
#[derive(Default)]
pub(super) struct Followed {
    state: Mutex<State>,
    /// Notified when a journal has grown.
    grown: Arc<Notify>,
}

#[derive(Default)]
struct State {
    runs: HashMap<RunId, Entry>,
    /// `true` while the task runs.
    is_read: bool,
}

struct Entry {
    scope: Scope,
    leg: ShownLeg,
    /// The end of the journal, as far as the tail has it.
    at: Position,
    watched_until: Instant,
    /// The time at which the instance of the run learns that it has a viewer here.
    announce_at: Instant,
}

/// The next read.
struct Round {
    questions: Vec<TailOf>,
    /// The runs whose instances learn that they have viewers here.
    announced: Vec<(Scope, RunId)>,
}

impl Followed {
    /// Returns the leg of a run, if it is followed in this epoch.
    pub(super) fn leg(&self, head: &RunHead) -> Option<ShownLeg> {
        let mut state = lock(&self.state);
        let entry = state.runs.get_mut(&head.run)?;
        entry.watched_until = Instant::now() + KEEP;
        (entry.scope == head.scope && entry.leg.tail.epoch() == head.epoch).then(|| entry.leg.clone())
    }

    /// Reads the journals now, if this run is followed. `None` stands for any run.
    pub(super) fn read_now(&self, run: Option<RunId>) {
        if run.is_none_or(|run| lock(&self.state).runs.contains_key(&run)) {
            self.grown.notify_one();
        }
    }

    /// Returns the next read, or `None` if nothing is followed, which ends the task.
    fn next(&self) -> Option<Round> {
        let now = Instant::now();
        let mut state = lock(&self.state);
        state.runs.retain(|_, entry| {
            if entry.leg.tail.is_watched() {
                entry.watched_until = now + KEEP;
            }
            let is_kept = now < entry.watched_until;
            if !is_kept {
                entry.leg.tail.break_off();
            }
            is_kept
        });
        state.is_read = !state.runs.is_empty();
        let mut round = Round { questions: Vec::with_capacity(state.runs.len()), announced: Vec::new() };
        for (run, entry) in &mut state.runs {
            round.questions.push(TailOf::new(entry.scope.clone(), *run, entry.at.segments));
            if entry.announce_at <= now {
                entry.announce_at = now + WATCH.1;
                round.announced.push((entry.scope.clone(), *run));
            }
        }
        state.is_read.then_some(round)
    }

    /// Shows what was read of a run. Returns `true` if there is more.
    fn show(&self, run: RunId, tail: Option<Tail>) -> bool {
        let mut state = lock(&self.state);
        let Some(entry) = state.runs.get_mut(&run) else { return false };
        match entry.show(tail) {
            Ok(Shown::All) => false,
            Ok(Shown::Part) => true,
            Ok(Shown::End) => {
                state.runs.remove(&run);
                false
            }
            Err(error) => {
                let error = one_line::chain(&error);
                tracing::error!(run_id = %run, %error, "a journal cannot be read; its viewers are cut");
                entry.leg.tail.break_off();
                state.runs.remove(&run);
                false
            }
        }
    }
}

enum Shown {
    All,
    /// The store has more segments.
    Part,
    /// The leg does not go on in this epoch.
    End,
}

impl Entry {
    fn show(&mut self, tail: Option<Tail>) -> Result<Shown, StoreError> {
        let shown = &self.leg.tail;
        let Some(tail) = tail else {
            shown.break_off();
            return Ok(Shown::End);
        };
        let mut events = Vec::new();
        for segment in &tail.segments {
            events.extend(format::exact(&journal::records_of(segment)?));
            self.at = Position::after(segment);
            if segment.writer.epoch > shown.epoch() {
                shown.take_over(segment.writer.epoch);
            }
        }
        let has_ended = events.last().is_some_and(RunEvent::is_terminal);
        shown.publish(&mut events);
        shown.is_durable(self.at.events);
        if has_ended {
            shown.complete();
            return Ok(Shown::End);
        }
        if self.at.segments < tail.head {
            return Ok(Shown::Part);
        }
        if tail.state != RunState::Running {
            shown.break_off();
            return Ok(Shown::End);
        }
        Ok(Shown::All)
    }
}

impl Stores {
    /// Follows a leg whose journal was read up to a position. Returns the leg that is followed: another task may have begun
    /// to follow the run first.
    pub(super) fn follow(self: &Arc<Self>, head: &RunHead, leg: ShownLeg, at: Position) -> ShownLeg {
        let now = Instant::now();
        let mut state = lock(&self.followed.state);
        if !std::mem::replace(&mut state.is_read, true) {
            tokio::spawn(read(Arc::downgrade(self)));
        }
        let new = Entry { scope: head.scope.clone(), leg, at, watched_until: now + KEEP, announce_at: now };
        let entry = match state.runs.remove(&head.run) {
            Some(entry) if entry.leg.tail.epoch() >= new.leg.tail.epoch() => entry,
            earlier => {
                if let Some(earlier) = earlier {
                    earlier.leg.tail.break_off();
                }
                new
            }
        };
        state.runs.entry(head.run).insert_entry(entry).get().leg.clone()
    }
}

/// Reads the journals of the followed runs until there are none.
async fn read(stores: Weak<Stores>) {
    loop {
        let Some(stores) = stores.upgrade() else { return };
        let Some(Round { questions, announced }) = stores.followed.next() else { return };
        for (scope, run) in announced {
            let watch = Signal::new(SignalKind::Watch(WATCH.0), scope.owner());
            if let Err(error) = stores.runs.signal(&scope, run, &watch).await {
                tracing::warn!(run_id = %run, error = %one_line::chain(&error), "a viewer was not announced");
            }
        }
        let has_more = match stores.runs.read(&questions, PIECE).await {
            Ok(tails) => {
                let read = questions.iter().zip(tails);
                read.fold(false, |more, (question, tail)| stores.followed.show(question.run, tail) | more)
            }
            Err(error) => {
                tracing::warn!(error = %one_line::chain(&error), "the runs of other instances were not read");
                false
            }
        };
        if has_more {
            continue;
        }
        let look = if stores.wake.is_some() { LOOK.1 } else { LOOK.0 };
        let grown = Arc::clone(&stores.followed.grown);
        drop(stores);
        tokio::select! {
            () = grown.notified() => {}
            () = sleep(look) => {}
        }
    }
}
