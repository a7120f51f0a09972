//! Tools: plain async functions of the host that a model can call.
//!
//! A [`Tool`] is a name, a description for the model and an async function. The function's parameters are extractors
//! ([`FromToolCall`]): [`Args<T>`] is what the model gives, and its type is where the JSON Schema comes from; the other
//! parameters come from the host. It returns `Result<T, E>` with a `T` that serialises. No macro is needed.
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
//! | Parameter | What it is | When there is none |
//! |---|---|---|
//! | [`Args<T>`] | the model's arguments | the model is told what does not fit |
//! | [`State<T>`] | the host's value of this type | registration fails |
//! | [`Extension<T>`] | a value of the request's extensions | a tool error that names the type |
//! | `Option<Extension<T>>` | the same | `None` |
//! | [`Principal`](crate::Principal) | who the run is for | anonymous |
//! | [`ToolContext`] | the call: id, cancellation, progress, run | |
//! | [`RunContext`](crate::RunContext) | the run: chat, messages, app context, extensions | |
//! | [`CancellationToken`](crate::CancellationToken) | fires when the call is no longer wanted | |
//! | [`CallId`] | id of the call | |
//! | [`ChatId`] | id of the chat | a tool error |
//! | `Option<ChatId>` | the same | `None` |
//!
//! A front-end tool ([`Tool::front_end`]) has a schema and no function: the client runs it.
//!
//! # What a tool must expect
//!
//! - Tools of one step run at the same time, each in its own task; so do calls of the same tool.
//! - It is cancelled when the client leaves: its future is dropped at an await, at the latest
//!   [`Limits::tool_cancel_grace`](omniassist_core::Limits::tool_cancel_grace) after its token fired. What must not be
//!   left half done belongs into a task of its own (`tokio::spawn`).
//! - Work that blocks a thread belongs into `tokio::task::spawn_blocking`: a blocked thread cannot be aborted, and the
//!   runtime has few of them.
//! - The model writes the arguments, and whoever writes to the model can make it write them: check that the
//!   [`Principal`](crate::Principal) may do what is asked.

mod approval;
mod context;
mod definition;
mod error;
mod extract;
mod form;
mod handler;
mod json;
mod label;
mod output;
mod registered;
mod registry;
mod run;
pub(crate) mod schema;
mod state;
#[cfg(test)]
mod tests;
mod update;

pub use approval::{Approval, ApprovalDecision};
pub use context::ToolContext;
pub use definition::Tool;
pub use error::ToolError;
pub use extract::{Args, CallId, ChatId, Extension, FromToolCall, State, ToolArguments, ToolDescription};
pub use handler::{
    IntoToolError, IntoToolFuture, IntoToolOutput, ToolFuture, ToolHandler, ToolOutput, ToolParameters,
};
pub use json::Json;
pub use registered::RegisteredTool;
pub use registry::{ToolSnapshot, Tools};
pub use run::{RunningTool, ToolInvocation};
pub use state::StateMap;
pub use update::{ToolOutcome, ToolUpdate};
