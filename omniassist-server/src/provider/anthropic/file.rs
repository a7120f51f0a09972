//! Files that the user sent, as content blocks.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use omniassist_core::Text;

use super::content::{Content, Source};

/// Browsers and servers write data URLs with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An image or a document; a note where the API has no form for the file, so that the model at least knows of it.
pub(super) fn content<'a>(media_type: &'a Text, url: &'a Text, filename: Option<&'a str>) -> Content<'a> {
    let (media_type, inline) = match split_data_url(url) {
        Some((stated, data)) => (if stated.is_empty() { media_type.as_str() } else { stated }, Some(data)),
        None => (media_type.as_str(), None),
    };
    let is_remote = url.starts_with("https://") || url.starts_with("http://");
    let media_type = if media_type == "image/jpg" { "image/jpeg" } else { media_type };
    match (media_type, inline) {
        ("image/jpeg" | "image/png" | "image/gif" | "image/webp", Some(data)) => {
            Content::Image { source: Source::Base64 { media_type, data } }
        }
        ("application/pdf", Some(data)) => {
            Content::Document { source: Source::Base64 { media_type, data }, title: filename }
        }
        (kind, Some(data)) if is_text(kind) => match decoded(data) {
            Some(text) if !text.trim().is_empty() => {
                let source = Source::Text { media_type: "text/plain", data: text };
                Content::Document { source, title: filename }
            }
            _ => note(kind, filename),
        },
        (kind, None) if is_remote && kind.starts_with("image/") => {
            Content::Image { source: Source::Url { url } }
        }
        ("application/pdf", None) if is_remote => {
            Content::Document { source: Source::Url { url }, title: filename }
        }
        (kind, _) => note(kind, filename),
    }
}

/// Decodes text in either of the two alphabets, that of RFC 4648 section 4 and that for URLs.
fn decoded(data: &str) -> Option<String> {
    let bytes = BASE64.decode(data.replace('-', "+").replace('_', "/")).ok()?;
    String::from_utf8(bytes).ok()
}

fn note<'a>(media_type: &str, filename: Option<&str>) -> Content<'a> {
    let name = filename.map(|name| format!(" {name:?}")).unwrap_or_default();
    Content::Text { text: format!("[The attached file{name} ({media_type}) cannot be shown.]").into() }
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || matches!(media_type, "application/json" | "application/xml")
}

/// Media type and content of a base64 data URL.
fn split_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    // Parameters (`;charset=utf-8`) are no part of the type that the API compares.
    Some((media_type.split(';').next().unwrap_or_default(), data))
}
