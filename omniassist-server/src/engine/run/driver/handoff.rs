//! The change of a run to another agent.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use omniassist_core::event::RunErrorCode;
use omniassist_core::journal::{Content, Record};
use omniassist_core::run::{Input, RunConfig};
use omniassist_core::{JsonText, RunEvent, Text, TranscriptItem};
use serde_json::json;

use super::{Driver, Stage};
use crate::engine::run::handoff::{DATA, HandedOff};
use crate::engine::run::preparation::NotPrepared;

impl Driver {
    /// Begins the handoff that the last turn asks for. Returns `false` if there is none.
    pub(super) fn begin_handoff(&mut self, transcript: &Arc<[TranscriptItem]>) -> bool {
        self.handoffs.as_mut().is_some_and(|handoffs| handoffs.begin(transcript, &self.run))
    }

    pub(super) fn poll_handoff(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(handoffs) = &mut self.handoffs else { return Poll::Ready(()) };
        let Some(preparing) = handoffs.preparing() else { return Poll::Ready(()) };
        let prepared = ready!(self.trace.enter_scope(|| preparing.as_mut().poll(cx)));
        let Some(due) = handoffs.prepared() else { return Poll::Ready(()) };
        match prepared {
            Ok(next) => {
                self.hand_off(next, due.call_id);
                self.ask_model(due.transcript);
            }
            Err(NotPrepared::Failed(code)) => self.step(Input::Fail(code)),
            Err(NotPrepared::Refused(refusal)) => self.refuse(*refusal),
        }
        Poll::Ready(())
    }

    fn hand_off(&mut self, next: HandedOff, call_id: Text) {
        let HandedOff { run, call, tools, max_steps } = next;
        let data = JsonText::from_value(&json!({ "from": self.run.agent(), "to": run.agent() }));
        let (name, id) = (Text::from_static(DATA), Some(call_id));
        self.events.push(RunEvent::Data { name, id, data, transient: false });
        if let Some(sealer) = &mut self.sealer {
            sealer.hand_off(run.agent().cloned());
        }
        self.trace.planned(call.provider.name(), call.requested_model());
        // The call that is due is the first one of the agent.
        self.step_limit = self.steps().saturating_sub(1).saturating_add(max_steps);
        (self.run, self.call, self.tools, self.loaded) = (run, call, tools, None);
        self.add_ui_instructions();
        if let Some(steps) = &mut self.steps {
            steps.hand_off(self.call.clone(), self.tools.clone());
        }
    }

    /// Sets the limit of steps of the agent that has the conversation, and returns its own part of it. The last step that it
    /// allows may hand off, so this driver applies the limit of a run with handoffs, and not the machine.
    pub(super) fn limit_steps(&mut self, config: &mut RunConfig) -> u32 {
        let own = config.max_steps;
        self.step_limit = self.step_limit.saturating_add(own);
        let journal = self.gate.as_ref().and_then(|gate| gate.journal.as_deref()).unwrap_or_default();
        let may_change = self.handoffs.is_some() || steps_since_handoff(journal).is_some();
        config.max_steps = if may_change { u32::MAX } else { self.step_limit };
        own
    }

    /// Ends the run if its agent may take no further step. Returns `false` if it may.
    pub(super) fn ends_at_limit(&mut self) -> bool {
        let is_over = self.steps() > self.step_limit;
        if is_over {
            self.step(Input::Fail(RunErrorCode::MaxSteps));
        }
        is_over
    }

    fn steps(&self) -> u32 {
        match &self.stage {
            Stage::Running(machine) => machine.steps(),
            _ => 0,
        }
    }
}

/// Returns the number of steps in a journal after its last handoff. `None` if there is none.
pub(super) fn steps_since_handoff(journal: &[Record]) -> Option<u32> {
    let mut steps = None;
    for record in journal.iter().filter(|record| record.head.agent().is_none()) {
        match &record.content {
            Content::Event(RunEvent::Data { name, .. }) if *name == DATA => steps = Some(0),
            Content::Turn(_) => steps = steps.map(|steps: u32| steps + 1),
            _ => {}
        }
    }
    steps
}
