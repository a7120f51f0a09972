use rmcp::model::{PromptMessage as Message, Role};

use crate::server::content::Content;

/// One message of a prompt.
#[derive(Debug, Clone)]
pub struct PromptMessage {
    role: Role,
    content: Content,
}

impl PromptMessage {
    /// Creates a message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message of the client's model.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }

    pub(super) fn into_message(self) -> Message {
        Message::new(self.role, self.content.into_block())
    }
}
