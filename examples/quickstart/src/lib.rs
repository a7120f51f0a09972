//! A small back office with an assistant in it: orders, customers and tickets in an SQLite file, a page to work with
//! them, and beside it a chat that calls the back office's functions as tools.
//!
//! Read `tools.rs` to see how functions become tools, `app.rs` for how the assistant is built and mounted, and `demo.rs`
//! for how a model provider is written. `main.rs` serves it: `cargo run -p quickstart -- --help` lists the settings.

mod api;
mod app;
mod config;
mod demo;
mod discovery;
mod model;
mod serving;
mod store;
#[cfg(test)]
mod tests;
mod tools;

pub use api::{HEADERS, is_for_this_machine};
pub use app::{BackOffice, Settings};
pub use config::HELP;
pub use serving::{DRAIN, LAST_WORDS, serve_until, stopped};
