//! A ledger with an assistant that moves money, and may not do everything on its own: small transfers run, larger ones
//! and the closing of an account wait for somebody's approval, and the largest are refused.
//!
//! Read `tools.rs` for the approvals, `app.rs` for whose request it is, and `book.rs` for the journal in which every
//! tool that ran stands. `main.rs` serves it.

mod app;
mod book;
#[cfg(test)]
mod tests;
mod tools;

pub use app::{Settings, USER, assistant, journal, principal, router};
pub use book::Book;
