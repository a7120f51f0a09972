use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::ContentBlock;

use super::resource::ResourceContent;

/// A piece of content for a client of MCP: of a prompt, or [beside the output](super::Attachments) of a tool.
///
/// Texts become content by `into`.
#[derive(Clone)]
pub struct Content(ContentBlock);

impl Content {
    /// Creates a text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self(ContentBlock::text(text))
    }

    /// Creates an image of a media type such as `image/png`.
    #[must_use]
    pub fn image(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(ContentBlock::image(STANDARD.encode(bytes), media_type))
    }

    /// Creates a sound of a media type such as `audio/wav`.
    #[must_use]
    pub fn audio(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(ContentBlock::audio(STANDARD.encode(bytes), media_type))
    }

    /// Creates content with its URI. The server need not offer a resource of this URI.
    #[must_use]
    pub fn resource(uri: impl Into<String>, content: ResourceContent) -> Self {
        Self(ContentBlock::resource(content.into_contents(uri.into(), None)))
    }

    pub(super) fn into_block(self) -> ContentBlock {
        self.0
    }

    /// Returns about the bytes that the content has in the answer.
    pub(super) fn size(&self) -> usize {
        match &self.0 {
            ContentBlock::Text(text) => text.text.len(),
            ContentBlock::Image(image) => image.data.len(),
            ContentBlock::Audio(audio) => audio.data.len(),
            ContentBlock::Resource(resource) => super::resource::size_of(&resource.resource),
            _ => 0,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("bytes", &self.size()).finish_non_exhaustive()
    }
}
