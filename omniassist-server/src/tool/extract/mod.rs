//! The parameters of a tool function.

mod agents;
mod args;
mod request;
mod run;
mod state;

pub use agents::{Agents, IntoTask};
pub use args::{Args, ToolArguments};
pub use request::{CallId, ChatId, Extension};
pub use state::State;

use super::{ToolContext, ToolDescription, ToolError};

/// A parameter of a tool function, made from the call. One that needs no call can implement
/// [`FromRun`](super::FromRun) too.
///
/// Implement it for a type of the host:
///
/// ```
/// use omniassist_server::tool::{Extension, FromToolCall, Tool, ToolContext, ToolError};
///
/// struct Tenant(String);
///
/// impl FromToolCall for Tenant {
///     fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
///         let name = call.run().principal().id().split('@').nth(1);
///         name.map(|name| Self(name.to_owned())).ok_or_else(|| ToolError::new("Please sign in first."))
///     }
/// }
///
/// async fn stock(tenant: Tenant) -> Result<String, ToolError> {
///     Ok(format!("{} has 3 left", tenant.0))
/// }
/// let tool = Tool::new("stock", "Counts what is left", stock);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool function",
    label = "not an extractor",
    note = "the model's arguments come as `Args<T>`, where `T: serde::Deserialize + schemars::JsonSchema`",
    note = "the host's values come as `State<T>` (given by `.state(value)`), those of a request as `Extension<T>`",
    note = "other extractors: `Principal`, `ToolContext`, `RunContext`, `CancellationToken`, `CallId`, `ChatId`, `Agents`",
    note = "for anything else implement `FromToolCall`"
)]
pub trait FromToolCall: Sized + Send {
    /// Makes the parameter.
    ///
    /// # Errors
    ///
    /// Returns the error for the model and the user when the parameter cannot be made. The tool is then not called.
    fn from_call(call: &ToolContext) -> Result<Self, ToolError>;

    /// Describes what this parameter needs of the tool. Default: nothing.
    fn describe(_description: &mut ToolDescription) {}
}

impl FromToolCall for ToolContext {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.clone())
    }
}

impl FromToolCall for crate::CancellationToken {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.cancellation())
    }
}
