//! The content of user messages.

use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::message::{FilePart, Part};
use crate::{Error, Limits, Result, Text};

raw_record! {
    /// The fields of all kinds of content parts.
    PartFields {
        kind: "type",
        text: "text",
        source: "source",
        metadata: "metadata",
        mime_type: "mimeType",
        url: "url",
        data: "data",
        filename: "filename",
    }
}

raw_record! {
    /// The source of a part's bytes.
    SourceFields {
        kind: "type",
        value: "value",
        mime_type: "mimeType",
    }
}

raw_record! {
    /// The metadata of a part that clients agree on.
    PartMetadata {
        filename: "filename",
    }
}

/// Reads the content of a user message: text or an array of parts. Unknown kinds, and files that are stored at a
/// provider, are kept unchanged.
pub(super) fn parts(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<Part>> {
    let expected = "a string or an array of parts";
    let Some(raw) = raw else { return Err(Error::invalid_field("content", expected, "nothing")) };
    if raw::kind(raw) == "a string" {
        return Ok(vec![Part::text(body.text(Some(raw), "content")?)]);
    }
    let limit = ("max_parts", limits.max_parts);
    posted::objects(Some(raw), "content", expected, limit, |_, raw, fields| {
        body.count_part()?;
        part(body, raw, &fields)
    })
}

/// Returns the text of a tool message: its content, or its text parts. Other parts are included as JSON.
pub(super) fn tool_text(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Text> {
    match raw {
        Some(raw) if raw::kind(raw) == "an array" => {
            let parts = parts(body, limits, Some(raw))?;
            let texts: Option<String> = parts
                .iter()
                .map(|part| match part {
                    Part::Text(part) => Some(part.text.as_str()),
                    _ => None,
                })
                .collect();
            Ok(texts.map_or_else(|| body.json(raw).text().clone(), Text::from))
        }
        raw => body.text(raw, "content"),
    }
}

fn part(body: Body<'_>, raw: Raw<'_>, fields: &PartFields<'_>) -> Result<Part> {
    let part = match body.text(fields.kind, "type")?.as_str() {
        "text" => Some(Part::text(body.text(fields.text, "text")?)),
        "image" => media(body, fields, "image/*")?,
        "audio" => media(body, fields, "audio/*")?,
        "video" => media(body, fields, "video/*")?,
        "document" => media(body, fields, "application/octet-stream")?,
        "binary" => binary(body, fields)?,
        _ => None,
    };
    Ok(part.unwrap_or_else(|| Part::Unknown(body.json(raw))))
}

/// Reads a part with a source. `kind` is the media type if the source has none.
fn media(body: Body<'_>, fields: &PartFields<'_>, kind: &'static str) -> Result<Option<Part>> {
    let filename = match present(fields.metadata) {
        Some(metadata) if raw::kind(metadata) == "an object" => {
            let metadata: PartMetadata<'_> = raw::object(metadata)?.object_at("metadata", "an object")?;
            let is_text = |raw: &Raw<'_>| raw::kind(*raw) == "a string";
            body.optional_text(metadata.filename.filter(is_text), "metadata.filename")?
        }
        _ => None,
    };
    posted::object(fields.source, "source", |source: SourceFields<'_>| {
        let media_type = body.optional_text(source.mime_type, "mimeType")?;
        let url = match body.text(source.kind, "type")?.as_str() {
            "data" => data_url(body, media_type.as_deref().unwrap_or_default(), source.value, "value")?,
            "url" => body.text(source.value, "value")?,
            _ => return Ok(None),
        };
        let media_type = media_type.unwrap_or(Text::from_static(kind));
        Ok(Some(Part::File(FilePart { media_type, url, filename, metadata: None })))
    })
}

/// Reads a `binary` part, which clients before 1.0 send.
fn binary(body: Body<'_>, fields: &PartFields<'_>) -> Result<Option<Part>> {
    let media_type = body.text(fields.mime_type, "mimeType")?;
    let filename = body.optional_text(fields.filename, "filename")?;
    let url = match (present(fields.data), present(fields.url)) {
        (Some(data), _) => data_url(body, &media_type, Some(data), "data")?,
        (None, Some(url)) => body.text(Some(url), "url")?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Part::File(FilePart { media_type, url, filename, metadata: None })))
}

fn data_url(body: Body<'_>, media_type: &str, data: Option<Raw<'_>>, key: &str) -> Result<Text> {
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b',';
    if !media_type.bytes().all(fits) || !media_type.contains('/') {
        let found = if media_type.is_empty() { "nothing" } else { "something else" };
        return Err(Error::invalid_field("mimeType", "a media type", found));
    }
    let data = body.text(data, key)?;
    Ok(format!("data:{media_type};base64,{data}").into())
}
