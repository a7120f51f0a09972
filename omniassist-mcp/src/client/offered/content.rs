use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{ContentBlock, PromptMessage, ResourceContents, Role};

use crate::client::{McpError, cleaned, output};

/// The content of a resource, as the server sent it. It is the data of another party: never instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpContent {
    /// The URI that the server gives it.
    pub uri: String,
    /// The media type that the server gives it.
    pub media_type: Option<String>,
    /// The data.
    pub body: McpBody,
}

/// The data of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpBody {
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// A message of a prompt. It is the text of another party, which the host shows to its user before a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpMessage {
    /// `true` for a message of the user, `false` for one of a model.
    pub is_user: bool,
    /// The text, without hidden characters. A line tells of an image or a sound.
    pub text: String,
}

impl McpContent {
    pub(in crate::client) fn read(contents: ResourceContents) -> Result<Self, McpError> {
        match contents {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                Ok(Self { uri, media_type: mime_type, body: McpBody::Text(text) })
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let bytes = STANDARD.decode(blob).map_err(McpError::answer)?;
                Ok(Self { uri, media_type: mime_type, body: McpBody::Bytes(bytes) })
            }
            _ => Err(McpError::answer("a resource of an unknown kind")),
        }
    }
}

impl McpMessage {
    /// Reads a message of at most about `max` bytes.
    pub(super) fn read(message: PromptMessage, max: usize) -> Self {
        let text = match message.content {
            ContentBlock::Text(text) => text.text,
            content => output::text_of([&content], max),
        };
        Self { is_user: message.role == Role::User, text: output::cut(cleaned::text(&text), max) }
    }
}
