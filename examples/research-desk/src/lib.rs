//! A research desk: a question is divided among agents that work at the same time, over one WebSocket. The page shows each
//! agent with its status, its text and its questions, and marks the final answer.
//!
//! `cargo run -p research-desk` starts it on `http://127.0.0.1:3001`, with a demo that answers by rules. With
//! `OPENAI_API_KEY`, or with `OPENAI_BASE_URL` of a server that speaks Chat Completions, a model answers.

mod app;
mod demo;
#[cfg(test)]
mod tests;

pub use app::{app, assistant, model};
