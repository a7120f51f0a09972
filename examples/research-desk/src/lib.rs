//! A research desk: a question is divided among agents that work at the same time, over one WebSocket. The page shows each
//! agent with its status, its text and its questions, and marks the final answer.
//!
//! `cargo run -p research-desk` starts it on `http://127.0.0.1:3001`, with a demo that answers by rules. With
//! `OPENAI_API_KEY`, or with `OPENAI_BASE_URL` of a server that speaks Chat Completions, a model answers.
//! `OMNIASSIST_CONSTRAINED_TOOLS=1` is for a model whose chat template has no tools. `RESEARCH_DESK_CHATS` names a SQLite file,
//! in which the trees of connections with `?chat=` are stored.
//!
//! `agents.rs` has agents that clients reach over HTTP: one asks itself, and one asks two others in a tool.

mod agents;
mod app;
mod demo;
#[cfg(test)]
mod tests;

pub use app::{app, assistant, chats, model};
