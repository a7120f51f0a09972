//! The part of OmniAssist that needs no operating system: the data model, the run loop as a state machine, the
//! context compressor, transcript repair, the SSE and JSON codecs, and the wire dialects as pure functions.
//!
//! Depend on this crate to write a dialect, a store or a test that must not pull in a runtime. To put an assistant
//! into a backend, depend on one of the adapters (`omniassist-axum`), which re-exports what that needs.
//!
//! Nothing here reads a clock, opens a socket, spawns a thread or draws a random number: time and ids come in as
//! parameters. That is what lets every path of a run be tested without waiting for anything.
//!
//! # The way of a run
//!
//! ```text
//! request bytes → dialect decode → RunRequest → machine (LlmEvent in, RunEvent out) → dialect encode → bytes
//! ```
//!
//! - [`message`]: what a conversation is made of, and the lenient reader of posted messages.
//! - [`transcript`]: the legal form of a conversation that a model provider accepts, and its repair.
//! - [`run`]: the run loop. It is fed model events and tool results and says what to do next.
//! - [`event`]: the only two event types: [`LlmEvent`] (what a model says) and [`RunEvent`] (what a run does).
//! - [`context`]: application context compressed into a bounded, delimited block.
//! - [`sse`]: server-sent events in both directions.
//! - [`dialect`]: the wire formats that chat clients speak.
//! - [`bridge`]: the events of another agent runtime, turned into those of a run.
//! - [`verify`]: what only the server can have written, judged before a run begins.
//! - [`canonical`]: one text for every JSON value, however it was spelled.
//! - [`typescript`]: declarations of messages and tools for a front end's compiler.

pub mod bridge;
pub mod canonical;
pub mod context;
pub mod dialect;
mod error;
pub mod event;
mod json;
pub mod json_guard;
pub mod json_scan;
mod limits;
pub mod message;
#[cfg(feature = "partial-json")]
pub mod partial_json;
mod payload;
pub mod run;
pub mod sse;
mod text;
mod tool;
pub mod transcript;
pub mod typescript;
pub mod verify;

pub use error::{Error, ErrorCode, Result};
pub use event::{EventBuf, FinishReason, LlmEvent, RunEvent, Usage};
pub use json::JsonText;
pub use limits::Limits;
pub use message::{ContextMessage, FunctionCall, Message};
pub use payload::{LlmPayload, ModelOptions, ReasoningEffort, ToolChoice};
pub use run::RunRequest;
pub use text::Text;
pub use tool::{
    InvalidToolName, ToolExample, ToolSide, ToolSpec, check_tool_name, is_inherited_in_javascript,
};
pub use transcript::TranscriptItem;
pub use verify::{Claim, HistoryPart, TrustHistory, Verdict, Verifier};
