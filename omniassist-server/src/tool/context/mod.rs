//! The call that a tool works for: its context, the values of the host, and the updates that it sends to the client.

mod agent_ask;
mod description;
mod from_run;
mod idempotency_key;
mod state;
mod tool_context;
mod unanswered;
mod update;

pub use agent_ask::{AgentAsk, AgentReport};
pub(crate) use agent_ask::{Answered, AskingCall, InnerCall, InnerEnd, InnerTool};
pub use description::ToolDescription;
pub use from_run::FromRun;
pub use state::StateMap;
pub(super) use state::StateNeed;
pub(super) use tool_context::CallContext;
pub use tool_context::ToolContext;
pub(crate) use unanswered::Unanswered;
pub use update::{ToolOutcome, ToolUpdate};
pub(crate) use update::{Update, Updates};
