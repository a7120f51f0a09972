use serde::{Deserialize, Serialize};

use crate::event::CallKind;
use crate::message::ProviderMetadata;
use crate::{JsonText, Text};

/// One entry of a [transcript](crate::transcript).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptItem {
    /// A message of the user.
    User {
        /// Text and files, in order.
        content: Vec<UserContent>,
    },
    /// Text of the assistant.
    Text {
        /// The text.
        text: Text,
        /// Provider state that belongs to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// Reasoning of the assistant.
    Reasoning {
        /// The visible text.
        text: Text,
        /// Provider state that belongs to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A tool call of the assistant.
    Call(ToolCall),
    /// The result of a call.
    Result(ToolResult),
    /// An item that the provider executed, such as a web search: its input, its result, or both. It keeps its position
    /// in the answer, exists within one run only (clients post none), and is sent only to the API that returned it.
    ProviderItem {
        /// The API, as its key in [metadata](crate::LlmEvent): `anthropic`.
        provider: Text,
        /// The item as sent by the provider, a JSON object.
        item: JsonText,
    },
}

impl TranscriptItem {
    /// Creates a user message with one text.
    #[must_use]
    pub fn user(text: impl Into<Text>) -> Self {
        Self::User { content: vec![UserContent::Text { text: text.into() }] }
    }

    /// Returns the call, if the item is a call.
    #[must_use]
    pub fn as_call(&self) -> Option<&ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// A part of a user message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum UserContent {
    /// Text.
    Text {
        /// The text.
        text: Text,
    },
    /// A file, passed on by its URL.
    #[serde(rename_all = "camelCase")]
    File {
        /// Its media type.
        media_type: Text,
        /// An `https:` or `data:` URL.
        url: Text,
        /// Its name.
        filename: Option<Text>,
    },
}

/// A tool call in a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the transcript.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments: a JSON object, or for [`CallKind::Custom`] a JSON string.
    pub arguments: JsonText,
    /// The kind of the arguments: JSON or free text.
    #[serde(default)]
    pub kind: CallKind,
    /// Provider state that belongs to the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ProviderMetadata>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call to which the result belongs.
    pub call_id: Text,
    /// The output: any JSON value, or a string with the reason for an error.
    pub output: JsonText,
    /// `true` if the tool failed or could not run: `status: "incomplete"` on the wire.
    pub is_error: bool,
}

impl ToolResult {
    /// Returns the output as sent to a provider: the content of a string, or the JSON of any other value.
    #[must_use]
    pub fn output_text(&self) -> Text {
        match self.output.to_str_value() {
            Some(text) => text.into(),
            None => self.output.text().clone(),
        }
    }
}
