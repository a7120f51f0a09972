//! Ends stored runs from outside: stop, supersede, give up.

use std::sync::Arc;
use std::time::Duration;

use omniassist_core::event::{FinishReason, RunErrorCode};
use omniassist_core::journal::{Content, SegmentWriter};
use omniassist_core::message::{Message, Role};
use omniassist_core::{Error, RunEvent, Text};
use tokio::time::{Instant, sleep, timeout};

use super::last_leg::LastLeg;
use crate::engine::Assistant;
use crate::engine::end::SUPERSEDED;
use crate::engine::stored::chat::{message, stored_message, stored_usage};
use crate::engine::stored::posts::{Input, OF_TREE};
use crate::engine::stores::Stores;
use crate::engine::stores::journal;
use crate::engine::stores::left_open::settle_open;
use crate::engine::stores::refused;
use crate::engine::tree::AgentRecords;
use crate::one_line;
use crate::store::{
    Branch, Change, Claim, Claimed, Ending, Hint, RunHead, RunId, RunState, Scope, Segment, SegmentKind,
    Settled, Signal, SignalKind, StoreError, Which, Window,
};

/// The time between two looks at a run that another process drives.
pub(in crate::engine::stored) const LOOK: Duration = Duration::from_millis(50);

/// The error of a call that had begun when its server stopped. A run that goes on has the same.
const UNKNOWN: &str = "It is not known whether this took effect: the server stopped while it ran.";

const STOPPED_BY_USER: &str = "The user stopped the run.";

