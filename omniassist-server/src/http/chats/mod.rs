//! The routes of runs and conversations: posts of the AI SDK, and what clients do with a stored chat.

pub(super) mod chat_agents;
mod position;
pub(super) mod posted;
mod question;
pub(super) mod resume;
pub(super) mod stored_run;
pub(super) mod threads;

pub use posted::PostedRun;
