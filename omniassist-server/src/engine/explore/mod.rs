//! The program of an agent that divides its task among others, and the sessions in which users follow it.
//!
//! All agents of a tree are futures within one stream: no task belongs to them, so they end with it, and a slow reader slows
//! them all down.

mod calls;
mod control;
mod decide;
mod journal;
mod node;
mod outbox;
mod program;
mod prompts;
mod query;
mod rules;
mod session;
mod stream;
mod tree;
mod turn;
mod unwritten;
mod written;

pub use query::{QueryUser, UserQuery};
pub use session::{AgentSession, InterventionError};
pub use stream::AgentStream;
