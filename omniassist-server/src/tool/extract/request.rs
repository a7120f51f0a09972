use std::any::type_name;

use omniassist_core::Text;

use super::FromToolCall;
use crate::tool::{ToolContext, ToolError};

/// A clone of a value that the host's middleware put into the HTTP request's extensions: the user who is logged in,
/// the tenant, a database transaction.
///
/// When the request has none, the tool is not called: the log says which type is missing, and the model and the user are
/// told that the tool failed. Take `Option<Extension<T>>` where it may be absent.
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

impl<T> FromToolCall for Extension<T>
where
    T: Clone + Send + Sync + 'static,
{
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        find(call).ok_or_else(|| {
            let name = type_name::<T>();
            ToolError::internal(format!(
                "no `{name}` in the request's extensions; a layer has to put it there"
            ))
        })
    }
}

impl<T> FromToolCall for Option<Extension<T>>
where
    T: Clone + Send + Sync + 'static,
{
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(find(call))
    }
}

fn find<T: Clone + Send + Sync + 'static>(call: &ToolContext) -> Option<Extension<T>> {
    call.run().extensions().get().cloned().map(Extension)
}

/// Id of the tool call; see [`ToolContext::call_id`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallId(pub Text);

impl FromToolCall for CallId {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(call.call_id().clone()))
    }
}

/// The chat that the run belongs to, as the client names it: an address, not a credential.
///
/// A request need not name one; then the tool is not called, and the model and the user are told so. Take
/// `Option<ChatId>` where it may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChatId(pub Text);

impl FromToolCall for ChatId {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Option::from_call(call)?
            .ok_or_else(|| ToolError::new("The request names no chat, which this tool needs."))
    }
}

impl FromToolCall for Option<ChatId> {
    fn from_call(call: &ToolContext) -> Result<Self, ToolError> {
        Ok(call.run().chat_id().cloned().map(ChatId))
    }
}