impl Assistant {
    /// Stops a run, and returns its state once it is durable. `None` if the owner has no such run.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(crate) async fn stop_stored(
        &self,
        scope: &Scope,
        which: Which<'_>,
    ) -> Result<Option<(bool, RunHead)>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        let Some(head) = stores.runs.find(scope, which).await.map_err(|error| refused::by_store(&error))?
        else {
            return Ok(None);
        };
        let run = head.run;
        let was_live = !head.state.is_ended();
        if was_live {
            self.end_run(stores, &head, STOPPED_BY_USER).await.map_err(|error| refused::by_store(&error))?;
        }
        let head = stores
            .runs
            .find(scope, Which::Run(run))
            .await
            .map_err(|error| refused::by_store(&error))?
            .unwrap_or(head);
        Ok(Some((was_live && head.state.is_ended(), head)))
    }

    /// Ends a run of a chat that a new one takes the place of.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(in crate::engine::stored) async fn supersede(
        &self,
        stores: &Arc<Stores>,
        head: &RunHead,
    ) -> Result<(), Error> {
        self.end_run(stores, head, SUPERSEDED).await.map_err(|error| refused::by_store(&error))
    }

    async fn end_run(
        &self,
        stores: &Arc<Stores>,
        head: &RunHead,
        reason: &'static str,
    ) -> Result<(), StoreError> {
        let grace = self.limits().supersede_grace;
        if let Some(leg) = stores.live_in(head) {
            leg.control.abort(Text::from_static(reason));
            let _ = timeout(grace, leg.over.cancelled()).await;
        } else if matches!(head.state, RunState::Queued | RunState::Running) {
            let signal = Signal::new(SignalKind::Stop, head.scope.owner());
            stores.runs.signal(&head.scope, head.run, &signal).await?;
            stores.queue.look_at(head.run);
            stores.hint(Hint::Signalled(head.run));
            let until = Instant::now() + grace;
            while Instant::now() < until && self.is_running(stores, head).await? {
                // An instance that lives sees the signal with its next write.
                if let Some(claimed) = stores.claim(head.run, Claim::IfFree).await? {
                    return self.give_up_with(stores, &claimed, Ending::Stopped, reason).await;
                }
                sleep(LOOK).await;
            }
        }
        match stores.claim(head.run, Claim::Force).await? {
            Some(claimed) => self.give_up_with(stores, &claimed, Ending::Stopped, reason).await,
            None => Ok(()),
        }
    }

    async fn is_running(&self, stores: &Stores, head: &RunHead) -> Result<bool, StoreError> {
        let head = stores.runs.find(&head.scope, Which::Run(head.run)).await?;
        Ok(head.is_some_and(|head| head.state == RunState::Running))
    }

    /// Settles a claimed run that does not go on. After an error, a later beat claims the run again.
    pub(super) async fn give_up(
        &self,
        stores: &Stores,
        claimed: &Claimed,
        ending: Ending,
    ) -> Result<(), StoreError> {
        self.give_up_with(stores, claimed, ending, "").await
    }

    async fn give_up_with(
        &self,
        stores: &Stores,
        claimed: &Claimed,
        ending: Ending,
        reason: &'static str,
    ) -> Result<(), StoreError> {
        let given_up = self.settle_given_up(stores, claimed, ending, reason).await;
        given_up.inspect_err(|_| stores.remember_left(claimed.writer.run))
    }

    async fn settle_given_up(
        &self,
        stores: &Stores,
        claimed: &Claimed,
        ending: Ending,
        reason: &'static str,
    ) -> Result<(), StoreError> {
        let Claimed { writer, head, .. } = claimed;
        let mut segment = SegmentWriter::new();
        // A journal that cannot be read is kept, and its run ends without a message.
        let runs = &*stores.runs;
        let read = match claimed.input == OF_TREE {
            // A tree writes no message.
            true => journal::end_of(runs, &head.scope, head.run).await.map(|end| (end.events, None)),
            false => LastLeg::read(runs, claimed).await.map(|leg| (leg.at.events, Some(leg))),
        };
        let (events, leg) = match read {
            Ok(read) => read,
            Err(error) if error.is_corrupt() => {
                let error = one_line::chain(&error);
                tracing::error!(run_id = %head.run, %error, "the journal of a run cannot be read");
                (0, None)
            }
            Err(error) if error.is_gone() => return Ok(()),
            Err(error) => return Err(error),
        };
        let usage = leg.as_ref().map(LastLeg::usage_so_far);
        let event = match ending {
            Ending::Interrupted => {
                let usage = usage.unwrap_or_default();
                RunEvent::Finish { reason: FinishReason::Interrupted, usage }
            }
            Ending::Failed => {
                let code = RunErrorCode::InvalidRequest;
                RunEvent::Error { code, message: Text::from_static(code.safe_message()) }
            }
            _ => RunEvent::Abort { reason: Text::from_static(reason) },
        };
        let agents = leg.as_ref().map(|leg| AgentRecords::split(leg.records.clone()).1);
        let ends: Vec<_> = agents.into_iter().flat_map(AgentRecords::into_ends).collect();
        let change = match &leg {
            Some(leg) => self.partial(stores, head, leg, &ends).await?,
            None => None,
        };
        for event in ends.iter().chain([&event]) {
            segment.event(event).map_err(StoreError::other)?;
        }
        let segment = segment.take();
        let events = events + segment.as_ref().map_or(0, |segment| segment.events);
        let data = segment.map(|segment| segment.bytes).unwrap_or_default();
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        let last = Segment::new(*writer, head.head + 1, SegmentKind::End, events, data);
        let mut end = Settled::new(last, ending);
        end.usage = usage.as_ref().and_then(stored_usage);
        if let (Some(change), false) = (&change, stores.is_one) {
            stores.save_end(head.run, &head.scope, &head.chat, change).await?;
        }
        end.change = change.filter(|_| stores.is_one);
        let settled = stores.runs.settle(&end).await?;
        stores.hint_settled(&end, &settled);
        Ok(())
    }

    /// Returns the message of a leg that did not end, as a change of its conversation.
    async fn partial(
        &self,
        stores: &Stores,
        head: &RunHead,
        leg: &LastLeg,
        ends_of_agents: &[RunEvent],
    ) -> Result<Option<Change>, StoreError> {
        let has_waited = leg.records.is_empty();
        if has_waited && leg.is_first() {
            return Ok(None);
        }
        let mut under_way: Vec<&Text> = Vec::new();
        // The message shows calls of agents that were approved.
        for record in &leg.records {
            match &record.content {
                Content::Begun(calls) => under_way.extend(calls),
                Content::Event(
                    RunEvent::ToolOutput { call_id, preliminary: false, .. }
                    | RunEvent::ToolError { call_id, .. },
                ) => under_way.retain(|call| *call != call_id),
                _ => {}
            }
        }
        let mut collector = leg.collector();
        ends_of_agents.iter().for_each(|end| collector.apply(end));
        for call_id in under_way.into_iter().cloned() {
            let error_text = Text::from_static(UNKNOWN);
            collector.apply(&RunEvent::ToolError { call_id, error_text, provider_executed: false });
        }
        let mut message = collector.into_message();
        if message.parts.is_empty() {
            return Ok(None);
        }
        settle_open(&mut message);
        let parent = answered(stores, head, &leg.input).await?;
        let mut change = Change::messages([stored_message(&message, parent)?]);
        if has_waited {
            // The message is stored. The user may show another branch since.
            change.head = None;
        }
        Ok(Some(change))
    }

    /// Returns a stored message.
    pub(in crate::engine::stored) async fn stored(
        &self,
        stores: &Stores,
        scope: &Scope,
        chat: &str,
        id: &Text,
    ) -> Result<Option<Message>, StoreError> {
        let window = Window { branch: Branch::Leaf(id.clone()), at_most: 1, ..Window::default() };
        let loaded = stores.conversations.load(scope, chat, &window).await?;
        let stored = loaded.and_then(|conversation| conversation.messages.into_iter().next_back());
        stored.as_ref().map(message).transpose()
    }
}

/// Returns the id of the stored message that a run answers. The user may show another branch meanwhile.
async fn answered(stores: &Stores, head: &RunHead, input: &Input) -> Result<Option<Text>, StoreError> {
    let load = async |branch| {
        let window = Window { branch, at_most: 1, ..Window::default() };
        stores.conversations.load(&head.scope, &head.chat, &window).await
    };
    for id in input.answered()? {
        let found = load(Branch::Leaf(id)).await?;
        if let Some(found) = found.and_then(|found| found.messages.into_iter().next_back()) {
            // A queued post can name the answer that is made again.
            let is_answer = message(&found).is_ok_and(|found| found.role == Role::Assistant);
            return Ok(if is_answer { found.parent } else { Some(found.id) });
        }
    }
    Ok(load(Branch::Head).await?.and_then(|shown| shown.info.head))
}

/// Returns the run with this id in any state.
pub(super) async fn head_of(
    stores: &Stores,
    scope: &Scope,
    run: RunId,
) -> Result<Option<RunHead>, StoreError> {
    stores.runs.find(scope, Which::Run(run)).await
}
