use serde::{Deserialize, Serialize};

use super::{BlockId, RunEvent};
use crate::Text;
use crate::provider_metadata::ProviderMetadata;

/// The two kinds of blocks that a run writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BlockKind {
    Text,
    Reasoning,
}

impl BlockKind {
    pub(crate) fn start(self, id: BlockId) -> RunEvent {
        match self {
            Self::Text => RunEvent::TextStart { id },
            Self::Reasoning => RunEvent::ReasoningStart { id },
        }
    }

    pub(crate) fn delta(self, id: BlockId, delta: Text) -> RunEvent {
        match self {
            Self::Text => RunEvent::TextDelta { id, delta },
            Self::Reasoning => RunEvent::ReasoningDelta { id, delta },
        }
    }

    pub(crate) fn end(self, id: BlockId, metadata: Option<ProviderMetadata>) -> RunEvent {
        match self {
            Self::Text => RunEvent::TextEnd { id, metadata },
            Self::Reasoning => RunEvent::ReasoningEnd { id, metadata },
        }
    }
}
