//! The part of OmniAssist without I/O: the data model, the run loop as a state machine, the context compressor,
//! transcript repair, codecs, and the wire dialects as pure functions.
//!
//! Depend on this crate to write a dialect, a store or a test without an async runtime. To add an assistant to a
//! backend, depend on one of the adapters (`omniassist-axum`), which re-exports what it needs.
//!
//! This crate reads no clock, opens no socket, spawns no thread and generates no random number: time and ids are
//! parameters. Every path of a run can therefore be tested without waiting.
//!
//! # Path of a run
//!
//! ```text
//! request bytes → dialect decode → RunRequest → machine (LlmEvent in, RunEvent out) → dialect encode → bytes
//! ```
//!
//! - [`message`]: the parts of a conversation, and the lenient reader of posted messages.
//! - [`transcript`]: the form of a conversation that model providers accept, and its repair.
//! - [`run`]: the run loop. It takes model events and tool results, and returns the next action.
//! - [`event`]: the two event types: [`LlmEvent`], from a model, and [`RunEvent`], from a run.
//! - [`context`]: application context compressed into a bounded, delimited block.
//! - [`filter`]: filters of the text that a model writes.
//! - [`history`]: windows that limit the part of a long conversation sent to a model.
//! - [`tool_search`]: the search among many tools.
//! - [`sse`]: the reader of server-sent events.
//! - `partial_json` (feature `partial-json`): the reader of JSON that arrives in parts.
//! - [`dialect`]: the wire formats of chat clients.
//! - [`journal`]: the log of a run, its replay, and the recovery of a run from it.
//! - [`bridge`]: the events of another agent runtime, turned into those of a run.
//! - [`agent_tree`]: the frames of an agent tree over a WebSocket.
//! - [`tree`]: the budget of agents that ask other agents.
//! - [`verify`]: verification of the parts of a conversation that only the server can have written.
//! - [`canonical`]: the canonical text of a JSON value.
//! - [`characters`]: characters that a person does not see, and cuts between characters.
//! - [`typescript`]: declarations of messages and tools for a front end's compiler.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod agent_tree;
pub mod bridge;
pub mod canonical;
pub mod characters;
pub mod context;
mod day;
pub mod dialect;
mod error;
pub mod event;
pub mod filter;
pub mod history;
pub mod journal;
mod json;
pub mod json_guard;
mod json_tokens;
mod kept_answer;
mod limits;
pub mod message;
#[cfg(feature = "partial-json")]
pub mod partial_json;
mod payload;
mod provider_metadata;
pub mod run;
pub mod secret;
pub mod sse;
mod text;
mod tool;
pub mod tool_search;
pub mod transcript;
pub mod tree;
pub mod typescript;
pub mod verify;

pub use day::Day;
pub use error::{Error, ErrorCode, Result};
pub use event::{EventBuf, FinishReason, LlmEvent, RunEvent, Usage};
pub use json::JsonText;
pub use kept_answer::{AnswerHandle, KeptAnswer};
pub use limits::Limits;
pub use message::{ContextMessage, FunctionCall, Message};
pub use payload::{LlmPayload, ModelOptions, ReasoningEffort, ToolChoice};
pub use run::RunRequest;
pub use text::Text;
pub use tool::{
    InvalidToolName, ToolApp, ToolExample, ToolSide, ToolSpec, check_tool_name, is_inherited_in_javascript,
};
pub use transcript::TranscriptItem;
pub use verify::{Claim, HistoryPart, TrustHistory, Verdict, Verifier};
