//! The behaviour that the assistant needs of a store, as functions that check it.
//!
//! Each function creates an empty store and panics if it behaves otherwise. To check a store:
//!
//! 1. Add the crate to the dev-dependencies, with the cargo feature `testing`.
//! 2. Implement [`Factory`] for a type of the test.
//! 3. Call [`all`] for a store of runs and conversations, or [`conversations::all`] for a store of conversations alone, in
//!    a test with a runtime of tokio. To find a failure, call the functions of a module alone: `all` ends at the first one.
//!
//! [`keys::all`] checks in addition a store that keeps the keys of encrypted conversations, and [`budgets::all`] a token
//! budget.
//!
//! `examples/own-tables` in the repository checks a [`ConversationStore`] over two tables of an application.
//!
//! ```
//! use std::time::Duration;
//!
//! use omniassist_server::store::MemoryStore;
//! use omniassist_server::testing::store::{self, Factory};
//!
//! struct InMemory;
//!
//! impl Factory for InMemory {
//!     type Store = MemoryStore;
//!
//!     async fn create(&self) -> MemoryStore {
//!         MemoryStore::new()
//!     }
//!
//!     // The test's clock is paused. A store with the clock of its database moves its stored times back instead.
//!     async fn advance(&self, _store: &MemoryStore, by: Duration) {
//!         tokio::time::advance(by).await;
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?.block_on(async {
//! store::all(&InMemory).await;
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "that is how a test fails"
)]

pub mod begin;
pub mod budgets;
mod case;
pub mod components;
pub mod conversations;
pub mod deletion;
mod factory;
pub mod histories;
pub mod journal;
pub mod keys;
pub mod leases;
pub mod scopes;
pub mod settle;
pub mod signals;
pub mod usage;

pub use factory::Factory;

use crate::store::{ConversationStore, RunStore};

/// Checks everything.
pub async fn all<F: Factory<Store: RunStore + ConversationStore>>(factory: &F) {
    begin::all(factory).await;
    journal::all(factory).await;
    leases::all(factory).await;
    signals::all(factory).await;
    settle::all(factory).await;
    conversations::all(factory).await;
    scopes::all(factory).await;
    deletion::all(factory).await;
    usage::all(factory).await;
    histories::runs_have_an_order(factory).await;
}
