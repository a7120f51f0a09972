use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::FromToolCall;
use crate::tool::{ToolContext, ToolDescription, ToolError};

/// The arguments that the model gives. The tool's JSON Schema is generated from their type: doc comments on fields
/// become descriptions, which the model reads.
///
/// The type must be a struct with named fields (its schema must be an object). It owns its texts: they are `String`, not
/// `&str`. A tool without `Args` takes none.
///
/// ```
/// use omniassist_server::tool::{Args, Tool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct OrderQuery {
///     /// The order's number, such as `A-17`.
///     number: String,
/// }
///
/// async fn order_status(Args(query): Args<OrderQuery>) -> Result<String, ToolError> {
///     Ok(format!("{} is on its way", query.number))
/// }
/// let tool = Tool::new("order_status", "Look up an order by its number", order_status);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Args<T>(pub T);

/// A type of a tool's arguments: every type that is [`Deserialize`](serde::Deserialize) and [`JsonSchema`]. There is
/// nothing to implement; the trait exists for the compiler's message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    label = "its `Args<{Self}>` needs `Deserialize` and `JsonSchema`",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to `{Self}`, with the `schemars` version of this crate"
)]
pub trait ToolArguments: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArguments for T {}

impl<T: ToolArguments> FromToolCall for Args<T> {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        // The arguments match the schema, but a type may have stricter rules than its schema.
        call.args().map(Self)
    }

    fn describe(description: &mut ToolDescription) {
        description.arguments::<T>();
    }
}
