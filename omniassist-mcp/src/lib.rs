//! The Model Context Protocol (MCP) for an [OmniAssist](https://docs.rs/omniassist-server) assistant.
//!
//! - Feature `client`, module `client`: the tools of MCP servers become tools of the assistant.

#[cfg(feature = "client")]
pub mod client;
