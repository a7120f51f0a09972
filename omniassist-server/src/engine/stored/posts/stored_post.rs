use std::sync::Arc;

use omniassist_core::Text;

use crate::Principal;
use crate::engine::WhenBusy;
use crate::engine::stores::Stores;
use crate::store::Scope;

/// A post to a stored conversation.
pub(in crate::engine::stored) struct StoredPost<'a> {
    pub(in crate::engine::stored) stores: &'a Arc<Stores>,
    pub(in crate::engine::stored) scope: Scope,
    pub(in crate::engine::stored) chat: Text,
    pub(in crate::engine::stored) principal: &'a Principal,
    pub(in crate::engine::stored) when_busy: WhenBusy,
}
