//! The frames of an agent tree over a WebSocket: one JSON object a text message.
//!
//! | client frame | fields |
//! |---|---|
//! | `start-agent` | `prompt` |
//! | `user-response` | `agentId`, `response` |
//! | `call-response` | `agentId`, `queryId`, `approved`, and any of `output`, `arguments`, `reason` |
//! | `user-intervention` | `agentId`, and any of `userContent`, `userComment`, `status` |
//! | `get-agent-tree` | |
//!
//! | server frame | fields | with the extended protocol |
//! |---|---|---|
//! | `agent-state` | `agentId`, `state` | `state.queries` |
//! | `text-delta` | `agentId`, `delta` | |
//! | `user-query` | `agentId`, `prompt` | `queryId`, `call` |
//! | `agent-completed` | | `agentId`, `result`, `usage` |
//! | `error` | `error` | `code`, `agentId` |
//! | `agent-tree` | `agentIds` | |
//!
//! The answer to `get-agent-tree` is one `agent-state` for each agent, parents first, and `agent-tree` with their ids. In the
//! extended protocol, each server frame has a `seq` as well, which counts from 1.
//!
//! # Calls that wait for the user
//!
//! In the extended protocol, a tool can ask the user: for an approval, or with a form. The question is a `user-query` whose
//! `call` has `toolCallId`, `toolName` and `expiresAt`, with the `input` of a call to approve or the `schema` of a form. The
//! state of the agent, which is `waiting-for-user`, has it in `queries` until it is answered. So a client that comes later
//! finds it in the answer to `get-agent-tree`.
//!
//! | answer | `call-response` with |
//! |---|---|
//! | the form is filled in | `approved: true` and the values in `output`, which fit the `schema` |
//! | the call may run | `approved: true`, and `arguments` if the question is `editable` and the user has edited them |
//! | neither | `approved: false`, and a `reason` for the model |
//!
//! Each question takes one answer. Any other one is an `error` that names the field. Without an answer until `expiresAt`, the
//! tool and the model read that there was none.
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
mod query;
mod server;
mod state;

pub use client::{CallResponse, ClientFrame, Intervention, Requested};
pub use core_message::{ContentPart, CoreMessage, MessageContent, ResultPart};
pub use query::{CallQuery, OpenQuery};
pub use server::ServerFrame;
pub use state::{Metadata, NodeState, Status};
