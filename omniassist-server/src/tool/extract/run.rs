//! The extractors of runs, as extractors of tool calls.

use super::{ChatId, Extension, FromToolCall, State};
use crate::tool::{FromRun, ToolContext, ToolDescription, ToolError};
use crate::{Principal, RunContext};

// A single impl for every `FromRun` would hide the missing bounds of an `Args` or a `State` in compiler errors.
macro_rules! impl_from_tool_call {
    ($($(@$param:ident)? $type:ty;)*) => {$(
        impl$(<$param>)? FromToolCall for $type
        $(where $param: Clone + Send + Sync + 'static)?
        {
            fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
                call.extract()
            }

            fn describe(description: &mut ToolDescription) {
                <Self as FromRun>::describe(description);
            }
        }
    )*};
}

impl_from_tool_call! {
    RunContext;
    Principal;
    ChatId;
    Option<ChatId>;
    @T State<T>;
    @T Extension<T>;
    @T Option<Extension<T>>;
}
