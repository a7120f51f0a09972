use super::{AuditEvent, AuditFuture, AuditSink};

/// An [`AuditSink`] that writes each record as a `tracing` event of level `INFO` and target `omniassist::audit`.
///
/// The fields are `action`, `principal`, `chat_id` and `run_id`, and `record` with the whole record as JSON. The
/// subscriber decides where to write them, and a filter may drop them.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TracingSink;

impl TracingSink {
    /// Creates the sink.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl AuditSink for TracingSink {
    fn record<'a>(&'a self, events: &'a [AuditEvent]) -> AuditFuture<'a> {
        Box::pin(async move {
            for event in events {
                tracing::info!(
                    target: "omniassist::audit",
                    action = event.action.as_str(),
                    principal = event.principal.known_id(),
                    chat_id = event.chat_id.as_deref(),
                    run_id = event.run_id.as_deref(),
                    record = serde_json::to_string(event)?,
                );
            }
            Ok(())
        })
    }
}
