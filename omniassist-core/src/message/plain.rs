use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Message, Part, Role};
use crate::{JsonText, Text};

/// A message of the plain form: who said what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Unique within the conversation.
    pub id: Text,
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: Text,
}

/// Who speaks in a [`ChatMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

impl From<ChatMessage> for Message {
    fn from(message: ChatMessage) -> Self {
        let role = match message.role {
            ChatRole::User => Role::User,
            ChatRole::Assistant => Role::Assistant,
        };
        Self { id: message.id, role, parts: vec![Part::text(message.content)], metadata: None }
    }
}

/// Something that happened in the application and that the model should know: a page was opened, a form filled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextMessage {
    /// Unique within the conversation.
    pub id: Text,
    /// `navigation`, `form`, or any other kind.
    #[serde(rename = "type")]
    pub kind: Text,
    /// What happened; its shape depends on the kind.
    pub data: Value,
}

impl ContextMessage {
    /// A context message.
    #[must_use]
    pub fn new(id: impl Into<Text>, kind: impl Into<Text>, data: Value) -> Self {
        Self { id: id.into(), kind: kind.into(), data }
    }
}

/// A tool call of the plain form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Unique within the conversation.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// Its arguments.
    pub arguments: JsonText,
}

/// The result of a tool call in the plain form: `{type: "function_call_output", call_id, output, status}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCallOutput {
    /// The call it answers.
    pub call_id: Text,
    /// What the tool gave.
    pub output: JsonText,
    /// `completed`, or `incomplete` where the tool failed. Default: `completed`.
    #[serde(default = "completed")]
    pub status: Text,
}

fn completed() -> Text {
    Text::from_static("completed")
}
