//! Histories of concurrent calls: each has the answers of some order, one call after the other, in which a call that ended
//! before another began comes first.
//!
//! A [`MemoryStore`](crate::store::MemoryStore) says which answers an order has. The calls are random; a failure shows them,
//! and the seed with which [`check_runs`] and [`check_conversations`] repeat them.

mod conversations;
mod order;
mod runs;

pub use conversations::check_conversations;
pub use runs::check_runs;

use super::Factory;
use crate::store::{ConversationStore, RunStore};

/// The number of histories.
const HISTORIES: u64 = 12;

/// Checks all of this module.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    runs_have_an_order(factory).await;
    conversations_have_an_order(factory).await;
}

/// Appends, claims, ends and signals of one run by several instances have an order.
pub async fn runs_have_an_order<F: Factory<Store: RunStore>>(factory: &F) {
    for _ in 0..HISTORIES {
        check_runs(factory, fastrand::u64(..)).await;
    }
}

/// Changes and deletions of one conversation have an order.
pub async fn conversations_have_an_order<F: Factory<Store: ConversationStore>>(factory: &F) {
    for _ in 0..HISTORIES {
        check_conversations(factory, fastrand::u64(..)).await;
    }
}
