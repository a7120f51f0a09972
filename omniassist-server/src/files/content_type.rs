//! The media types of files: from their content, and as they are served.

/// The media types of text that clients may name themselves.
const TEXT: [&str; 4] = ["text/plain", "text/markdown", "text/csv", "application/json"];

/// Returns the lowercase media type without parameters, if it is one.
pub(crate) fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_name = |name: &str| {
        (1..=100).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    essence.split_once('/').is_some_and(|(kind, name)| is_name(kind) && is_name(name)).then_some(essence)
}

/// Returns the media type of a file from its first bytes. Text formats cannot be distinguished by their content, so the
/// client's type or the name's extension is used for them. A binary file never gets the type that a client states.
pub(super) fn of(head: &[u8], stated: Option<&str>, name: Option<&str>) -> String {
    let found = infer::get(head).map(|found| found.mime_type());
    // Some texts begin like a binary format: `BM` begins a bitmap, and `BMW` may begin a text.
    if !is_text(head) || found == Some("application/pdf") {
        return match found {
            Some("audio/x-wav") => "audio/wav",
            Some("audio/x-flac") => "audio/flac",
            Some(found) if !found.starts_with("text/") => found,
            _ => "application/octet-stream",
        }
        .to_owned();
    }
    let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
    let stated = stated.filter(|stated| is_text_type(stated));
    let by_content = if contains(head, b"<svg") { Some("image/svg+xml") } else { found };
    let text = match (stated, extension.as_deref()) {
        // Browsers state `text/plain` for unknown formats.
        (Some(stated), _) if stated != "text/plain" => stated,
        (_, Some("md" | "markdown")) => "text/markdown",
        (_, Some("csv")) => "text/csv",
        (_, Some("json")) => "application/json",
        (Some(stated), _) => stated,
        (None, Some("txt" | "log")) => "text/plain",
        (None, _) => by_content.unwrap_or("text/plain"),
    };
    text.to_owned()
}

/// Returns the media type with which a file is served. Browsers may run or interpret every type that is not listed here.
pub(crate) fn served(media_type: &str) -> String {
    let is_inert = match media_type.split_once('/') {
        Some(("image", format)) => {
            matches!(format, "png" | "jpeg" | "gif" | "webp" | "avif" | "bmp" | "heif" | "tiff")
        }
        Some(("audio" | "video", format)) => !format.contains("xml"),
        _ => media_type == "application/pdf" || TEXT.contains(&media_type),
    };
    match (is_inert, media_type.starts_with("text/")) {
        (false, _) => "application/octet-stream".to_owned(),
        (true, true) => format!("{media_type}; charset=utf-8"),
        (true, false) => media_type.to_owned(),
    }
}

/// Returns `true` if a file that is text can have this media type.
fn is_text_type(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || TEXT.contains(&media_type)
        || ["+xml", "+json", "/xml", "javascript"].iter().any(|end| media_type.ends_with(end))
}

/// Returns `true` if the bytes are the beginning of UTF-8 text.
fn is_text(head: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(head)
        // The last character may be cut.
        .map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x0c".contains(byte);
    is_utf8 && !head.iter().any(is_control)
}

fn contains(head: &[u8], word: &[u8]) -> bool {
    head.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}
