use std::fmt;
use std::sync::Arc;

use http::Extensions;
use omniassist_core::{ContextMessage, Message, Text};

use crate::Principal;

/// What a system prompt, a tool or a hook may know of the run it works for. Cloning is cheap.
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
        Self { inner: Arc::new(Inner { run_id, chat_id, principal, extensions, messages, context }) }
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
