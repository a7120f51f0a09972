use std::sync::Arc;
use std::task::{Context, Poll};

use omniassist_core::{Limits, RunEvent, Text};

use crate::run_context::ClientEvents;
use crate::tool::{Update, Updates};

/// The client's id of a run, in the extensions of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRun(pub(crate) Text);

/// The events that host code sends to the client of a run, with the bounds of a tool's events.
#[derive(Clone)]
pub(in crate::engine) struct ClientQueue(Arc<Updates>);

impl ClientEvents for Updates {
    fn send(&self, event: RunEvent) -> bool {
        self.event(event)
    }
}

impl ClientQueue {
    pub(in crate::engine) fn new(limits: &Limits) -> Self {
        Self(Arc::new(Updates::new(limits.max_unread_tool_bytes)))
    }

    pub(in crate::engine) fn sender(&self) -> Arc<dyn ClientEvents> {
        Arc::<Updates>::clone(&self.0)
    }

    /// Returns the next event, and registers the task to wake for it if there is none.
    pub(in crate::engine) fn poll(&self, cx: &Context<'_>) -> Poll<RunEvent> {
        match self.0.poll(cx) {
            Poll::Ready(Update::Event(event)) => Poll::Ready(event),
            _ => Poll::Pending,
        }
    }

    pub(in crate::engine) fn pop(&self) -> Option<RunEvent> {
        match self.0.pop() {
            Some(Update::Event(event)) => Some(event),
            _ => None,
        }
    }
}
