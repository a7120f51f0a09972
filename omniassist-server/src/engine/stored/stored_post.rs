use std::sync::Arc;

use omniassist_core::Text;

use crate::Principal;
use crate::engine::WhenBusy;
use crate::engine::stores::Stores;
use crate::store::Scope;

/// A post to a stored conversation.
pub(super) struct StoredPost<'a> {
    pub(super) stores: &'a Arc<Stores>,
    pub(super) scope: Scope,
    pub(super) chat: Text,
    pub(super) principal: &'a Principal,
    pub(super) when_busy: WhenBusy,
}
