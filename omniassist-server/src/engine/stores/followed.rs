//! The runs that other instances drive and that have viewers here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::RunEvent;
use omniassist_core::journal as format;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::journal::{self, Position};
use super::pieces::{self, Pieces};
use super::shown_leg::ShownLeg;
use crate::one_line;
use crate::store::{RunHead, RunId, RunState, Scope, StoreError, Tail, TailOf, TailPiece};
use crate::sync::lock;

/// The time after which a run without a viewer is no longer followed.
const KEEP: Duration = Duration::from_secs(5);

/// The time after which the instance of a run learns again that it has a viewer here.
const ANNOUNCE: Duration = Duration::from_secs(3);

/// The runs of other instances that have viewers here.
#[derive(Default)]
pub(in crate::engine) struct Followed {
    state: Mutex<State>,
    /// Notified when a journal has grown.
    pub(in crate::engine) grown: Arc<Notify>,
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
    /// Pieces that the tail does not have yet.
    pieces: Pieces,
    watched_until: Instant,
    /// The time at which the instance of the run learns that it has a viewer here.
    announce_at: Instant,
}

/// The next read.
pub(in crate::engine) struct Round {
    pub(in crate::engine) questions: Vec<TailOf>,
    /// The runs whose instances learn that they have viewers here.
    pub(in crate::engine) announced: Vec<(Scope, RunId)>,
}

impl Followed {
    /// Returns the leg of a run, if it is followed in this epoch.
    pub(in crate::engine) fn leg(&self, head: &RunHead) -> Option<ShownLeg> {
        let mut state = lock(&self.state);
        let entry = state.runs.get_mut(&head.run)?;
        entry.watched_until = Instant::now() + KEEP;
        (entry.scope == head.scope && entry.leg.tail.epoch() == head.epoch).then(|| entry.leg.clone())
    }

    /// Follows a leg whose journal was read up to a position. Returns the leg that is followed, since another task may have
    /// begun to follow the run first, and `true` if a task has to read the journals.
    pub(in crate::engine) fn insert(&self, head: &RunHead, leg: ShownLeg, at: Position) -> (ShownLeg, bool) {
        let now = Instant::now();
        let new = Entry {
            scope: head.scope.clone(),
            leg,
            at,
            pieces: Pieces::default(),
            watched_until: now + KEEP,
            announce_at: now,
        };
        let mut state = lock(&self.state);
        let entry = match state.runs.remove(&head.run) {
            Some(entry) if entry.leg.tail.epoch() >= new.leg.tail.epoch() => entry,
            earlier => {
                if let Some(earlier) = earlier {
                    earlier.leg.tail.break_off();
                }
                new
            }
        };
        let leg = entry.leg.clone();
        state.runs.insert(head.run, entry);
        (leg, !std::mem::replace(&mut state.is_read, true))
    }

    /// Reads the journals now, if this run is followed. `None` stands for any run.
    pub(in crate::engine) fn read_now(&self, run: Option<RunId>) {
        if run.is_none_or(|run| lock(&self.state).runs.contains_key(&run)) {
            self.grown.notify_one();
        }
    }

    /// Shows pieces of the followed runs. If those before are missing, the journals are read now.
    pub(in crate::engine) fn take(&self, pieces: Vec<TailPiece>) {
        let mut is_missing = false;
        {
            let mut state = lock(&self.state);
            for piece in pieces {
                if let Some(entry) = state.runs.get_mut(&piece.run) {
                    entry.pieces.insert(piece);
                    entry.show_pieces();
                    is_missing |= !entry.pieces.is_empty();
                }
            }
        }
        if is_missing {
            self.grown.notify_one();
        }
    }

    /// Returns the next read, or `None` if nothing is followed, which ends the task. With `ends`, the viewers are disconnected.
    pub(in crate::engine) fn next(&self, ends: bool) -> Option<Round> {
        let now = Instant::now();
        let mut state = lock(&self.state);
        state.runs.retain(|_, entry| {
            if entry.leg.tail.is_watched() {
                entry.watched_until = now + KEEP;
            }
            let is_kept = !ends && now < entry.watched_until;
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
                entry.announce_at = now + ANNOUNCE;
                round.announced.push((entry.scope.clone(), *run));
            }
        }
        state.is_read.then_some(round)
    }

    /// Shows what was read of a run. Returns `true` if there is more.
    pub(in crate::engine) fn show(&self, run: RunId, tail: Option<Tail>) -> bool {
        let mut state = lock(&self.state);
        let Some(entry) = state.runs.get_mut(&run) else { return false };
        match entry.show(tail) {
            Ok(ReadProgress::All) => false,
            Ok(ReadProgress::Part) => true,
            Ok(ReadProgress::End) => {
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

enum ReadProgress {
    All,
    /// The store has more segments.
    Part,
    /// The leg does not go on in this epoch.
    End,
}

impl Entry {
    fn show(&mut self, tail: Option<Tail>) -> Result<ReadProgress, StoreError> {
        let shown = &self.leg.tail;
        let Some(tail) = tail else {
            shown.break_off();
            return Ok(ReadProgress::End);
        };
        let mut has_ended = false;
        for segment in &tail.segments {
            let events = format::exact(&journal::records_of(segment)?);
            // A viewer may have joined between the claim and what the new instance withdraws.
            if segment.writer.epoch > shown.epoch() || events.contains(&RunEvent::StepReset) {
                shown.take_over(segment.writer.epoch);
            }
            has_ended = events.last().is_some_and(RunEvent::is_terminal);
            self.at = Position::after(segment);
            if !shown.publish_segment(events, self.at.events) {
                shown.break_off();
                return Ok(ReadProgress::End);
            }
        }
        if has_ended {
            shown.complete();
            return Ok(ReadProgress::End);
        }
        if self.at.segments < tail.head {
            return Ok(ReadProgress::Part);
        }
        if tail.state != RunState::Running {
            shown.break_off();
            return Ok(ReadProgress::End);
        }
        self.show_pieces();
        Ok(ReadProgress::All)
    }

    /// Shows the pieces that follow what the tail has.
    fn show_pieces(&mut self) {
        let tail = &self.leg.tail;
        while let Some(next) = tail.next_event()
            && let Some(piece) = self.pieces.next(tail.epoch(), next)
        {
            match pieces::events_of(&piece) {
                Some(events) => tail.publish_piece(piece.from.into(), events),
                None => tracing::warn!(run_id = %piece.run, "a piece of a run's text cannot be read"),
            }
        }
    }
}
