use std::sync::Arc;

use crate::{ContextMessage, Message, Text, ToolSpec};

/// What a client asks for: the conversation so far and what belongs to it.
///
/// ```
/// use omniassist_core::{Message, RunRequest};
///
/// let request = RunRequest::new(vec![Message::user("m1", "Hello")]);
/// assert!(request.chat_id.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The chat, as the client names it. An address, not a credential.
    pub chat_id: Option<Text>,
    /// The whole conversation, oldest first.
    pub messages: Vec<Message>,
    /// What happened in the application.
    pub context: Vec<ContextMessage>,
    /// Front-end tools that the client declares for this run.
    pub tools: Vec<Arc<ToolSpec>>,
    /// What the client did to send this.
    pub trigger: Trigger,
    /// The message that the trigger is about.
    pub message_id: Option<Text>,
}

impl RunRequest {
    /// A request with a conversation and nothing else.
    #[must_use]
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, ..Self::default() }
    }

    /// Something the user says, with nothing before it.
    #[must_use]
    pub fn prompt(text: impl Into<Text>) -> Self {
        Self::new(vec![Message::user("msg-1", text)])
    }
}

/// What the client did to send a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Trigger {
    /// A new or edited message, or the results of front-end tools.
    #[default]
    Submit,
    /// The same question again.
    Regenerate,
}
