//! The frames of an agent tree over a WebSocket: one JSON object a text message.
//!
//! | client frame | fields |
//! |---|---|
//! | `start-agent` | `prompt` |
//! | `user-response` | `agentId`, `response` |
//! | `user-intervention` | `agentId`, and any of `userContent`, `userComment`, `status` |
//! | `get-agent-tree` | |
//!
//! | server frame | fields | with the extended protocol |
//! |---|---|---|
//! | `agent-state` | `agentId`, `state` | |
//! | `text-delta` | `agentId`, `delta` | |
//! | `user-query` | `agentId`, `prompt` | `queryId` |
//! | `agent-completed` | | `agentId`, `result`, `usage` |
//! | `error` | `error` | `code`, `agentId` |
//! | `agent-tree` | `agentIds` | |
//!
//! The answer to `get-agent-tree` is one `agent-state` for each agent, parents first, and `agent-tree` with their ids. In the
//! extended protocol, each server frame has a `seq` as well, which counts from 1.
//!
//! ```
//! use omniassist_core::agent_tree::{ClientFrame, ServerFrame};
//!
//! let frame = ClientFrame::read(r#"{"type":"start-agent","prompt":"Compare two lamps"}"#)?;
//! assert_eq!(frame, ClientFrame::StartAgent { prompt: "Compare two lamps".into() });
//!
//! let delta = ServerFrame::TextDelta { agent_id: "a1".into(), delta: "One".into() };
//! assert_eq!(delta.to_json(), r#"{"type":"text-delta","agentId":"a1","delta":"One"}"#);
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod client;
mod core_message;
mod server;
mod state;

pub use client::{ClientFrame, Intervention, Requested};
pub use core_message::{ContentPart, CoreMessage, MessageContent, ResultPart};
pub use server::ServerFrame;
pub use state::{Metadata, NodeState, Status};
