//! Deferred tools: the built-in tool that finds them, and those that a conversation has loaded.

mod loaded_tools;
mod tool_search;

pub(crate) use loaded_tools::LoadedTools;
pub(crate) use tool_search::{DeferAbove, TOOL_SEARCH};
pub(super) use tool_search::{Found, MAX_FOUND, Search};
