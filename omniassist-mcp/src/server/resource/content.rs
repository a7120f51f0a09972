use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rmcp::model::ResourceContents;

/// The content of a resource: a text, or bytes.
#[derive(Clone)]
pub struct ResourceContent {
    media_type: Option<String>,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Text(String),
    Bytes(Bytes),
}

impl ResourceContent {
    /// Creates a text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { media_type: None, body: Body::Text(text.into()) }
    }

    /// Creates bytes, which clients receive in Base64.
    #[must_use]
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self { media_type: None, body: Body::Bytes(bytes.into()) }
    }

    /// Sets the media type. Default: that of the [resource](super::Resource::media_type), or `text/plain` for a text, and
    /// none for bytes.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Returns the form of the protocol. `usual` is the media type of the resource.
    pub(in crate::server) fn into_contents(self, uri: String, usual: Option<&str>) -> ResourceContents {
        let contents = match self.body {
            Body::Text(text) => ResourceContents::text(text, uri),
            Body::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
        };
        match self.media_type.or_else(|| usual.map(str::to_owned)) {
            Some(media_type) => contents.with_mime_type(media_type),
            None => contents,
        }
    }
}

/// Returns about the bytes of a resource in an answer.
pub(in crate::server) fn size_of(contents: &ResourceContents) -> usize {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text.len(),
        ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
        _ => 0,
    }
}

impl fmt::Debug for ResourceContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match &self.body {
            Body::Text(text) => text.len(),
            Body::Bytes(bytes) => bytes.len(),
        };
        f.debug_struct("ResourceContent")
            .field("media_type", &self.media_type)
            .field("bytes", &bytes)
            .finish()
    }
}
