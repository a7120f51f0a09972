//! The change of a run to another agent.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use omniassist_core::run::Input;
use omniassist_core::{JsonText, RunEvent, Text, TranscriptItem};
use serde_json::json;

use super::Driver;
use crate::engine::handoff::HandedOff;
use crate::engine::preparation::NotPrepared;

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
        let HandedOff { run, call, tools } = next;
        let data = JsonText::from_value(&json!({ "from": self.run.agent(), "to": run.agent() }));
        let (name, id) = (Text::from_static("agent-handoff"), Some(call_id));
        self.events.push(RunEvent::Data { name, id, data, transient: false });
        if let Some(sealer) = &mut self.sealer {
            sealer.hand_off(run.agent().cloned());
        }
        if let Some(steps) = &mut self.steps {
            steps.hand_off(call.clone(), tools.clone());
        }
        self.trace.planned(call.provider.name(), call.requested_model());
        (self.run, self.call, self.tools, self.loaded) = (run, call, tools, None);
    }
}
