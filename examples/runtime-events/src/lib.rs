//! A backend with its own agent runtime, for an unchanged `useChat`.
//!
//! `player.rs` plays the part of the runtime and implements its trait. `app.rs` mounts it, and `main.rs` serves it.

mod app;
mod player;
#[cfg(test)]
mod tests;

pub use app::{router, runs, transports};
pub use player::Player;
