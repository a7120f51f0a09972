//! A tree of agents as a stored run: its journal, its tail and its end.
//!
//! The tree ends with its connection, so no server goes on with it. It writes text only: nothing waits for a commit.

use std::mem;
use std::sync::Arc;

use omniassist_core::event::{FinishReason, RunErrorCode, Usage};
use omniassist_core::journal::{Content, Record};
use omniassist_core::message::{Message, Role};
use omniassist_core::{Error, RunEvent, Text};
use tokio::time::{Instant, timeout};

use super::chat::message_id;
use super::execution::{Lost, Notices, Recorder, append, settle};
use super::instance::LEASE;
use super::posts::{OF_TREE, busy};
use crate::CancellationToken;
use crate::engine::end::STOPPED;
use crate::engine::stores::answers::Answer;
use crate::engine::stores::journal::{self, Position};
use crate::engine::stores::refused;
use crate::engine::stores::shown_leg::ShownLeg;
use crate::engine::stores::tail::Tail;
use crate::engine::stores::{Control, LiveLeg, Stores};
use crate::engine::{Admission, Assistant, WhenBusy};
use crate::store::{
    Appended, Begun, Durability, Ending, Hint, ModelUsage, NewRun, RunHead, RunId, RunState, Scope, Segment,
    SegmentKind, Settled, Signal, SignalKind, Signalled, Writer,
};

/// The journal of a tree that is at work. If it is dropped before its end, the next beat, of this instance or of another one,
/// gives the run up.
pub(in crate::engine) struct TreeRun {
    stores: Arc<Stores>,
    scope: Scope,
    chat: Text,
    writer: Writer,
    at: Position,
    recorder: Recorder,
    /// The model calls that the next segment completes.
    used: Vec<ModelUsage>,
    /// `true` if the run is counted, with its first model call.
    is_counted: bool,
    tail: Arc<Tail>,
    control: Arc<dyn Control>,
    over: CancellationToken,
    notices: Notices,
}

/// The end of a tree.
pub(in crate::engine) enum TreeEnd {
    Finished,
    Failed(RunErrorCode),
    Stopped,
    Interrupted,
}

impl Assistant {
    /// Begins the run of a tree, in place of the run in progress of its chat. A tree that was `closed` before it began takes no
    /// other's place.
    ///
    /// # Errors
    ///
    /// Returns an error if the chat is busy and its runs are not superseded, it was deleted, the store is not available, or the
    /// tree is closed.
    pub(in crate::engine) async fn begin_tree(
        &self,
        scope: Scope,
        chat: Text,
        when_busy: WhenBusy,
        control: Arc<dyn Control>,
        closed: &CancellationToken,
    ) -> Result<TreeRun, Error> {
        let stores = self.stores().ok_or_else(Error::internal)?;
        self.begin_lease(stores).await?;
        let mut new = NewRun::new(RunId::random(), scope, chat, stores.instance);
        new.input = OF_TREE.into();
        let writer = loop {
            if closed.is_cancelled() {
                return Err(Error::chat_busy());
            }
            match stores.begin(&new).await? {
                Begun::Started(writer) => break writer,
                // The run may be the next tree of the same client.
                Begun::Busy(_) if closed.is_cancelled() => {}
                Begun::Busy(head) if gives_way(&head, when_busy) => self.supersede(stores, &head).await?,
                Begun::Busy(head) => return Err(busy(&head)),
                Begun::Refused(refusal) => return Err(refused::by_conversation(&refusal)),
                Begun::Repeats(_) | Begun::Queued(_) => return Err(Error::chat_busy()),
            }
        };
        let NewRun { scope, chat, .. } = new;
        Ok(TreeRun::new(stores, scope, chat, writer, control))
    }

    /// Gives an open question of a tree its answer, at whichever instance. Returns `false` if it has one, or if the tree has
    /// ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(in crate::engine) async fn answer_tree(
        &self,
        head: &RunHead,
        query_id: &Text,
        answer: Answer,
    ) -> Result<bool, Error> {
        let Some(stores) = self.stores() else { return Ok(false) };
        if let Some(leg) = stores.live_in(head) {
            return Ok(leg.control.answer(query_id, answer));
        }
        let mut signal = Signal::new(SignalKind::Say(query_id.clone()), head.scope.owner());
        signal.data = serde_json::to_vec(&answer).map_err(|_| Error::internal())?.into();
        let signalled = stores.runs.signal(&head.scope, head.run, &signal).await;
        let is_taken = signalled.map_err(|error| refused::by_store(&error))? == Signalled::Taken;
        stores.hint(Hint::Signalled(head.run));
        Ok(is_taken)
    }

    /// Returns the records with the states of a tree's agents: the latest one of each, in the order of the first ones. A run
    /// that is no tree has none.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(in crate::engine) async fn tree_records(&self, head: &RunHead) -> Result<Vec<Content>, Error> {
        let Some(stores) = self.stores() else { return Ok(Vec::new()) };
        let mut latest: Vec<Record> = Vec::new();
        let (runs, start) = (&*stores.runs, Position::default());
        let read = journal::for_each_segment(runs, &head.scope, head.run, start, |_, records, _| {
            for record in records.into_iter().filter(|record| record.head.agent().is_some()) {
                match latest.iter_mut().find(|known| known.head == record.head) {
                    Some(known) => *known = record,
                    None => latest.push(record),
                }
            }
        });
        read.await.map_err(|error| refused::by_store(&error))?;
        Ok(latest.into_iter().map(|record| record.content).collect())
    }
}

