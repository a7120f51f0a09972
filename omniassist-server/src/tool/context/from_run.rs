use super::description::ToolDescription;
use super::state::StateMap;
use crate::tool::ToolError;
use crate::{Principal, RunContext};

/// A parameter of a function that [prepares](crate::AssistantBuilder::prepare) a run, made from the run.
///
/// Implement it for a type of the host. The same type can be a parameter of tool functions:
///
/// ```
/// use omniassist_server::tool::{FromRun, FromToolCall, StateMap, Tool, ToolContext, ToolError};
/// use omniassist_server::{RunContext, RunPlan, Refusal};
///
/// struct Tenant(String);
///
/// impl FromRun for Tenant {
///     fn from_run(run: &RunContext, _: &StateMap) -> Result<Self, ToolError> {
///         let name = run.principal().id().split('@').nth(1);
///         name.map(|name| Self(name.to_owned())).ok_or_else(|| ToolError::new("Please sign in first."))
///     }
/// }
///
/// impl FromToolCall for Tenant {
///     fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
///         call.extract()
///     }
/// }
///
/// async fn stock(tenant: Tenant) -> Result<String, ToolError> {
///     Ok(format!("{} has 3 left", tenant.0))
/// }
/// let tool = Tool::new("stock", "Counts what is left", stock);
///
/// async fn greet(plan: &mut RunPlan, tenant: Tenant) -> Result<(), Refusal> {
///     plan.system_prompt(format!("You work for {}.", tenant.0));
///     Ok(())
/// }
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # Assistant::builder(ScriptedProvider::new()).tool(tool).prepare(greet).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a function that prepares runs",
    label = "not an extractor of runs",
    note = "the host's values come as `State<T>` (given by `.state(value)`), those of a request as `Extension<T>`",
    note = "other extractors: `Principal`, `RunContext`, `ChatId`",
    note = "for anything else implement `FromRun`"
)]
pub trait FromRun: Sized + Send {
    /// Makes the parameter. `state` holds the host's values.
    ///
    /// # Errors
    ///
    /// Returns the error for the user when the parameter cannot be made. The function is then not called.
    fn from_run(run: &RunContext, state: &StateMap) -> Result<Self, ToolError>;

    /// Describes what this parameter needs. Default: nothing.
    fn describe(_description: &mut ToolDescription) {}
}

impl FromRun for RunContext {
    fn from_run(run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
        Ok(run.clone())
    }
}

impl FromRun for Principal {
    fn from_run(run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
        Ok(run.principal().clone())
    }
}
