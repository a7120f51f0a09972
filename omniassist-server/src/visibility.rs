use std::sync::Arc;

use crate::{RunContext, panics};

/// The condition on which a caller sees a tool or an agent.
#[derive(Clone)]
pub(crate) struct Visibility(Arc<dyn Fn(&RunContext) -> bool + Send + Sync>);

impl Visibility {
    pub(crate) fn new(condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(condition))
    }

    /// Returns `true` if the caller sees what has this name. A condition that panics counts as false.
    pub(crate) fn holds(&self, name: &str, caller: &RunContext) -> bool {
        panics::catch("the condition of a visibility", || (self.0)(caller)).unwrap_or_else(|| {
            tracing::error!(name, "a tool or an agent is hidden, because its condition panicked");
            false
        })
    }
}
