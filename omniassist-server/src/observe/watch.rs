use std::time::Duration;

use omniassist_core::context::ContextReceipt;
use omniassist_core::{LlmEvent, Usage};
use tokio::time::Instant;

use super::{Observers, RunEnd, RunInfo, RunReport};
use crate::{Cost, RunContext};

/// Watches one run for its observers.
pub(crate) struct Watch {
    observers: Observers,
    run: RunInfo,
    started: Instant,
    first_token: Option<Duration>,
    tool_calls: u32,
}

impl Watch {
    /// Notifies the observers that a run begins. Returns `None` if there are none.
    pub(crate) fn begin(
        observers: &Observers,
        run: &RunContext,
        provider: &str,
        model: Option<&str>,
    ) -> Option<Box<Self>> {
        if observers.is_empty() {
            return None;
        }
        let run = RunInfo {
            run_id: run.run_id().clone(),
            chat_id: run.chat_id().cloned(),
            principal: run.principal().clone(),
            provider: provider.into(),
            model: model.map(Into::into),
        };
        observers.tell(|observer| observer.run_started(&run));
        let observers = observers.clone();
        let (started, first_token, tool_calls) = (Instant::now(), None, 0);
        Some(Box::new(Self { observers, run, started, first_token, tool_calls }))
    }

    pub(crate) fn model_said(&mut self, event: &LlmEvent) {
        let is_written = || {
            matches!(
                event,
                LlmEvent::TextDelta { .. }
                    | LlmEvent::RefusalDelta { .. }
                    | LlmEvent::ReasoningDelta { .. }
                    | LlmEvent::ToolCallStart { .. }
            )
        };
        if self.first_token.is_none() && is_written() {
            let after = self.started.elapsed();
            self.first_token = Some(after);
            self.observers.tell(|observer| observer.first_token(&self.run, after));
        }
    }

    pub(crate) fn tool_begins(&mut self) {
        self.tool_calls = self.tool_calls.saturating_add(1);
    }

    pub(crate) fn end(
        self,
        outcome: RunEnd,
        steps: u32,
        usage: Usage,
        cost: Option<Cost>,
        context: ContextReceipt,
    ) {
        let report = RunReport {
            run: self.run,
            outcome,
            duration: self.started.elapsed(),
            time_to_first_token: self.first_token,
            steps,
            tool_calls: self.tool_calls,
            usage,
            cost,
            context,
        };
        self.observers.tell(|observer| observer.run_ended(&report));
    }
}
