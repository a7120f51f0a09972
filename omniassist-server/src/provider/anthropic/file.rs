//! The user's files, as content blocks.

use omniassist_core::Text;

use super::content::{Content, Source};
use crate::provider::data_url;
use crate::provider::files_api::uploaded_id;

/// The maximum number of characters of a document's title.
const MAX_TITLE: usize = 500;

/// Returns an image or a document. A file that the API does not support is replaced by a note for the model.
pub(super) fn content<'a>(media_type: &'a Text, url: &'a Text, filename: Option<&'a str>) -> Content<'a> {
    let (media_type, inline) = match data_url::split(url) {
        Some((stated, data)) => (if stated.is_empty() { media_type.as_str() } else { stated }, Some(data)),
        None => (media_type.as_str(), None),
    };
    let is_remote = url.starts_with("https://") || url.starts_with("http://");
    let media_type = if media_type == "image/jpg" { "image/jpeg" } else { media_type };
    let title = filename.and_then(title);
    if let Some(file_id) = uploaded_id(url) {
        let source = Source::File { file_id };
        return match media_type.starts_with("image/") {
            true => Content::Image { source },
            false => Content::Document { source, title },
        };
    }
    match (media_type, inline) {
        ("image/jpeg" | "image/png" | "image/gif" | "image/webp", Some(data)) => {
            Content::Image { source: Source::Base64 { media_type, data } }
        }
        ("application/pdf", Some(data)) => {
            Content::Document { source: Source::Base64 { media_type, data }, title }
        }
        (kind, Some(data)) if data_url::is_text(kind) => match data_url::decode_text(data) {
            Some(text) if !text.trim().is_empty() => {
                let source = Source::Text { media_type: "text/plain", data: text };
                Content::Document { source, title }
            }
            _ => note(kind, filename),
        },
        (kind, None) if is_remote && kind.starts_with("image/") => {
            Content::Image { source: Source::Url { url } }
        }
        ("application/pdf", None) if is_remote => Content::Document { source: Source::Url { url }, title },
        (kind, _) => note(kind, filename),
    }
}

/// Returns the title of a document with this name. The API accepts 1 to 500 characters.
fn title(filename: &str) -> Option<&str> {
    let end = filename.char_indices().nth(MAX_TITLE).map_or(filename.len(), |(at, _)| at);
    filename.get(..end).filter(|title| !title.is_empty())
}

fn note<'a>(media_type: &str, filename: Option<&str>) -> Content<'a> {
    Content::Text { text: data_url::note(media_type, filename).into() }
}
