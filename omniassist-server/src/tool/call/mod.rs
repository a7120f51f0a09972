//! Calls of registered tools, and the hooks around them.

mod hooks;
mod inner_call;
mod registered;
pub(super) mod run;
mod user_form;

pub use hooks::ToolDecision;
pub(crate) use hooks::ToolHooks;
pub use registered::RegisteredTool;
pub(super) use registered::check_name;
pub use run::{RunningTool, ToolInvocation};
pub use user_form::{UserAnswer, UserForm};
