//! The exact events of a run, for clients that have a part of them.

use std::collections::VecDeque;
use std::sync::Arc;

use omniassist_core::journal;
use omniassist_core::{Error, RunEvent, Text};

use super::view::View;
use crate::engine::Assistant;
use crate::engine::stored::chat::message_id;
use crate::engine::stores::Stores;
use crate::engine::stores::journal::{self as stored_journal, Position};
use crate::engine::stores::queue::was_stopped_in_queue;
use crate::engine::stores::refused;
use crate::engine::stores::shown_leg::ShownLeg;
use crate::engine::stores::tail::{Tail, TailEvents, is_withdrawn_with_its_step};
use crate::store::{RunHead, RunId, Scope, Which};

/// The events of one leg of a run. The chunks of each response are counted from the start of a leg, since the response to
/// an answer begins there.
pub(crate) struct LegEvents {
    /// The events of the leg, as they were shown. Without an epoch, the parts of the message before the leg come first: the
    /// client has nothing of it.
    pub(crate) events: Vec<RunEvent>,
    /// The number of events that were written up to the epoch that was asked for, and of those after them that follow from
    /// them: a client may have them already.
    pub(crate) kept: usize,
    /// The latest epoch of the leg.
    pub(crate) epoch: u32,
    /// The first epoch of the leg after this one.
    pub(crate) next: Option<u32>,
    /// `true` if no event of the leg follows.
    pub(crate) is_over: bool,
    /// `true` if the client must withdraw a step which has not begun anew yet.
    is_withdrawn: bool,
    stores: Arc<Stores>,
    scope: Scope,
    run: RunId,
    read: Position,
    /// The number of events that the journal does not have yet.
    ahead: usize,
    tail: Option<Arc<Tail>>,
}

impl Assistant {
    /// Returns a run of an owner.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available.
    pub(crate) async fn find_run(&self, scope: &Scope, which: Which<'_>) -> Result<Option<RunHead>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        stores.runs.find(scope, which).await.map_err(|error| refused::by_store(&error))
    }

    /// Returns `true` if a run writes the message with this id. The ids of its calls do not identify it, since many models give
    /// each answer the same ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(in crate::engine::stored) async fn writes(
        &self,
        head: &RunHead,
        message: &Text,
    ) -> Result<bool, Error> {
        if *message == message_id(head.run) {
            return Ok(true);
        }
        // It can continue a message that it has not begun.
        let rest = self.leg_events(&head.scope, head.run, Some(head.epoch)).await?;
        Ok(rest.is_some_and(|rest| rest.message_id() == Some(message)))
    }

    /// Returns the leg of a run to which an epoch belongs, or the last leg. `None` if the owner has no such run, or it had no
    /// such epoch.
    ///
    /// A run whose server has stopped is continued here.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is not available, or the journal cannot be read.
    pub(crate) async fn leg_events(
        &self,
        scope: &Scope,
        run: RunId,
        epoch: Option<u32>,
    ) -> Result<Option<LegEvents>, Error> {
        let Some(stores) = self.stores() else { return Ok(None) };
        let Some((head, leg)) = self.revived(stores, scope, run).await? else { return Ok(None) };
        if epoch.is_some_and(|epoch| epoch == 0 || epoch > head.epoch) {
            return Ok(None);
        }
        let shown = match &leg {
            Some(leg) => leg.tail.begun().await,
            None => TailEvents::default(),
        };
        let mut rest = LegEvents {
            events: Vec::new(),
            kept: 0,
            epoch: 1,
            next: None,
            is_over: false,
            is_withdrawn: false,
            stores: Arc::clone(stores),
            scope: scope.clone(),
            run,
            read: Position::default(),
            ahead: 0,
            tail: None,
        };
        let read = stored_journal::for_each_segment(
            &*stores.runs,
            scope,
            run,
            Position::default(),
            |segment, records, at| {
                let written = segment.writer.epoch;
                if rest.is_over {
                    if epoch.is_some_and(|epoch| epoch <= rest.epoch) {
                        rest.next.get_or_insert(written);
                        return;
                    }
                    (rest.events, rest.kept, rest.is_over) = (Vec::new(), 0, false);
                }
                rest.epoch = written;
                rest.read = at;
                rest.events.extend(journal::exact(&records));
                if epoch.is_none_or(|epoch| written <= epoch) {
                    rest.kept = rest.events.len();
                }
                rest.is_over = rest.events.last().is_some_and(RunEvent::is_terminal);
            },
        );
        let Some(()) = refused::unless_gone(read.await)? else { return Ok(None) };
        rest.is_over |= was_stopped_in_queue(&head);
        // An instance that has lost its run may not know that yet. Its own events are none of the epoch that claimed the run.
        let is_lost = |leg: &ShownLeg| !leg.tail.is_copy() && leg.tail.epoch() < rest.epoch;
        if let Some(leg) = leg.filter(|leg| !rest.is_over && !is_lost(leg)) {
            let shown = shown.after(rest.read.events);
            rest.ahead = shown.len();
            rest.events.extend(shown);
            if let Some(earlier) = leg.earlier.filter(|_| epoch.is_none()) {
                rest.events.splice(..0, journal::message_events(&earlier));
            }
            rest.tail = Some(leg.tail);
        }
        let after = rest.events.get(rest.kept..).unwrap_or_default();
        let followed = after.iter().take_while(|event| follows(event)).count();
        if matches!(after.get(followed), None | Some(RunEvent::StepStart)) {
            rest.kept += followed;
        }
        Ok(Some(rest))
    }
}

