use std::sync::Arc;

use omniassist_core::Text;

use crate::{RunContext, panics};

/// The condition on which a caller sees a tool.
#[derive(Clone)]
pub(super) struct Visibility(Arc<dyn Fn(&RunContext) -> bool + Send + Sync>);

impl Visibility {
    pub(super) fn new(condition: impl Fn(&RunContext) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(condition))
    }

    /// Returns `true` if the caller sees the tool. A condition that panics counts as false.
    pub(super) fn holds(&self, tool: &Text, caller: &RunContext) -> bool {
        panics::catch("the condition of a tool's visibility", || (self.0)(caller)).unwrap_or_else(|| {
            tracing::error!(tool = tool.as_str(), "the tool is hidden, because its condition panicked");
            false
        })
    }
}
