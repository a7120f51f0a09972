//! Agents that customers put together from nodes and edges, in three tables of SQLite: `agent`, `node` and `edge`.
//!
//! `loader.rs` implements `AgentLoader` over them, and `main.rs` serves an assistant with it.

mod loader;

pub use loader::TableAgents;
