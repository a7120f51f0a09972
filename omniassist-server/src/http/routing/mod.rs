//! The routes of the service, and its mount point.

mod mount;
mod route;
mod run_route;

pub use mount::strip_prefix;
pub(super) use route::{AgentAction, CopilotKitRoute, Route};
pub(super) use run_route::{RunAction, RunRoute};
