use std::fmt;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::{ContextMessage, JsonText, Message, RunRequest, Text};
use serde_json::Value;
use uuid::Uuid;

use crate::Principal;
use crate::shared_state::SharedState;

/// What a system prompt, a tool or a hook may know of the run it works for. Cloning is cheap.
///
/// An assistant makes one for each run. A test of a tool or a prompt makes its own:
///
/// ```
/// use http::Extensions;
/// use omniassist_server::core::{JsonText, Limits, RunRequest};
/// use omniassist_server::tool::{StateMap, Tool, ToolError, ToolInvocation, Tools};
/// use omniassist_server::{Principal, RunContext};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let whoami = |user: Principal| async move { Ok::<_, ToolError>(user.id().to_owned()) };
/// let tools = Tools::new(StateMap::new(), Limits::default());
/// tools.register(Tool::new("whoami", "The user's name", whoami))?;
///
/// let mut extensions = Extensions::new();
/// extensions.insert(Principal::new("ada"));
/// let run = RunContext::for_request(RunRequest::prompt("Who am I?"), extensions);
/// let tool = tools.snapshot().get("whoami").cloned().ok_or("no such tool")?;
/// let call = tools.start(&tool, ToolInvocation::new("call-1", JsonText::EMPTY_OBJECT, run));
/// let outcome = call.outcome().await;
/// assert!(outcome.result.is_ok_and(|output| output.as_str() == "\"ada\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunContext {
    inner: Arc<Inner>,
}

struct Inner {
    run_id: Text,
    chat_id: Option<Text>,
    principal: Principal,
    extensions: Extensions,
    messages: Arc<[Message]>,
    context: Arc<[ContextMessage]>,
    shared_state: SharedState,
    forwarded: Option<JsonText>,
}

impl RunContext {
    pub(crate) fn new(
        run_id: Text,
        chat_id: Option<Text>,
        extensions: Extensions,
        messages: Arc<[Message]>,
        context: Arc<[ContextMessage]>,
    ) -> Self {
        let principal = extensions.get::<Principal>().cloned().unwrap_or_default();
        Self {
            inner: Arc::new(Inner {
                run_id,
                chat_id,
                principal,
                extensions,
                messages,
                context,
                shared_state: SharedState::new(None),
                forwarded: None,
            }),
        }
    }

    /// With what else the client sent: the shared state, and what its application passes on.
    pub(crate) fn with_posted(mut self, state: Option<&JsonText>, forwarded: Option<JsonText>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.shared_state = SharedState::new(state);
            inner.forwarded = forwarded;
        }
        self
    }

    /// The context that a run of this request would have, under a new id: for tests, and for hosts that run tools
    /// without an assistant. What an assistant adds of its own
    /// ([`add_context`](crate::Assistant::add_context)) is not in it, and the request is not checked.
    #[must_use]
    pub fn for_request(request: RunRequest, extensions: Extensions) -> Self {
        let run_id = format!("run_{}", Uuid::now_v7().simple()).into();
        Self::new(run_id, request.chat_id, extensions, request.messages.into(), request.context.into())
            .with_posted(request.state.as_ref(), request.forwarded)
    }

    /// Id of the run, made by the server.
    #[must_use]
    pub fn run_id(&self) -> &Text {
        &self.inner.run_id
    }

    /// The chat, as the client names it. An address, not a credential.
    #[must_use]
    pub fn chat_id(&self) -> Option<&Text> {
        self.inner.chat_id.as_ref()
    }

    /// Who the run is for.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.inner.principal
    }

    /// The extensions of the HTTP request: what the host's layers put there.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.inner.extensions
    }

    /// The conversation as it was posted.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.inner.messages
    }

    /// What happened in the application: what the client sent and what the host added.
    #[must_use]
    pub fn context(&self) -> &[ContextMessage] {
        &self.inner.context
    }

    /// The state that client and server share, as it is now; null while there is none. AG-UI clients keep such a
    /// state. The model does not see it unless the host puts it into the prompt, and it is the client's word.
    #[must_use]
    pub fn shared_state(&self) -> Value {
        self.inner.shared_state.get()
    }

    pub(crate) fn state(&self) -> &SharedState {
        &self.inner.shared_state
    }

    /// What the client's application sent past the conversation (AG-UI's `forwardedProps`). Not meant for the model,
    /// and not to be trusted.
    #[must_use]
    pub fn forwarded(&self) -> Option<&JsonText> {
        self.inner.forwarded.as_ref()
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("run_id", &self.inner.run_id)
            .field("chat_id", &self.inner.chat_id)
            .field("principal", &self.inner.principal)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_has_what_the_request_says() {
        let mut request = RunRequest::prompt("hi");
        request.chat_id = Some("chat-1".into());
        request.context = vec![ContextMessage::new("c", "navigation", serde_json::json!({"to": "/orders"}))];
        let mut extensions = Extensions::new();
        extensions.insert(Principal::new("ada"));
        extensions.insert(7_u8);
        let run = RunContext::for_request(request.clone(), extensions);
        assert_eq!(run.chat_id(), request.chat_id.as_ref());
        assert_eq!((run.messages(), run.context()), (&request.messages[..], &request.context[..]));
        assert_eq!((run.principal().id(), run.extensions().get()), ("ada", Some(&7_u8)));
        let other = RunContext::for_request(request, Extensions::new());
        assert!(run.run_id().starts_with("run_") && run.run_id() != other.run_id());
        assert!(other.principal().is_anonymous());
    }
}
