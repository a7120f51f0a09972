use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Message, Part, ProviderMetadata, Role, ToolPart, ToolState};
use crate::{JsonText, Text};

/// A message of plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Unique within the conversation.
    pub id: Text,
    /// The speaker.
    pub role: Role,
    /// The text.
    pub content: Text,
}

impl From<ChatMessage> for Message {
    fn from(message: ChatMessage) -> Self {
        let ChatMessage { id, role, content } = message;
        Self { id, role, parts: vec![Part::text(content)], metadata: None }
    }
}

/// An event in the application that is useful to the model, such as an opened page or a filled form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextMessage {
    /// Unique within the conversation.
    pub id: Text,
    /// The kind: `navigation`, `form`, or any other.
    #[serde(rename = "type")]
    pub kind: Text,
    /// The event's data. Its form depends on the kind.
    pub data: Value,
}

impl ContextMessage {
    /// Creates a context message.
    #[must_use]
    pub fn new(id: impl Into<Text>, kind: impl Into<Text>, data: Value) -> Self {
        Self { id: id.into(), kind: kind.into(), data }
    }
}

/// A record of a tool call: `{type: "function_call", id, name, arguments}`.
///
/// ```
/// use omniassist_core::FunctionCall;
/// use omniassist_core::JsonText;
///
/// let call = FunctionCall::new("call-1", "navigate", JsonText::parse(r#"{"to":"/orders"}"#)?);
/// assert_eq!(
///     serde_json::to_string(&call)?,
///     r#"{"type":"function_call","id":"call-1","name":"navigate","arguments":{"to":"/orders"}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "function_call")]
#[non_exhaustive]
pub struct FunctionCall {
    /// Unique within the conversation.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments.
    pub arguments: JsonText,
    /// The id of the assistant's message with the call, from the stream's `start` chunk. A seal is valid for this
    /// message only.
    #[serde(rename = "messageId", default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<Text>,
    /// The seal and the provider's state, from the `tool-input-available` chunk.
    #[serde(rename = "providerMetadata", default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

impl FunctionCall {
    /// Creates a record without a seal.
    #[must_use]
    pub fn new(id: impl Into<Text>, name: impl Into<Text>, arguments: JsonText) -> Self {
        Self { id: id.into(), name: name.into(), arguments, message_id: None, metadata: None }
    }
}

impl From<FunctionCall> for ToolPart {
    fn from(call: FunctionCall) -> Self {
        Self {
            call_id: call.id,
            name: call.name,
            dynamic: false,
            provider_executed: false,
            state: ToolState::InputAvailable { input: call.arguments },
            metadata: call.metadata,
        }
    }
}

/// A record of a call's result: `{type: "function_call_output", call_id, output, status}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "function_call_output")]
#[non_exhaustive]
pub struct FunctionCallOutput {
    /// The call to which the output belongs.
    pub call_id: Text,
    /// The tool's output, or its error.
    pub output: JsonText,
    /// `completed`, or `incomplete` if the tool failed. Default: `completed`.
    #[serde(default = "completed")]
    pub status: Text,
}

impl FunctionCallOutput {
    /// Creates a record of a call that succeeded.
    #[must_use]
    pub fn new(call_id: impl Into<Text>, output: JsonText) -> Self {
        Self { call_id: call_id.into(), output, status: completed() }
    }

    /// Creates a record of a call that failed.
    #[must_use]
    pub fn failed(call_id: impl Into<Text>, output: JsonText) -> Self {
        Self { status: Text::from_static(INCOMPLETE), ..Self::new(call_id, output) }
    }

    /// Returns the state of the call after this result.
    pub(super) fn into_state(self, input: JsonText) -> ToolState {
        if self.status != INCOMPLETE {
            return ToolState::OutputAvailable { input, output: self.output, preliminary: false };
        }
        let error_text = match self.output.to_str_value() {
            Some(text) => text.into(),
            None => self.output.text().clone(),
        };
        ToolState::OutputError { input: Some(input), error_text }
    }
}

const INCOMPLETE: &str = "incomplete";

fn completed() -> Text {
    Text::from_static("completed")
}
