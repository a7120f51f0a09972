//! A client's request for a run, and the run that it may begin.

use omniassist_core::Text;

use crate::Principal;
use crate::engine::settings::WhenBusy;
use crate::quota::Share;

/// The key of a chat: its principal, and the client's id of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::engine) struct ChatKey {
    pub(in crate::engine) principal: Principal,
    pub(in crate::engine) chat_id: Text,
}

/// The post that a run answers. An equal post is a repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct Post {
    pub(in crate::engine) chat: ChatKey,
    pub(in crate::engine) digest: u64,
}

/// A client's request for a run.
pub(in crate::engine) struct Wanted {
    pub(in crate::engine) principal: Principal,
    /// `None` if the run belongs to no chat.
    pub(in crate::engine) post: Option<Post>,
    pub(in crate::engine) when_busy: WhenBusy,
}

/// A run that a client may begin.
pub(in crate::engine) struct Admitted {
    pub(super) wanted: Wanted,
    pub(super) slot: Option<Share>,
}

impl Admitted {
    pub(in crate::engine) fn is_of(&self, principal: &Principal) -> bool {
        self.wanted.principal == *principal
    }

    pub(in crate::engine) fn now_for(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    /// Releases the slot, for a run that waits in a queue. The run takes one when it begins.
    pub(in crate::engine) fn release_slot(&mut self) {
        self.slot = None;
    }
}