impl LegEvents {
    /// Replaces the start of a step by its reset, for a client that has more of the step than the journal: the step that
    /// begins anew, or the last one of a run that was given up. It does nothing if the journal has a reset there, or if the
    /// client has calls of the step.
    pub(crate) fn withdraw_step(&mut self) {
        let after = self.events.get(self.kept..).unwrap_or_default();
        let kept = self.events.get(..self.kept).unwrap_or_default();
        // The model has not answered the repeated call yet.
        self.is_withdrawn = !self.is_over && after.is_empty() && !has_open_call(kept);
        let start = match self.events.get(self.kept) {
            Some(RunEvent::StepStart) => Some(self.kept),
            Some(event) if event.is_terminal() => {
                let kept = self.events.get(..self.kept).unwrap_or_default();
                let is_start = |event: &RunEvent| matches!(event, RunEvent::StepStart | RunEvent::StepReset);
                let start = kept.iter().rposition(is_start);
                start.filter(|start| kept.iter().skip(*start + 1).all(is_withdrawn_with_its_step))
            }
            _ => None,
        };
        if let Some(start) = start
            && let Some(event) = self.events.get_mut(start)
        {
            *event = RunEvent::StepReset;
            self.kept = start;
        }
    }

    /// Returns `true` if the client must withdraw text.
    pub(crate) fn withdraws_text(&self) -> bool {
        self.is_withdrawn || self.events.contains(&RunEvent::StepReset)
    }

    /// Returns the id of the message that the leg writes.
    pub(in crate::engine::stored) fn message_id(&self) -> Option<&Text> {
        self.events.iter().find_map(|event| match event {
            RunEvent::Start { message_id, .. } => Some(message_id),
            _ => None,
        })
    }

    /// Returns a viewer of the leg from its start.
    pub(crate) fn into_view(self) -> View {
        let Self { events, epoch, is_withdrawn, stores, scope, run, read, ahead, tail, .. } = self;
        let view = View::new(&stores, scope, run, VecDeque::from(events), read, tail);
        view.ahead(ahead).of_epoch(epoch).resets_step(is_withdrawn)
    }
}

/// Returns `true` for events that can follow from those before, without a call of the model or a tool.
fn follows(event: &RunEvent) -> bool {
    matches!(event, RunEvent::Start { .. } | RunEvent::OutputSeal { .. } | RunEvent::StepFinish { .. })
}

/// Returns `true` if a call of the last step has no result. The client has no later step then.
fn has_open_call(events: &[RunEvent]) -> bool {
    let mut open: Vec<&Text> = Vec::new();
    for event in events {
        match event {
            RunEvent::StepStart | RunEvent::StepReset | RunEvent::StepFinish { .. } => open.clear(),
            RunEvent::ToolInputAvailable { call_id, provider_executed: false, .. } => open.push(call_id),
            RunEvent::ToolOutput { call_id, preliminary: false, .. }
            | RunEvent::ToolError { call_id, .. }
            | RunEvent::ToolDenied { call_id, .. }
            | RunEvent::ToolRefused { call_id, .. } => open.retain(|open| *open != call_id),
            _ => {}
        }
    }
    !open.is_empty()
}

#[cfg(test)]
mod tests {
    use omniassist_core::JsonText;
    use omniassist_core::event::{BlockId, FinishReason, Usage};

    use super::*;

    fn step(calls: &[&'static str]) -> Vec<RunEvent> {
        let calls = calls.iter().map(|id| RunEvent::ToolInputAvailable {
            call_id: Text::from_static(id),
            name: "worker".into(),
            input: JsonText::EMPTY_OBJECT,
            provider_executed: false,
            metadata: None,
        });
        let start = RunEvent::TextStart { id: BlockId(0) };
        [RunEvent::StepStart, start].into_iter().chain(calls).collect()
    }

    fn output(id: &'static str, preliminary: bool) -> RunEvent {
        let output = JsonText::EMPTY_OBJECT;
        RunEvent::ToolOutput { call_id: id.into(), output, preliminary, provider_executed: false }
    }

    fn end() -> RunEvent {
        RunEvent::StepFinish { reason: FinishReason::ToolCalls, usage: Usage::default() }
    }

    #[test]
    fn a_step_is_kept_while_one_of_its_calls_has_no_result() {
        let mut events = step(&["a", "b"]);
        assert!(has_open_call(&events));
        events.extend([output("a", false), output("b", true)]);
        assert!(has_open_call(&events));
        events.push(output("b", false));
        assert!(!has_open_call(&events));
        events.push(end());
        events.extend(step(&[]));
        assert!(!has_open_call(&events));
        events.extend(step(&["c"]).into_iter().skip(1));
        assert!(has_open_call(&events));
    }
}
