//! Tests of the MCP server over real sockets, with requests as clients send them.

mod agents;
mod approvals;
mod attachments;
mod attacks;
mod calls;
mod edge;
pub(crate) mod host;
mod leaving;
mod limits;
mod lists;
mod prompts;
mod refused_state;
mod resources;
