use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{JsonText, Text};

/// A message of an agent, in the form that version 4 of the AI SDK calls `CoreMessage`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
#[non_exhaustive]
pub enum CoreMessage {
    /// A task or a remark of the user.
    User(Text),
    /// Text and calls of the model.
    Assistant(MessageContent),
    /// The results of calls.
    Tool(Vec<ResultPart>),
}

/// The content of a message of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum MessageContent {
    /// Text alone.
    Text(Text),
    /// Text and calls.
    Parts(Vec<ContentPart>),
}

/// A part of a message of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text {
        /// The text.
        text: Text,
    },
    /// A call of a tool.
    ToolCall {
        /// The call.
        tool_call_id: Text,
        /// The tool.
        tool_name: Text,
        /// The arguments.
        args: JsonText,
    },
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool-result", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResultPart {
    /// The call.
    pub tool_call_id: Text,
    /// The tool.
    pub tool_name: Text,
    /// The output of the tool, or the text of its error.
    pub result: JsonText,
}

impl ResultPart {
    /// Creates the result of a call.
    #[must_use]
    pub fn new(tool_call_id: Text, tool_name: Text, result: JsonText) -> Self {
        Self { tool_call_id, tool_name, result }
    }
}

impl CoreMessage {
    /// Returns about the number of bytes of the message on the wire.
    #[must_use]
    pub fn size(&self) -> usize {
        const FIELDS: usize = 64;
        let content = match self {
            Self::User(text) | Self::Assistant(MessageContent::Text(text)) => text.len(),
            Self::Assistant(MessageContent::Parts(parts)) => parts.iter().map(ContentPart::size).sum(),
            Self::Tool(results) => results.iter().map(|part| FIELDS + part.result.as_str().len()).sum(),
        };
        FIELDS + content
    }
}

impl ContentPart {
    fn size(&self) -> usize {
        match self {
            Self::Text { text } => text.len(),
            Self::ToolCall { args, tool_name, .. } => args.as_str().len() + tool_name.len(),
        }
    }
}

/// JSON that is kept as text cannot be read within a tagged enum, so these are read field by field.
impl<'de> Deserialize<'de> for CoreMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            role: Text,
            content: JsonText,
        }
        let Fields { role, content } = Fields::deserialize(deserializer)?;
        let message = match role.as_str() {
            "user" => content.to().map(Self::User),
            "assistant" => content.to().map(Self::Assistant),
            "tool" => content.to().map(Self::Tool),
            other => return Err(D::Error::unknown_variant(other, &["user", "assistant", "tool"])),
        };
        message.map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let content = JsonText::deserialize(deserializer)?;
        let is_text = content.as_str().starts_with('"');
        let read = if is_text { content.to().map(Self::Text) } else { content.to().map(Self::Parts) };
        read.map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            r#type: Text,
            text: Option<Text>,
            tool_call_id: Option<Text>,
            tool_name: Option<Text>,
            #[serde(default)]
            args: JsonText,
        }
        let Fields { r#type, text, tool_call_id, tool_name, args } = Fields::deserialize(deserializer)?;
        match (r#type.as_str(), text, tool_call_id, tool_name) {
            ("text", Some(text), ..) => Ok(Self::Text { text }),
            ("tool-call", _, Some(tool_call_id), Some(tool_name)) => {
                Ok(Self::ToolCall { tool_call_id, tool_name, args })
            }
            (other, ..) => Err(D::Error::custom(format_args!("not a part of a message: {other:?}"))),
        }
    }
}
