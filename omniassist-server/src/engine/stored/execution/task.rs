//! The task that drives a stored run.

use std::future::{Future, pending, poll_fn};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use omniassist_core::event::RunErrorCode;
use omniassist_core::journal::Record;
use omniassist_core::{RunEvent, Text};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};

use super::notices::Notices;
use super::obligations::obligations;
use super::recorder::Recorder;
use crate::engine::end::{End, STOPPED};
use crate::engine::run::Driver;
use crate::engine::settings::OnDisconnect;
use crate::engine::stored::chat::{stored_message, stored_usage};
use crate::engine::stores::Stores;
use crate::engine::stores::journal::Position;
use crate::engine::stores::tail::Tail;
use crate::engine::{Admission, Run};
use crate::store::{
    Appended, Change, Durability, Ending, ModelUsage, Notice, RunId, Scope, Segment, SegmentKind, Settled,
    StoreError, Which, Writer,
};
use crate::{CancellationToken, failpoint};

/// The time after which the viewers of a consequence are cut, because the store does not answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest delay between two tries of a write.
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// The time after which a run that is watched on another instance is looked at again, if its own viewers have left.
const WATCHED: Duration = Duration::from_secs(1);

/// The number of events that are taken before other work is looked at.
const AT_ONCE: usize = 64;

const LEFT: &str = "The client disconnected.";

/// Drives one leg of a stored run: it polls the run, writes its journal and shows its events.
///
/// Text is shown at once and written soon afterwards. A consequence is written first: then its events are shown, and the
/// run goes on. Dropping the task leaves the run to another instance, or to the next start of the process.
pub(super) struct Task {
    pub(in crate::engine::stored) stores: Arc<Stores>,
    pub(in crate::engine::stored) run: Run,
    pub(in crate::engine::stored) scope: Scope,
    pub(in crate::engine::stored) chat: Text,
    pub(in crate::engine::stored) writer: Writer,
    /// The end of the journal.
    pub(in crate::engine::stored) at: Position,
    pub(in crate::engine::stored) tail: Arc<Tail>,
    pub(in crate::engine::stored) recorder: Recorder,
    /// The message before the one that the run writes.
    pub(in crate::engine::stored) parent: Option<Text>,
    pub(super) on_disconnect: OnDisconnect,
    pub(in crate::engine::stored) over: CancellationToken,
    pub(super) is_admitted: bool,
    /// `true` if the tail has shown what a recovery withdraws.
    pub(super) is_begun: bool,
    /// `true` if the journal has a model call of the run.
    pub(in crate::engine::stored) is_counted: bool,
    pub(in crate::engine::stored) notices: Notices,
    /// Lets `on_finish` be called for the leg.
    pub(in crate::engine::stored) settled: Option<oneshot::Sender<()>>,
}

/// The reason for leaving a run without writing its end.
pub(in crate::engine::stored) enum Lost {
    /// Another writer has it.
    Elsewhere,
    Deleted,
}

/// A write of text that is under way.
pub(super) type Flight = Pin<Box<dyn Future<Output = Result<(Notice, Position), Lost>> + Send>>;

/// A look at the viewers on other instances that is under way.
type Leaving = Pin<Box<dyn Future<Output = bool> + Send>>;

enum Step {
    /// There is something to write.
    Dirty,
    /// More events are ready.
    More,
    /// Events or the run wait for a commit of these records.
    Commit(Vec<Record>, bool),
    Ended,
    /// The process lets go of the run.
    Released,
}

impl Task {
    pub(in crate::engine::stored) async fn drive(mut self) {
        match self.run_to_end().await {
            Ok(()) => {}
            Err(Lost::Elsewhere) if self.was_given_up().await => {
                self.run.end(End::Abort(Text::from_static(STOPPED)));
                while poll_fn(|cx| self.run.poll_event(cx)).await.is_some() {}
            }
            Err(Lost::Elsewhere) => {
                tracing::info!(run_id = %self.writer.run, "the run goes on elsewhere");
                return;
            }
            Err(Lost::Deleted) => {
                tracing::info!(run_id = %self.writer.run, "the run was deleted");
                self.run.discard();
            }
        }
        if let Some(settled) = self.settled.take() {
            // Without `on_finish`, the receiver is gone.
            let _ = settled.send(());
        }
    }

