use std::fmt;
use std::sync::Arc;

use omniassist_core::{JsonText, Text};

use super::queue::{Queue, Ticket};
use super::{AuditAction, AuditEvent, AuditSink, AuditedCall};
use crate::{Principal, RunContext};

/// The effect of an [`AuditSink`] that is slow or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenSlow {
    /// Runs and tools wait. A run calls no model and a tool does not run before its record is accepted. The run's deadline
    /// and the tool's timeout include that time. While 10,000 records wait, clients' runs are refused with 503 `overloaded`,
    /// and the records of these refusals are dropped and [counted](AuditLog::dropped).
    #[default]
    Wait,
    /// Nothing waits. While this many records wait for the sink, further ones are dropped and [counted](AuditLog::dropped).
    Drop {
        /// The number of records.
        capacity: usize,
    },
}

/// The number of waiting records at which a log that waits takes no further runs.
const FULL: usize = 10_000;

/// An audit log for an assistant; see [`audit`](crate::audit). A clone is another handle to the same log, and several
/// assistants can share one.
#[derive(Clone)]
#[must_use = "a log does nothing until it is given to a builder"]
pub struct AuditLog {
    queue: Arc<Queue>,
    records_arguments: bool,
    when_slow: WhenSlow,
}

impl AuditLog {
    /// Creates a log that writes to this sink.
    pub fn new(sink: impl AuditSink) -> Self {
        let queue = Arc::new(Queue::new(Box::new(sink)));
        Self { queue, records_arguments: false, when_slow: WhenSlow::default() }
    }

    /// Sets whether records contain the arguments of tool calls, which may be personal data or secrets. Default: `false`;
    /// records contain a digest of the arguments.
    pub fn record_arguments(mut self, record: bool) -> Self {
        self.records_arguments = record;
        self
    }

    /// Sets the effect of a sink that is slow or fails. Default: [`WhenSlow::Wait`].
    pub fn when_slow(mut self, when_slow: WhenSlow) -> Self {
        self.when_slow = when_slow;
        self
    }

    /// Returns the number of records that were dropped. With [`WhenSlow::Wait`], these are refusals only.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Waits until the sink has accepted every record so far. Dropping the future only stops the waiting. Must be called
    /// within a tokio runtime.
    pub async fn flush(&self) {
        self.queue.flush().await;
    }

    /// Adds a record. The ticket waits as the log does.
    pub(crate) fn push(
        &self,
        principal: &Principal,
        chat_id: Option<&Text>,
        run: Option<&RunContext>,
        action: AuditAction,
    ) -> Ticket {
        let event = AuditEvent::new(principal.clone(), chat_id.cloned(), run, action);
        let capacity = match (self.when_slow, &event.action) {
            (WhenSlow::Wait, AuditAction::RunRefused { .. }) => FULL,
            (WhenSlow::Wait, _) => usize::MAX,
            (WhenSlow::Drop { capacity }, _) => capacity,
        };
        let number = self.queue.push(event, capacity);
        match self.when_slow {
            WhenSlow::Wait => Ticket::new(&self.queue, number),
            WhenSlow::Drop { .. } => Ticket::accepted_already(),
        }
    }

    /// Adds a record of a run.
    pub(crate) fn push_for(&self, run: &RunContext, action: AuditAction) -> Ticket {
        self.push(run.principal(), run.chat_id(), Some(run), action)
    }

    /// Returns `true` if no further run may begin, because its records would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        self.when_slow == WhenSlow::Wait && self.queue.len() >= FULL
    }

    pub(crate) fn call(&self, call_id: &Text, tool: &Text, arguments: &JsonText) -> AuditedCall {
        AuditedCall::new(call_id.clone(), tool.clone(), arguments, self.records_arguments)
    }
}

impl<S: AuditSink> From<S> for AuditLog {
    fn from(sink: S) -> Self {
        Self::new(sink)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLog")
            .field("records_arguments", &self.records_arguments)
            .field("when_slow", &self.when_slow)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
