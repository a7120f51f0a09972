use std::any::type_name;

use crate::RunContext;
use crate::tool::{FromRun, StateMap, ToolDescription, ToolError};

/// A clone of the host's value of this type, such as a connection pool or a client. The host provides it with
/// `.state(value)` of the assistant's builder. Registration of a tool fails when a value is missing, and the error names
/// the tool and the type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

impl<T> FromRun for State<T>
where
    T: Clone + Send + Sync + 'static,
{
    fn from_run(_run: &RunContext, state: &StateMap) -> Result<Self, ToolError> {
        state
            .get()
            .cloned()
            .map(Self)
            .ok_or_else(|| ToolError::internal(format!("no state of type `{}`", type_name::<T>())))
    }

    fn describe(description: &mut ToolDescription) {
        description.needs_state::<T>();
    }
}
