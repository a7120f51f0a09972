//! The parameters of a tool function.

mod args;
mod request;
mod state;

use std::any::type_name;

pub use args::{Args, ToolArguments};
pub use request::{CallId, ChatId, Extension};
use schemars::JsonSchema;
use serde_json::Value;
pub use state::State;

use super::schema;
use super::state::StateNeed;
use super::{ToolContext, ToolError};

/// A parameter of a tool function, made from the call.
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
    note = "other extractors: `Principal`, `ToolContext`, `RunContext`, `CancellationToken`, `CallId`, `ChatId`",
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

/// A description of the needs of a tool function's parameters.
#[derive(Debug, Default)]
pub struct ToolDescription {
    pub(super) schema: Option<Value>,
    pub(super) arguments: Vec<&'static str>,
    pub(super) state: Vec<StateNeed>,
}

impl ToolDescription {
    /// Sets the type of the model's arguments. A tool has at most one such type.
    pub fn arguments<T: JsonSchema>(&mut self) {
        self.schema = Some(schema::generate::<T>());
        self.arguments.push(type_name::<T>());
    }

    /// Adds a type that the host must provide with `.state(value)`.
    pub fn needs_state<T: 'static>(&mut self) {
        self.state.push(StateNeed::of::<T>());
    }
}

impl FromToolCall for ToolContext {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.clone())
    }
}

impl FromToolCall for crate::RunContext {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.run().clone())
    }
}

impl FromToolCall for crate::Principal {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.run().principal().clone())
    }
}

impl FromToolCall for crate::CancellationToken {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.cancellation())
    }
}
