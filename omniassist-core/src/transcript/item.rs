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
        /// The visible part of it.
        text: Text,
        /// Provider state that belongs to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<ProviderMetadata>,
    },
    /// A tool that the assistant called.
    Call(ToolCall),
    /// The result of a call.
    Result(ToolResult),
    /// Something that the provider ran itself, such as a web search: its input, what came of it, or both. It stands
    /// where the provider said it, lives within one run (clients post none), and goes back only to the API that it came
    /// from.
    ProviderItem {
        /// The API, under the name of its [metadata](crate::LlmEvent): `anthropic`.
        provider: Text,
        /// The item as the provider wrote it: a JSON object.
        item: JsonText,
    },
}

impl TranscriptItem {
    /// Returns a message of the user with one text.
    #[must_use]
    pub fn user(text: impl Into<Text>) -> Self {
        Self::User { content: vec![UserContent::Text { text: text.into() }] }
    }

    /// Returns the call, if the item is one.
    #[must_use]
    pub fn as_call(&self) -> Option<&ToolCall> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// A piece of what the user said.
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
    /// Its arguments: always a JSON object, but for [`CallKind::Custom`] a JSON string.
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
    /// The call it answers.
    pub call_id: Text,
    /// The output: any JSON value; for a failure, a string with the reason.
    pub output: JsonText,
    /// `true` if the tool failed or could not run: on the wire `status: "incomplete"`.
    pub is_error: bool,
}

impl ToolResult {
    /// The output as a provider is sent it: the content of a string, or the JSON text of anything else.
    #[must_use]
    pub fn output_text(&self) -> Text {
        match self.output.to_str_value() {
            Some(text) => text.into(),
            None => self.output.text().clone(),
        }
    }
}
