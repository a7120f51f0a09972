//! A small back office with an assistant in it. It keeps orders, customers and tickets in an SQLite file. A page shows
//! them, and a chat on the page calls functions of the back office as tools.
//!
//! The source has two parts. `back_office/` is the application without an assistant. `assistant/` is the code that was
//! added for the assistant: begin with `assistant/tools`, which turns functions into tools, and `assistant/mod.rs`,
//! which builds the assistant. `app.rs` mounts the one in the other, and `serve.rs` serves both.
//!
//! `cargo run -p quickstart` starts it; `cargo run -p quickstart -- --help` lists the settings.

mod app;
mod assistant;
mod back_office;
mod serve;
#[cfg(test)]
mod tests;

pub use app::{BackOffice, Settings};
pub use assistant::{HELP, explain};
pub use back_office::{Customer, HEADERS, Money, Order, Refund, Store, is_for_this_machine};
pub use serve::{DRAIN, LAST_WORDS, serve_until};
