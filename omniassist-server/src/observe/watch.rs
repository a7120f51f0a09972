use std::time::Duration;

use omniassist_core::context::ContextReceipt;
use omniassist_core::{LlmEvent, Usage};
use tokio::time::Instant;

use super::{Observers, RunEnd, RunInfo, RunReport};
use crate::RunContext;

/// Watches one run for its observers.
pub(crate) struct Watch {
    observers: Observers,
    started: Instant,
    pub(crate) report: RunReport,
}

impl Watch {
    /// Notifies the observers that a run begins. Returns `None` if there are no observers and `keeps_report` is
    /// `false`.
    pub(crate) fn begin(
        observers: &Observers,
        keeps_report: bool,
        run: &RunContext,
        provider: &str,
        model: Option<&str>,
    ) -> Option<Box<Self>> {
        if observers.is_empty() && !keeps_report {
            return None;
        }
        let run = RunInfo {
            run_id: run.run_id().clone(),
            chat_id: run.chat_id().cloned(),
            principal: run.principal().clone(),
            agent: run.agent().cloned(),
            provider: provider.into(),
            model: model.map(Into::into),
        };
        observers.tell(|observer| observer.run_started(&run));
        let report = RunReport {
            run,
            outcome: RunEnd::Dropped,
            duration: Duration::ZERO,
            time_to_first_token: None,
            steps: 0,
            tool_calls: 0,
            usage: Usage::default(),
            cost: None,
            context: ContextReceipt::default(),
        };
        Some(Box::new(Self { observers: observers.clone(), started: Instant::now(), report }))
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
        if self.report.time_to_first_token.is_none() && is_written() {
            let after = self.started.elapsed();
            self.report.time_to_first_token = Some(after);
            self.observers.tell(|observer| observer.first_token(&self.report.run, after));
        }
    }

    pub(crate) fn end(&mut self) {
        self.report.duration = self.started.elapsed();
        self.observers.tell(|observer| observer.run_ended(&self.report));
    }
}
