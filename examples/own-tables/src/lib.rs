//! A help desk that keeps the assistant's conversations in its own two tables, `ticket` and `note`.
//!
//! `store.rs` implements the four methods of `ConversationStore`, and `tables.rs` holds the SQL. `tests/tables.rs`
//! runs the suite that every store must pass. `main.rs` serves an assistant with it.

mod store;
mod tables;

pub use store::OwnTables;
