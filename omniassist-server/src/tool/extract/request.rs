use std::any::type_name;

use omniassist_core::Text;

use super::FromToolCall;
use crate::RunContext;
use crate::tool::{FromRun, StateMap, ToolContext, ToolError};

/// A clone of a value that the host's middleware put into the HTTP request's extensions: the user who is logged in,
/// the tenant, a database transaction.
///
/// The tool is not called if the request has no such value. The log names the missing type, and the model and the user
/// read that the tool failed. Use `Option<Extension<T>>` where the value may be absent.
///
/// ```
/// use omniassist_server::tool::{Extension, Tool, ToolError};
///
/// #[derive(Clone)]
/// struct User {
///     name: String,
/// }
///
/// async fn whoami(Extension(user): Extension<User>) -> Result<String, ToolError> {
///     Ok(user.name)
/// }
/// let tool = Tool::new("whoami", "The name of the user", whoami);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extension<T>(pub T);

impl<T> FromRun for Extension<T>
where
    T: Clone + Send + Sync + 'static,
{
    fn from_run(run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
        find(run).ok_or_else(|| {
            let name = type_name::<T>();
            ToolError::internal(format!(
                "no `{name}` in the extensions: a layer inserts it into those of requests, the scope of actix names it, and \
                 `recover_with` inserts it into those of a run that continues without a request"
            ))
        })
    }
}

impl<T> FromRun for Option<Extension<T>>
where
    T: Clone + Send + Sync + 'static,
{
    fn from_run(run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
        Ok(find(run))
    }
}

fn find<T: Clone + Send + Sync + 'static>(run: &RunContext) -> Option<Extension<T>> {
    run.extensions().get().cloned().map(Extension)
}

/// The id of the tool call; see [`ToolContext::call_id`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallId(pub Text);

impl FromToolCall for CallId {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(call.call_id().clone()))
    }
}

/// The id of the chat that the run belongs to. The client chooses it: it is not a credential.
///
/// The tool is not called if the request names no chat; the model and the user read the reason. Use
/// `Option<ChatId>` where it may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChatId(pub Text);

impl FromRun for ChatId {
    fn from_run(run: &RunContext, state: &StateMap) -> Result<Self, ToolError> {
        Option::from_run(run, state)?
            .ok_or_else(|| ToolError::new("The request names no chat, which this tool needs."))
    }
}

impl FromRun for Option<ChatId> {
    fn from_run(run: &RunContext, _state: &StateMap) -> Result<Self, ToolError> {
        Ok(run.chat_id().cloned().map(ChatId))
    }
}
