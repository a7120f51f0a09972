use std::future::Future;
use std::pin::Pin;

use omniassist_core::JsonText;
use serde::Serialize;

use super::output;
use super::{FromToolCall, ToolContext, ToolDescription, ToolError};

/// A tool call on its way. Dropping it stops the call where it awaits.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<JsonText, ToolError>> + Send>>;

/// A function that can be a tool: async, with 0 to 12 parameters that are extractors, returning `Result<T, E>` where
/// `T: Serialize` and `E: Into<ToolError>`. Closures that return a future will do as well.
///
/// `M` stands for the parameters' types and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool function",
    label = "not a tool function",
    note = "a tool function is async and takes 0 to 12 parameters, each an extractor (`FromToolCall`): `Args<T>`, \
            `State<T>`, `Extension<T>`, `Principal`, `ToolContext`, `RunContext`, `CancellationToken`, `CallId`",
    note = "`Args<T>` needs `T: serde::Deserialize + schemars::JsonSchema + Send + 'static`; `State<T>` and \
            `Extension<T>` need `T: Clone + Send + Sync + 'static`",
    note = "it returns `Result<T, E>` with `T: serde::Serialize` and `E: Into<ToolError>` (every `std::error::Error` \
            that is `Send + Sync + 'static`; for `anyhow::Error` use `.map_err(ToolError::internal)`)",
    note = "its future must be `Send`: hold no `Rc`, `RefCell` or lock guard across an `.await`"
)]
pub trait ToolHandler<M>: Send + Sync + 'static {
    /// Says what the function's parameters need.
    fn describe(description: &mut ToolDescription);

    /// Makes the parameters and calls the function.
    fn call(&self, call: ToolContext) -> ToolFuture;
}

/// Serialises what a tool function returned.
pub(super) fn into_json<R, E>(returned: Result<R, E>, call: &ToolContext) -> Result<JsonText, ToolError>
where
    R: Serialize,
    E: Into<ToolError>,
{
    let value = returned.map_err(Into::into)?;
    output::to_json(&value, call.max_output_bytes())
        .map_err(|error| ToolError::new("The tool's output cannot be written as JSON.").with_source(error))
}

macro_rules! impl_tool_handler {
    ($($param:ident),*) => {
        #[allow(non_snake_case, reason = "a parameter's value is named after its type")]
        impl<F, Fut, R, E, $($param,)*> ToolHandler<($($param,)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<R, E>> + Send + 'static,
            R: Serialize,
            E: Into<ToolError>,
            $($param: FromToolCall,)*
        {
            fn describe(_description: &mut ToolDescription) {
                $($param::describe(_description);)*
            }

            fn call(&self, call: ToolContext) -> ToolFuture {
                $(let $param = match $param::from_call(&call) {
                    Ok(value) => value,
                    Err(error) => return Box::pin(std::future::ready(Err(error))),
                };)*
                let future = self($($param),*);
                Box::pin(async move { into_json(future.await, &call) })
            }
        }
    };
}

impl_tool_handler!();
impl_tool_handler!(T1);
impl_tool_handler!(T1, T2);
impl_tool_handler!(T1, T2, T3);
impl_tool_handler!(T1, T2, T3, T4);
impl_tool_handler!(T1, T2, T3, T4, T5);
impl_tool_handler!(T1, T2, T3, T4, T5, T6);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12);
