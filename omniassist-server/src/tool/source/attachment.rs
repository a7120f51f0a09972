use std::collections::BTreeMap;
use std::sync::Arc;

use omniassist_core::Text;

use super::{Filter, SourceState, ToolSource, WithheldTool};
use crate::CancellationToken;

/// The attached sources by name.
pub(in crate::tool) type Attachments = BTreeMap<Text, Attachment>;

/// A source that is attached to a registry. Dropping it detaches the source.
pub(in crate::tool) struct Attachment {
    pub(in crate::tool) source: Arc<dyn ToolSource>,
    pub(in crate::tool) filter: Filter,
    pub(in crate::tool) state: SourceState,
    pub(in crate::tool) withheld: Vec<WithheldTool>,
    detached: CancellationToken,
}

impl Attachment {
    pub(in crate::tool) fn new(
        source: Arc<dyn ToolSource>,
        filter: Filter,
        detached: CancellationToken,
    ) -> Self {
        Self { source, filter, state: SourceState::default(), withheld: Vec::new(), detached }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.detached.cancel();
    }
}
