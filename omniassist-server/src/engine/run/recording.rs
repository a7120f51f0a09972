use std::sync::Arc;

use omniassist_core::message::{Message, MessageCollector, Role};
use omniassist_core::transcript::ToolCall;
use omniassist_core::{RunEvent, Text, ToolSide};
use tokio::runtime::Handle;

use crate::RunContext;
use crate::audit::{CallAudit, RunAudit, Ticket};
use crate::engine::settings::Setup;
use crate::observe::{FinishedRun, RunReport, Settled};
use crate::tool::ToolSnapshot;

/// Collects the message of one run for the functions of `on_finish`, and writes its audit records.
pub(super) struct Recording {
    setup: Arc<Setup>,
    run: RunContext,
    message: Option<MessageCollector>,
    /// The posted messages with their seals, where the host receives them.
    posted: Option<Arc<[Message]>>,
    audit: Option<RunAudit>,
    /// The runtime that the run began on. A body can be dropped outside of it.
    runtime: Option<Handle>,
    /// Set for a stored run, whose end counts when it is durable.
    settled: Option<Settled>,
}

impl Recording {
    /// Begins the recording of a run, with the record to wait for. Returns `None` if no observer, log or callback needs it.
    pub(in crate::engine) fn begin(
        setup: &Arc<Setup>,
        run: &RunContext,
        continued: Option<&Message>,
        message_id: &Text,
        posted: Option<Vec<Message>>,
    ) -> Option<(Box<Self>, Option<Ticket>)> {
        let config = &setup.config;
        if !config.records_runs() {
            return None;
        }
        let (audit, ticket) = config.audit.clone().map(|log| RunAudit::begin(log, run)).unzip();
        let new =
            || Message { id: message_id.clone(), role: Role::Assistant, parts: Vec::new(), metadata: None };
        // The same message, with the seals of its earlier parts.
        let continued =
            continued.map(|verified| posted.as_ref().and_then(|posted| posted.last()).unwrap_or(verified));
        let message = (!config.on_finish.is_empty())
            .then(|| MessageCollector::continuing(continued.cloned().unwrap_or_else(new)));
        let runtime = Handle::try_current().ok();
        let posted = posted.map(Arc::from);
        let (setup, run) = (Arc::clone(setup), run.clone());
        let recording = Self { setup, run, message, posted, audit, runtime, settled: None };
        Some((Box::new(recording), ticket))
    }

    /// Begins the audit records of a call that a tool makes in the name of another one. It is no run of its own.
    pub(super) fn of_inner(setup: &Arc<Setup>, run: &RunContext) -> Option<Box<Self>> {
        let audit = Some(RunAudit::within_call(setup.config.audit.clone()?, run));
        let (setup, run) = (Arc::clone(setup), run.clone());
        let (message, posted, runtime, settled) = (None, None, None, None);
        Some(Box::new(Self { setup, run, message, posted, audit, runtime, settled }))
    }

    /// Makes the call of `on_finish` wait until the end of the run is durable.
    pub(super) fn finish_after(&mut self, settled: Settled) {
        self.settled = Some(settled);
    }

    /// Leaves out the call of `on_finish`.
    pub(super) fn leave_out_finish(&mut self) {
        self.message = None;
    }

    /// Takes an event as the client gets it. `tools` are those of the run.
    pub(in crate::engine) fn take(&mut self, event: &RunEvent, tools: &ToolSnapshot) {
        if let Some(message) = &mut self.message {
            message.apply(event);
        }
        if let Some(audit) = &mut self.audit {
            audit.take(event, |name| tools.side(name) == Some(ToolSide::FrontEnd));
        }
    }

    /// Returns the records of a call whose tool may start.
    pub(super) fn call_due(&mut self, call: &ToolCall) -> Option<CallAudit> {
        self.audit.as_mut().map(|audit| audit.call_due(call))
    }

    pub(in crate::engine) fn end(self, report: RunReport) {
        if let Some(audit) = self.audit {
            audit.end(&report);
        }
        let Some(message) = self.message else { return };
        let run = FinishedRun::new(report, message.into_message(), self.posted, self.run);
        let runtime = self.runtime.or_else(|| Handle::try_current().ok());
        self.setup.config.on_finish.call(&run, runtime.as_ref(), self.settled.as_ref());
    }
}
