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
//!
//! # Tested with
//!
//! | other side | version | tests |
//! |---|---|---|
//! | `@modelcontextprotocol/server-everything` | 2026.8.31 | the client: stdio, HTTP, restart, resources, prompts and elicitation |
//! | `mcp-server-time` | 2026.10.19 | the client: 2 tools, 3 calls |
//! | `mcp-server-fetch` | 2026.10.24 | the client: 1 tool, 1 call |
//! | a server on `fastmcp` | 4.2.3 | the client: 4 tools, 4 calls |
//! | `@modelcontextprotocol/client` and `@modelcontextprotocol/sdk` | 2.4.0 and 1.32.2 | the server: 46 tests over HTTP and stdio, on each adapter |
//! | `mcp` for Python | 2.3.0 | the server: 12 tests, on each adapter |
//! | `@modelcontextprotocol/conformance`, server | 0.2.0-alpha.12 | 135 checks of 2026-07-28 and 56 of 2025-11-25 pass; `tests/mcp/suite` names the others |
//! | `@modelcontextprotocol/conformance`, client | 0.2.0-alpha.12 | 31 of 32 scored scenarios of 2026-07-28 and 17 of 18 of 2025-11-25 pass |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod sync;

#[cfg(feature = "server")]
pub use server::{
    Attachments, CompletionRequest, Content, Expose, Prompt, PromptMessage, PromptRequest, Resource,
    ResourceContent, ResourceRequest,
};
