use std::sync::Arc;

use omniassist_core::message::{Message, MessageCollector, Role};
use omniassist_core::{RunEvent, Text};
use tokio::runtime::Handle;

use super::setup::Setup;
use crate::RunContext;
use crate::observe::{FinishedRun, RunReport};

/// Collects the message of one run for the functions of `on_finish`.
pub(super) struct Recording {
    setup: Arc<Setup>,
    run: RunContext,
    message: MessageCollector,
    /// The runtime that the run began on. A body can be dropped outside of it.
    runtime: Option<Handle>,
}

impl Recording {
    /// Returns `None` if nobody wants the messages.
    pub(super) fn begin(
        setup: &Arc<Setup>,
        run: &RunContext,
        continued: Option<&Message>,
        message_id: &Text,
    ) -> Option<Box<Self>> {
        if setup.config.on_finish.is_empty() {
            return None;
        }
        let new =
            || Message { id: message_id.clone(), role: Role::Assistant, parts: Vec::new(), metadata: None };
        Some(Box::new(Self {
            setup: Arc::clone(setup),
            run: run.clone(),
            message: MessageCollector::continuing(continued.cloned().unwrap_or_else(new)),
            runtime: Handle::try_current().ok(),
        }))
    }

    /// Takes an event as the client gets it.
    pub(super) fn take(&mut self, event: &RunEvent) {
        self.message.apply(event);
    }

    pub(super) fn end(self, report: RunReport) {
        let run = FinishedRun { report, message: self.message.into_message(), context: self.run };
        let runtime = self.runtime.or_else(|| Handle::try_current().ok());
        self.setup.config.on_finish.call(&run, runtime.as_ref());
    }
}
