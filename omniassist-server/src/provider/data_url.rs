//! Files in `data:` URLs, for APIs that accept only some types.

#[cfg(feature = "openai")]
use std::borrow::Cow;

use base64::Engine;

use crate::lenient_base64::LENIENT_BASE64;

/// Returns the media type and the content of a base64 data URL.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    // Parameters (`;charset=utf-8`) are not part of the type that the API compares.
    Some((media_type.split(';').next().unwrap_or_default(), data))
}

/// Returns the address of an image of a type that OpenAI accepts, with the name of the type that it expects.
/// <https://developers.openai.com/api/docs/guides/images-vision>
#[cfg(feature = "openai")]
pub(super) fn image<'a>(media_type: &'a str, url: &'a str) -> Option<Cow<'a, str>> {
    let inline = split(url);
    let stated = inline.map_or(media_type, |(stated, _)| if stated.is_empty() { media_type } else { stated });
    match (stated, inline) {
        ("image/jpg", Some((_, data))) => Some(format!("data:image/jpeg;base64,{data}").into()),
        ("image/png" | "image/jpeg" | "image/jpg" | "image/gif" | "image/webp" | "image/*", _) => {
            Some(url.into())
        }
        _ => None,
    }
}

pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/") || matches!(media_type, "application/json" | "application/xml")
}

/// Decodes text in either alphabet: that of RFC 4648 section 4, and that for URLs.
pub(super) fn decode_text(data: &str) -> Option<String> {
    let bytes = LENIENT_BASE64.decode(data.replace('-', "+").replace('_', "/")).ok()?;
    String::from_utf8(bytes).ok()
}

/// Returns a text file as a message, for APIs that accept no text files.
#[cfg(any(feature = "openai", feature = "gemini"))]
pub(super) fn quoted(media_type: &str, url: &str, filename: Option<&str>) -> Option<String> {
    let (stated, data) = split(url)?;
    let text = decode_text(data).filter(|_| is_text(if stated.is_empty() { media_type } else { stated }))?;
    let name = filename.map(|name| format!(" {name:?}")).unwrap_or_default();
    Some(format!("[The attached file{name} ({media_type}):]\n{text}"))
}

/// Returns the text that replaces a file for which the API has no form.
pub(super) fn note(media_type: &str, filename: Option<&str>) -> String {
    let name = filename.map(|name| format!(" {name:?}")).unwrap_or_default();
    format!("[The attached file{name} ({media_type}) cannot be shown.]")
}
