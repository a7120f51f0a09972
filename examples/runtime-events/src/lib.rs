//! A backend whose agents are run by a runtime of its own, served to `useChat` as it is.
//!
//! `player.rs` stands for the runtime: it implements the one trait that is needed. `app.rs` mounts it, `main.rs` serves
//! it.

mod app;
mod player;
#[cfg(test)]
mod tests;

pub use app::{router, runs, transports};
pub use player::Player;
