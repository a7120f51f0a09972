//! Tools: plain async functions of the host that a model can call.
//!
//! A [`Tool`] is a name, a description for the model and an async function. The function's parameters are extractors
//! ([`FromToolCall`]). [`Args<T>`] holds the arguments of the model, and the JSON Schema is generated from `T`. The other
//! parameters come from the host. The function returns `Result<T, E>` with a `T` that serialises. No macro is needed.
//!
//! ```
//! use std::sync::Arc;
//!
//! use omniassist_server::Principal;
//! use omniassist_server::tool::{Args, Json, State, Tool, ToolError};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct OrderQuery {
//!     /// The order's number, such as `A-17`.
//!     number: String,
//! }
//!
//! #[derive(Serialize)]
//! struct Order {
//!     number: String,
//!     status: &'static str,
//! }
//!
//! #[derive(Clone)]
//! struct Db(Arc<[String]>);
//!
//! async fn order_status(
//!     Args(query): Args<OrderQuery>,
//!     State(db): State<Db>,
//!     user: Principal,
//! ) -> Result<Json<Order>, ToolError> {
//!     if user.is_anonymous() {
//!         return Err(ToolError::new("Please sign in to see your orders."));
//!     }
//!     if !db.0.contains(&query.number) {
//!         return Err(ToolError::new(format!("There is no order {}.", query.number)));
//!     }
//!     Ok(Json(Order { number: query.number, status: "on its way" }))
//! }
//!
//! let tool = Tool::new("order_status", "Look up an order by its number", order_status)
//!     .example("Where is A-17?", serde_json::json!({ "number": "A-17" }));
//! ```
//!
//! | Parameter | Value | If it is missing |
//! |---|---|---|
//! | [`Args<T>`] | the model's arguments | a tool error that names what does not fit |
//! | [`State<T>`] | the host's value of this type | registration fails |
//! | [`Extension<T>`] | a value of the request's extensions | the call fails, and the log names the type |
//! | `Option<Extension<T>>` | the same | `None` |
//! | [`Principal`](crate::Principal) | the user of the run | anonymous |
//! | [`ToolContext`] | the call: id, cancellation, progress, run | |
//! | [`RunContext`](crate::RunContext) | the run: chat, messages, app context, extensions | |
//! | [`CancellationToken`](crate::CancellationToken) | is cancelled with the call | |
//! | [`Agents`] | the agents that the tool may ask | |
//! | [`CallId`] | id of the call | |
//! | [`ChatId`] | id of the chat | a tool error |
//! | `Option<ChatId>` | the same | `None` |
//!
//! A type of the host becomes a parameter with [`FromToolCall`].
//!
//! A front-end tool ([`Tool::front_end`]) has a schema and no function: the client runs it.
//!
//! # Requirements for a tool
//!
//! - Tools of one step run at the same time, each in its own task. So do several calls of one tool.
//! - A call is cancelled when the client leaves. Its future is dropped at an await, at the latest
//!   [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) after its token was cancelled. Work that
//!   must not stop before its end needs its own task (`tokio::spawn`).
//! - A server can stop at any time. When a stored run is recovered, a call that was under way is not run again unless its
//!   tool is [`read_only`](Tool::read_only) or [`idempotent`](Tool::idempotent).
//! - Work that blocks a thread needs `tokio::task::spawn_blocking`: a blocked thread cannot be aborted, and the runtime
//!   has few threads.
//! - The model writes the arguments, and every text that the model reads can influence them. Check that the
//!   [`Principal`](crate::Principal) is allowed to do the work.

mod call;
mod context;
mod definition;
mod error;
mod extract;
mod json;
mod output;
mod registry;
pub(crate) mod schema;
mod search;
pub mod source;
pub(crate) mod typed;

pub(crate) use call::ToolHooks;
pub use call::{RegisteredTool, RunningTool, ToolDecision, ToolInvocation, UserAnswer, UserForm};
pub use context::{
    AgentAsk, AgentReport, FromRun, StateMap, ToolContext, ToolDescription, ToolOutcome, ToolUpdate,
};
pub(crate) use context::{Answered, AskingCall, InnerCall, InnerEnd, InnerTool, Unanswered, Update, Updates};
pub use definition::{
    Approval, ApprovalDecision, AsyncResult, BrowserTools, Environment, IntoToolError, IntoToolOutput,
    TextArea, Tool, ToolFuture, ToolHandler, ToolOutput, ToolParameters,
};
pub(crate) use definition::{ComponentParts, WriteText, up_to_8_types};
pub use error::ToolError;
pub use extract::{Agents, Args, CallId, ChatId, Extension, FromToolCall, IntoTask, State, ToolArguments};
pub use json::Json;
pub(crate) use output::cap_text;
pub use registry::{ToolSnapshot, Tools};
pub(crate) use search::{DeferAbove, LoadedTools, TOOL_SEARCH};
