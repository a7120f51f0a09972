//! The [Model Context Protocol](https://modelcontextprotocol.io) (MCP) for OmniAssist.
//!
//! | feature | content |
//! |---|---|
#![cfg_attr(
    feature = "client",
    doc = "| `client` | [`client::McpServer`]: the tools of MCP servers as tools of an assistant |"
)]
#![cfg_attr(
    not(feature = "client"),
    doc = "| `client` | the tools of MCP servers as tools of an assistant |"
)]
#![cfg_attr(
    feature = "server",
    doc = "| `server` | [`Expose`]: the tools and the agents of an assistant for clients of MCP |"
)]
#![cfg_attr(
    not(feature = "server"),
    doc = "| `server` | the tools and the agents of an assistant for clients of MCP |"
)]
//!
//! No feature is on by default. The types of `rmcp`, which speaks the protocol, are not part of this crate's interface.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{
    Attachments, CompletionRequest, Content, Expose, Prompt, PromptMessage, PromptRequest, Resource,
    ResourceContent, ResourceRequest,
};