    async fn run_to_end(&mut self) -> Result<(), Lost> {
        failpoint::hit("task.start");
        let mut flight: Option<Flight> = None;
        let mut leaving: Option<Leaving> = None;
        let mut flush_at: Option<Instant> = None;
        let released = self.stores.released.clone();
        let (stores, tail, writer) = (Arc::clone(&self.stores), Arc::clone(&self.tail), self.writer);
        loop {
            if flight.is_none() && self.recorder.is_dirty() {
                flush_at.get_or_insert_with(|| {
                    let is_read = self.notices.is_watched && !self.stores.sends(self.writer.run);
                    self.stores.next_flush(is_read)
                });
            }
            let step = tokio::select! {
                biased;
                written = in_flight(&mut flight) => {
                    flight = None;
                    self.written(written?);
                    continue;
                }
                () = released.cancelled(), if !self.run.must_end() => Step::Released,
                () = until(flush_at) => {
                    flush_at = None;
                    let (segment, next) = self.recorder.segment(self.writer, self.at, SegmentKind::Text);
                    failpoint::hit("task.text.cut");
                    flight = Some(append(Arc::clone(&self.stores), segment, next, Durability::Soft));
                    continue;
                }
                step = poll_fn(|cx| self.poll_step(cx)) => step,
                () = tail.unwatched(), if self.on_disconnect != OnDisconnect::Continue => {
                    leaving = Some(self.watched_after(self.on_disconnect.delay()));
                    continue;
                }
                is_watched_elsewhere = in_flight(&mut leaving) => {
                    let is_left = !self.tail.is_watched();
                    leaving = (is_left && is_watched_elsewhere).then(|| self.watched_after(WATCHED));
                    if is_left && !is_watched_elsewhere {
                        self.run.end(End::Abort(Text::from_static(LEFT)));
                    }
                    continue;
                }
            };
            match step {
                Step::Dirty => {}
                Step::More => yield_now().await,
                // The first model call of a leg follows from what the store has.
                Step::Commit(records, true) if records.is_empty() && !self.recorder.holds_events() => {
                    self.run.open_gate();
                }
                Step::Commit(records, opens) => {
                    flush_at = None;
                    let writes = async {
                        self.finish_write(&mut flight).await?;
                        self.recorder.take_records(&records);
                        self.commit(opens).await
                    };
                    complete(writes, &stores, writer, &tail).await?;
                }
                Step::Ended => {
                    let writes = async {
                        self.finish_write(&mut flight).await?;
                        self.settle().await
                    };
                    return complete(writes, &stores, writer, &tail).await;
                }
                Step::Released => {
                    self.finish_write(&mut flight).await?;
                    // That write may have brought a stop.
                    if !self.run.must_end() {
                        return self.release().await;
                    }
                }
            }
        }
    }

    /// Waits for so long, and then returns `true` if another instance may have a viewer. A silent run does not learn it from
    /// its writes.
    fn watched_after(&self, delay: Duration) -> Leaving {
        let (stores, scope, run) = (Arc::clone(&self.stores), self.scope.clone(), self.writer.run);
        Box::pin(async move {
            sleep(delay).await;
            match stores.runs.find(&scope, Which::Run(run)).await {
                Ok(head) => head.is_some_and(|head| head.notice.watched),
                Err(_) => true,
            }
        })
    }

