//! A ledger with an assistant that moves money. Small transfers run at once. Larger transfers, and closing an account,
//! wait for an approval. The largest transfers are refused.
//!
//! `tools.rs` has the approvals, `app.rs` finds the user, `book.rs` keeps the journal of all tools that ran, and `chats.rs`
//! the conversations. `main.rs` serves the application.

mod app;
mod book;
mod chats;
#[cfg(test)]
mod tests;
mod tools;

pub use app::{Settings, USER, assistant, journal, principal, router};
pub use book::Book;