fn gives_way(head: &RunHead, when_busy: WhenBusy) -> bool {
    match when_busy {
        WhenBusy::Supersede | WhenBusy::Discard => true,
        WhenBusy::Reject => head.state == RunState::Waiting,
        WhenBusy::Enqueue => false,
    }
}

impl TreeRun {
    fn new(
        stores: &Arc<Stores>,
        scope: Scope,
        chat: Text,
        writer: Writer,
        control: Arc<dyn Control>,
    ) -> Self {
        let (id, role) = (message_id(writer.run), Role::Assistant);
        let message = Message { id: id.clone(), role, parts: Vec::new(), metadata: None };
        let mut recorder = Recorder::new(0, message);
        recorder.take_unread(RunEvent::Start { message_id: id, metadata: None }, false);
        // The first segment is that of `begin`.
        let at = Position { segments: 1, events: 0 };
        let tail = Arc::new(Tail::new(at.events, writer.epoch));
        tail.begin();
        tail.admit(Admission::Granted);
        let over = CancellationToken::new();
        let shown = ShownLeg { tail: Arc::clone(&tail), earlier: None, parent: None, state: None, from: at };
        let (its_scope, its_control) = (scope.clone(), Arc::clone(&control));
        let leg = LiveLeg { scope: its_scope, shown, control: its_control, over: over.clone() };
        stores.insert(writer.run, leg);
        let stores = Arc::clone(stores);
        let notices = Notices::default();
        let (used, is_counted) = (Vec::new(), false);
        Self { stores, scope, chat, writer, at, recorder, used, is_counted, tail, control, over, notices }
    }

    pub(in crate::engine) fn id(&self) -> RunId {
        self.writer.run
    }

    /// Returns the next time at which the journal is written.
    pub(in crate::engine) fn next_flush(&self) -> Instant {
        self.stores.next_flush(self.notices.is_watched && !self.stores.sends(self.writer.run))
    }

    /// Returns the token that is cancelled when the process lets go of its runs.
    pub(in crate::engine) fn released(&self) -> CancellationToken {
        self.stores.released.clone()
    }

    /// Takes an event, which viewers are shown.
    pub(in crate::engine) fn take(&mut self, event: RunEvent) {
        self.recorder.take_unread(event, false);
    }

    /// Takes the state of an agent, which viewers are not shown.
    pub(in crate::engine) fn keep(&mut self, record: Record) {
        self.recorder.take_records(&[record]);
    }

    /// Counts model calls with the next segment.
    pub(in crate::engine) fn count(&mut self, mut used: Vec<ModelUsage>) {
        if let Some(first) = used.first_mut() {
            first.runs = u64::from(!mem::replace(&mut self.is_counted, true));
        }
        self.used.append(&mut used);
    }

    /// Completes the next segment.
    fn segment(&mut self, kind: SegmentKind) -> (Segment, Position) {
        let (mut segment, next) = self.recorder.segment(self.writer, self.at, kind);
        segment.used = mem::take(&mut self.used);
        (segment, next)
    }

    /// Shows and writes what was taken. Returns `false` if the run belongs to another instance, or was deleted.
    ///
    /// A write that takes longer than the lease ends the tree: another instance may have ended the run meanwhile.
    pub(in crate::engine) async fn write(&mut self) -> bool {
        self.tail.publish(&mut self.recorder.shown);
        if !self.recorder.is_dirty() {
            return true;
        }
        let (segment, next) = self.segment(SegmentKind::Text);
        let mut write = append(Arc::clone(&self.stores), segment, next, Durability::Soft);
        let written = match timeout(LEASE, &mut write).await {
            Ok(written) => written,
            Err(_) => {
                tracing::warn!(run_id = %self.id(), "the store does not answer; the tree ends");
                self.control.abort(Text::from_static(STOPPED));
                write.await
            }
        };
        let (notice, at) = match written {
            Ok(written) => written,
            Err(Lost::Elsewhere | Lost::Deleted) => return false,
        };
        self.at = at;
        self.tail.mark_durable(at.events);
        if self.notices.take(&self.stores, self.writer, &self.tail, notice) {
            self.control.abort(Text::from_static(STOPPED));
        }
        true
    }

    /// Writes the end, with the tokens that the agents have used.
    pub(in crate::engine) async fn settle(mut self, end: TreeEnd, usage: Usage) {
        let (event, ending) = match end {
            TreeEnd::Finished => (RunEvent::Finish { reason: FinishReason::Stop, usage }, Ending::Finished),
            TreeEnd::Failed(code) => {
                let message = Text::from_static(code.safe_message());
                (RunEvent::Error { code, message }, Ending::Failed)
            }
            TreeEnd::Stopped => (RunEvent::Abort { reason: Text::from_static(STOPPED) }, Ending::Stopped),
            TreeEnd::Interrupted => {
                (RunEvent::Finish { reason: FinishReason::Interrupted, usage }, Ending::Interrupted)
            }
        };
        self.recorder.take_unread(event, true);
        let (last, _) = self.segment(SegmentKind::End);
        let mut end = Settled::new(last, ending);
        end.usage = serde_json::to_vec(&usage).ok().map(Into::into);
        if let Appended::Taken(_) = settle(&self.stores, &self.scope, &self.chat, end).await {
            self.recorder.release();
            self.tail.publish(&mut self.recorder.shown);
            self.tail.complete();
        }
    }
}

impl Drop for TreeRun {
    fn drop(&mut self) {
        self.stores.drop_leg(self.writer.run, &self.tail);
        self.over.cancel();
    }
}
