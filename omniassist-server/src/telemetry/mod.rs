//! Spans of runs, with the names of OpenTelemetry's conventions for generative AI. They use `tracing` only; the host
//! exports them.
//!
//! ```text
//! invoke_agent                the run
//! └─ step                     a model call and the tools that it calls
//!    ├─ chat {model}          the model call
//!    └─ execute_tool {name}   one tool call, in its own task
//! ```
//!
//! The summary of a long context has a `chat` span under the run. A span is entered only while its work is polled. Nothing
//! is recorded for a delta, and no span is created without a subscriber that enables it.

mod call;
mod content;
mod finish_reason;
mod names;
mod provider;
mod run;
mod tool;
mod usage;

pub(crate) use call::{CallUsage, ModelCall};
pub(crate) use provider::provider_name;
pub(crate) use run::RunTrace;
pub(crate) use tool::ToolTrace;
