use std::fmt;
use std::future::Future;
use std::sync::Arc;

use omniassist_core::Text;

use super::{SourceState, WithheldTool};
use crate::CancellationToken;
use crate::tool::Tool;

/// The place of a source among the tools of an assistant or an agent. Cloning gives another handle to it.
///
/// A slot does not keep the assistant alive. After the source is detached, and after the assistant is dropped, it does nothing.
#[derive(Clone)]
pub struct SourceSlot {
    registry: Arc<dyn OfferedTools>,
    source: Text,
    detached: CancellationToken,
}

/// The registry of tools, as its slots know it.
pub(in crate::tool) trait OfferedTools: Send + Sync {
    /// Replaces the tools of a source. Returns those that are withheld.
    fn offer(&self, source: &Text, tools: Vec<Tool>, withheld: Vec<WithheldTool>) -> Vec<WithheldTool>;

    /// Sets the state of a source.
    fn set_state(&self, source: &Text, state: SourceState);
}

impl SourceSlot {
    pub(in crate::tool) fn new(
        registry: Arc<dyn OfferedTools>,
        source: Text,
        detached: CancellationToken,
    ) -> Self {
        Self { registry, source, detached }
    }

    /// Offers these tools in place of those that the source offered before, and sets the state to [`SourceState::Ready`]. Runs
    /// that begin later have them. Returns the tools that are withheld, with the reasons; they are logged too.
    ///
    /// Each tool gets the name of the source as prefix. Its schema is checked as that of a tool of the application is.
    pub fn offer(&self, tools: impl IntoIterator<Item = Tool>) -> Vec<WithheldTool> {
        self.offer_with(tools, [])
    }

    /// Offers tools as [`offer`](Self::offer) does, and lists others that the source withholds itself.
    pub fn offer_with(
        &self,
        tools: impl IntoIterator<Item = Tool>,
        withheld: impl IntoIterator<Item = WithheldTool>,
    ) -> Vec<WithheldTool> {
        self.registry.offer(&self.source, tools.into_iter().collect(), withheld.into_iter().collect())
    }

    /// Sets the state. The tools stay offered, so that a call during an outage gives the model an error of the source.
    pub fn set_state(&self, state: SourceState) {
        self.registry.set_state(&self.source, state);
    }

    /// Returns `true` if the source was detached, or the assistant is gone.
    #[must_use]
    pub fn is_detached(&self) -> bool {
        self.detached.is_cancelled()
    }

    /// Waits until the source is detached, or the assistant is gone. A source ends its tasks and connections then.
    pub fn detached(&self) -> impl Future<Output = ()> + Send + 'static {
        self.detached.cancelled()
    }
}

impl fmt::Debug for SourceSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSlot")
            .field("source", &self.source)
            .field("is_detached", &self.is_detached())
            .finish_non_exhaustive()
    }
}
