//! Resources and prompts of a server, for the host. `tools` offers the resources to its model too, if the host says so.

mod content;
mod listed;
mod reading;
mod tools;

pub use content::{McpBody, McpContent, McpMessage};
pub use listed::{McpArgument, McpPrompt, McpResource};
pub(super) use reading::{get_prompt, list_prompts, list_resources, read_resource};
pub(super) use tools::tools;