    /// Takes the events that are ready.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let Self { run, recorder, .. } = self;
        let was_dirty = recorder.is_dirty();
        let mut taken = 0;
        let polled = run.poll_events(cx, &mut |event| {
            let is_consequence = Driver::is_consequence(&event);
            recorder.take(event, is_consequence);
            taken += 1;
            if taken < AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        self.tail.publish(&mut self.recorder.shown);
        failpoint::hit("task.polled");
        if !self.is_begun && self.run.is_prepared() {
            self.is_begun = true;
            self.tail.begin();
        }
        if !self.is_admitted {
            match self.run.admission() {
                Admission::Undecided => {}
                admission => {
                    self.is_admitted = true;
                    self.tail.admit(admission);
                }
            }
        }
        // The last event that is taken at once may be the terminal one.
        if polled.is_ready() || self.recorder.terminal().is_some() {
            if let Some((records, _)) = self.run.take_records() {
                self.recorder.take_records(&records);
            }
            return Poll::Ready(Step::Ended);
        }
        match self.run.take_records() {
            Some((records, true)) => return Poll::Ready(Step::Commit(records, true)),
            Some((records, false)) => self.recorder.take_records(&records),
            None => {}
        }
        if self.recorder.holds_events() {
            return Poll::Ready(Step::Commit(Vec::new(), false));
        }
        if taken == AT_ONCE {
            return Poll::Ready(Step::More);
        }
        if !was_dirty && self.recorder.is_dirty() {
            return Poll::Ready(Step::Dirty);
        }
        Poll::Pending
    }

    /// Waits for the write of text that is under way.
    async fn finish_write(&mut self, flight: &mut Option<Flight>) -> Result<(), Lost> {
        if flight.is_some() {
            let written = in_flight(flight).await?;
            *flight = None;
            self.written(written);
        }
        Ok(())
    }

    fn written(&mut self, (notice, at): (Notice, Position)) {
        failpoint::hit("task.written");
        self.at = at;
        self.tail.mark_durable(at.events);
        if self.notices.take(&self.stores, self.writer, &self.tail, notice) {
            self.run.end(End::Abort(Text::from_static(STOPPED)));
        }
    }

    /// Writes a consequence, then shows it, and lets the run go on if it waits.
    async fn commit(&mut self, opens: bool) -> Result<(), Lost> {
        if self.recorder.is_dirty() {
            let (mut segment, next) = self.recorder.segment(self.writer, self.at, SegmentKind::Consequence);
            segment.used = self.used();
            failpoint::hit("task.commit.cut");
            let written = append(Arc::clone(&self.stores), segment, next, Durability::Hard).await?;
            self.tail.mend();
            self.written(written);
        }
        failpoint::hit("task.commit.written");
        self.recorder.release();
        self.tail.publish(&mut self.recorder.shown);
        failpoint::hit("task.commit.shown");
        if opens {
            self.run.open_gate();
            failpoint::hit("task.gate.opened");
        }
        Ok(())
    }

    /// Returns the model calls that the next segment completes. The first one of a run counts the run.
    fn used(&mut self) -> Vec<ModelUsage> {
        let mut used = self.run.take_used();
        if let Some(first) = used.first_mut() {
            first.runs = u64::from(!std::mem::replace(&mut self.is_counted, true));
        }
        used
    }

    /// Writes what is left, and leaves the run to another process. Its viewers are cut, so that they come back.
    async fn release(&mut self) -> Result<(), Lost> {
        let kind = if self.recorder.holds_events() { SegmentKind::Consequence } else { SegmentKind::Text };
        let (mut last, next) = self.recorder.segment(self.writer, self.at, kind);
        last.used = self.used();
        let end = Settled::new(last, Ending::Released);
        match settle(&self.stores, &self.scope, &self.chat, end).await {
            // Another process stops the run now, or goes on with it first.
            Appended::Taken(notice) if notice.stop => {
                self.at = next;
                Err(Lost::Elsewhere)
            }
            Appended::Taken(_) => {
                self.run.release();
                Ok(())
            }
            Appended::Fenced => Err(Lost::Elsewhere),
            Appended::Gone => Err(Lost::Deleted),
        }
    }

    /// Writes the end of the leg with the message, then shows it.
    async fn settle(&mut self) -> Result<(), Lost> {
        if self.recorder.terminal().is_none() {
            let code = RunErrorCode::Internal;
            let message = Text::from_static(code.safe_message());
            self.recorder.take(RunEvent::Error { code, message }, true);
        }
        failpoint::hit("task.settle.start");
        let message = self.recorder.message();
        let obligations = obligations(&message);
        let ending = match self.recorder.terminal() {
            Some(RunEvent::Finish { .. }) if obligations.is_empty() => Ending::Finished,
            Some(RunEvent::Finish { .. }) => Ending::Waiting(obligations),
            Some(RunEvent::Abort { .. }) => Ending::Stopped,
            _ => Ending::Failed,
        };
        let kind = match ending {
            Ending::Waiting(_) => SegmentKind::Consequence,
            _ => SegmentKind::End,
        };
        let (mut last, _) = self.recorder.segment(self.writer, self.at, kind);
        last.used = self.used();
        let mut end = Settled::new(last, ending);
        let mut usage = self.recorder.usage();
        if !matches!(self.recorder.terminal(), Some(RunEvent::Finish { .. })) {
            usage.add(&self.run.usage_beside_turns());
        }
        end.usage = stored_usage(&usage);
        if !message.parts.is_empty() {
            match stored_message(&message, self.parent.clone()) {
                Ok(message) => end.change = Some(Change::messages([message])),
                Err(error) => tracing::error!(%error, "a message is not stored"),
            }
        }
        failpoint::hit("task.settle.cut");
        match settle(&self.stores, &self.scope, &self.chat, end).await {
            Appended::Taken(_) => {
                failpoint::hit("task.settle.written");
                self.recorder.release();
                self.tail.publish(&mut self.recorder.shown);
                failpoint::hit("task.settle.shown");
                self.tail.complete();
                Ok(())
            }
            Appended::Fenced => Err(Lost::Elsewhere),
            Appended::Gone => Err(Lost::Deleted),
        }
    }
}

/// A run that is not driven to its end is left to another process, and its viewers come back for the rest.
impl Drop for Task {
    fn drop(&mut self) {
        self.run.release();
        self.stores.drop_leg(self.writer.run, &self.tail);
        self.over.cancel();
    }
}

/// Completes at a time, or never if there is none.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

/// Completes with a flight, or never if there is none.
async fn in_flight<T>(flight: &mut Option<Pin<Box<dyn Future<Output = T> + Send>>>) -> T {
    match flight {
        Some(flight) => flight.await,
        None => pending().await,
    }
}

/// Completes the writes for which viewers wait. The viewers are cut if the store does not answer. They come back for what the
/// journal gets: another instance may reach the store, and go on with the run.
async fn complete(
    writes: impl Future<Output = Result<(), Lost>>,
    stores: &Stores,
    writer: Writer,
    tail: &Arc<Tail>,
) -> Result<(), Lost> {
    tokio::pin!(writes);
    if let Ok(written) = timeout(STORE_TIMEOUT, &mut writes).await {
        return written;
    }
    stores.send_if_watched(writer, tail, Notice::default());
    tail.break_off();
    writes.await
}

/// Appends a segment. A store that fails is tried again.
pub(in crate::engine::stored) fn append(
    stores: Arc<Stores>,
    segment: Segment,
    next: Position,
    how: Durability,
) -> Flight {
    Box::pin(async move {
        let mut delays = Delays::default();
        loop {
            match stores.flusher().append(segment.clone(), how).await {
                Ok(Ok(Appended::Taken(notice))) => return Ok((notice, next)),
                Ok(Ok(Appended::Fenced)) | Err(_) => return Err(Lost::Elsewhere),
                Ok(Ok(Appended::Gone)) => return Err(Lost::Deleted),
                Ok(Err(error)) => delays.next(segment.writer.run, &error).await,
            }
        }
    })
}

/// Settles a run. A store that fails is tried again.
pub(in crate::engine::stored) async fn settle(
    stores: &Stores,
    scope: &Scope,
    chat: &str,
    mut end: Settled,
) -> Appended {
    let mut delays = Delays::default();
    let run = end.last.writer.run;
    if !stores.is_one
        && let Some(change) = end.change.take()
    {
        // The conversation is in another store. Its save can be repeated.
        while let Err(error) = stores.save_end(run, scope, chat, &change).await {
            delays.next(run, &error).await;
        }
    }
    loop {
        match stores.runs.settle(&end).await {
            Ok(appended) => {
                stores.hint_settled(&end, &appended);
                return appended;
            }
            Err(error) => delays.next(run, &error).await,
        }
    }
}

/// Delays between the tries of a write.
struct Delays(Duration);

impl Default for Delays {
    fn default() -> Self {
        Self(Duration::from_millis(50))
    }
}

impl Delays {
    /// Logs a failed try, and returns the delay before the next one.
    fn next(&mut self, run: RunId, error: &StoreError) -> Sleep {
        let error = crate::one_line::chain(error);
        tracing::warn!(run_id = %run, %error, "a run cannot be stored; the write is tried again");
        let delay = self.0;
        self.0 = (delay * 2).min(LONGEST_DELAY);
        sleep(delay)
    }
}
