//! The content of user messages.

use crate::message::body::Body;
use crate::message::raw::{self, ArraySeed, Raw, present, raw_item, raw_record};
use crate::message::{FilePart, Part};
use crate::{Error, Limits, Result, Text};

raw_record! {
    /// The fields of all kinds of parts.
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
    /// The part of a part's metadata that clients agree on.
    PartMetadata {
        filename: "filename",
    }
}

/// Reads the content of a user message: text, or an array of parts. Kinds that are not known, and files that only some
/// provider holds, are kept as they came.
pub(super) fn parts(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<Part>> {
    let expected = "a string or an array of parts";
    let Some(raw) = raw else { return Err(Error::invalid_field("content", expected, "nothing")) };
    if raw::kind(raw) == "a string" {
        return Ok(vec![Part::text(body.text(Some(raw), "content")?)]);
    }
    let limit = ("max_parts", limits.max_parts);
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let items = items.at("content", expected, limit)?;
    let read = |(number, raw)| part(body, number, raw).map_err(|error| error.under("content"));
    items.into_iter().enumerate().map(read).collect()
}

/// The text of a tool message: its content, or the texts of its parts. Parts that are no text stand in it as JSON.
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

fn part(body: Body<'_>, number: usize, raw: Raw<'_>) -> Result<Part> {
    let path = format!("[{number}]");
    let fields: PartFields<'_> = raw::object(raw)?.object_at(&path, "an object")?;
    let part = match body.text(fields.kind, "type").map_err(|error| error.under(&path))?.as_str() {
        "text" => body.text(fields.text, "text").map(|text| Some(Part::text(text))),
        "image" => media(body, &fields, "image/*"),
        "audio" => media(body, &fields, "audio/*"),
        "video" => media(body, &fields, "video/*"),
        "document" => media(body, &fields, "application/octet-stream"),
        "binary" => binary(body, &fields),
        _ => Ok(None),
    };
    match part {
        Ok(Some(part)) => Ok(part),
        Ok(None) => Ok(Part::Unknown(body.json(raw))),
        Err(error) => Err(error.under(&path)),
    }
}

/// A part with a source. `kind` is its media type where the source does not say.
fn media(body: Body<'_>, fields: &PartFields<'_>, kind: &'static str) -> Result<Option<Part>> {
    let Some(source) = present(fields.source) else {
        return Err(Error::invalid_field("source", "an object", raw::kind_of(fields.source)));
    };
    let source: SourceFields<'_> = raw::object(source)?.object_at("source", "an object")?;
    let filename = match present(fields.metadata) {
        Some(metadata) if raw::kind(metadata) == "an object" => {
            let metadata: PartMetadata<'_> = raw::object(metadata)?.object_at("metadata", "an object")?;
            let is_text = |raw: &Raw<'_>| raw::kind(*raw) == "a string";
            body.optional_text(metadata.filename.filter(is_text), "metadata.filename")?
        }
        _ => None,
    };
    let under = |error: Error| error.under("source");
    let media_type = body.optional_text(source.mime_type, "mimeType").map_err(under)?;
    let url = match body.text(source.kind, "type").map_err(under)?.as_str() {
        "data" => {
            let media_type = media_type.as_deref().unwrap_or_default();
            data_url(body, media_type, source.value, "value").map_err(under)?
        }
        "url" => body.text(source.value, "value").map_err(under)?,
        _ => return Ok(None),
    };
    let media_type = media_type.unwrap_or(Text::from_static(kind));
    Ok(Some(Part::File(FilePart { media_type, url, filename, metadata: None })))
}

/// A part of the kind that clients before 1.0 send.
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
