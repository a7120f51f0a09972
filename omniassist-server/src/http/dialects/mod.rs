//! The routes of clients with a format of their own.

pub(super) mod ag_ui;
mod bridge;
pub(super) mod completion;
pub(super) mod connect;
pub(super) mod copilotkit;
mod copilotkit_threads;
pub(super) mod mcp;
pub(super) mod object;
pub(super) mod openai;
mod suggestions;
