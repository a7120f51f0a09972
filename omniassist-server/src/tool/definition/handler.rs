use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use omniassist_core::JsonText;
use serde::Serialize;

use crate::tool::{FromToolCall, ToolContext, ToolDescription, ToolError, output};

/// The future of a tool call. Dropping it stops the call where it awaits.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<JsonText, ToolError>> + Send>>;

/// A function that can be a tool. It has 0 to 12 parameters, each an extractor ([`FromToolCall`]), and its future returns
/// a `Result<T, E>` with `T: Serialize` and `E: Into<ToolError>`. Async functions and closures that return a future are
/// such functions; there is nothing to implement.
///
/// `P` is the tuple of the parameters' types, and is always inferred. The bounds of parameters and future are on
/// [`Tool::new`](crate::Tool::new), so that the compiler names the one that does not fit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool function",
    label = "not a tool function",
    note = "a tool function is async, takes 0 to 12 parameters, and is `Send + Sync + 'static`",
    note = "a closure needs types for its parameters; one that captures is written \
            `move |parameter: Type| {{ … async move {{ … }} }}`"
)]
pub trait ToolHandler<P>: Send + Sync + 'static {
    /// The return type of the function.
    type Future;

    /// Calls the function.
    fn call(&self, parameters: P) -> Self::Future;
}

/// The return type of a tool function: every [`Future`]. There is nothing to implement; the trait exists for the
/// compiler's message.
#[diagnostic::on_unimplemented(
    message = "a tool function must be async: `{Self}` is not a future",
    label = "this function is not async",
    note = "write `async fn`, or `async |parameter: Type| {{ … }}` for a closure",
    note = "work that blocks its thread goes into `tokio::task::spawn_blocking` within an async function"
)]
pub trait AsyncResult {
    /// The result of the function.
    type Output;

    /// Polls the future.
    fn poll_result(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output>;
}

// Not a supertrait of `Future`: the compiler would report the missing `Future` instead of the message above.
#[diagnostic::do_not_recommend]
impl<F: Future> AsyncResult for F {
    type Output = F::Output;

    fn poll_result(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.poll(cx)
    }
}

/// The parameters of a tool function: a tuple of 0 to 12 extractors.
pub trait ToolParameters: Sized {
    /// Makes the parameters, in order.
    ///
    /// # Errors
    ///
    /// The error of the first parameter that cannot be made.
    fn from_call(call: &ToolContext) -> Result<Self, ToolError>;

    /// Describes what the parameters need.
    fn describe(description: &mut ToolDescription);
}

/// A result of a tool function: `Result<T, E>` with `T: Serialize` and `E: Into<ToolError>`.
#[diagnostic::on_unimplemented(
    message = "a tool function returns `Result<T, E>`, not `{Self}`",
    label = "does not return a `Result`",
    note = "the output is `T: serde::Serialize`; the error is `E: IntoToolError`, such as `ToolError`",
    note = "a tool that cannot fail returns `Result<T, std::convert::Infallible>`"
)]
pub trait IntoToolOutput {
    /// Makes the output, no larger than the tool's cap.
    ///
    /// # Errors
    ///
    /// The function's own error, or an error when its value has no JSON form or too many levels to be posted back.
    fn into_output(self, call: &ToolContext) -> Result<JsonText, ToolError>;
}

/// A type of a tool's error: every type that converts [`Into`] a [`ToolError`]. There is nothing to implement; the trait
/// gives the compiler's message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool function",
    label = "its error does not convert into a `ToolError`",
    note = "for a sentence that the model and the user read use `ToolError::new(text)`",
    note = "every `std::error::Error + Send + Sync + 'static` converts by itself; \
            for `anyhow::Error` and boxed errors use `.map_err(ToolError::internal)`"
)]
pub trait IntoToolError {
    /// Converts it.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

/// A type of a tool's output: every type that is [`Serialize`]. There is nothing to implement; the trait exists for the
/// compiler's message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool function",
    label = "its output has no JSON form",
    note = "add `#[derive(serde::Serialize)]` to the output's type"
)]
pub trait ToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {}

impl<T, E> IntoToolOutput for Result<T, E>
where
    T: ToolOutput,
    E: IntoToolError,
{
    fn into_output(self, call: &ToolContext) -> Result<JsonText, ToolError> {
        let value = self.map_err(E::into_tool_error)?;
        output::to_json(&value, call.output_limits()).map_err(|error| {
            ToolError::new("The tool's output cannot be written as JSON.").with_source(error)
        })
    }
}

/// Calls a macro with the names of 0 to 8 types, in turn.
macro_rules! up_to_8_types {
    ($call:ident) => {
        $call!();
        $call!(T1);
        $call!(T1, T2);
        $call!(T1, T2, T3);
        $call!(T1, T2, T3, T4);
        $call!(T1, T2, T3, T4, T5);
        $call!(T1, T2, T3, T4, T5, T6);
        $call!(T1, T2, T3, T4, T5, T6, T7);
        $call!(T1, T2, T3, T4, T5, T6, T7, T8);
    };
}
pub(crate) use up_to_8_types;

macro_rules! impl_tool_handler {
    ($($param:ident),*) => {
        #[allow(non_snake_case, reason = "a parameter's value is named after its type")]
        impl<F, Fut, $($param,)*> ToolHandler<($($param,)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
        {
            type Future = Fut;

            fn call(&self, ($($param,)*): ($($param,)*)) -> Fut {
                self($($param),*)
            }
        }

        impl<$($param: FromToolCall,)*> ToolParameters for ($($param,)*) {
            #[allow(clippy::unused_unit, reason = "the tuple of no parameters")]
            fn from_call(_call: &ToolContext) -> Result<Self, ToolError> {
                Ok(($($param::from_call(_call)?,)*))
            }

            fn describe(_description: &mut ToolDescription) {
                $($param::describe(_description);)*
            }
        }
    };
}

up_to_8_types!(impl_tool_handler);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11);
impl_tool_handler!(T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12);
