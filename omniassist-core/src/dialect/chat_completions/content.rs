//! The content of messages: a string, or an array of parts.

use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::message::{FilePart, Part, stored_file_id};
use crate::{Error, Limits, Result, Text};

raw_record! {
    /// The fields of all kinds of content parts.
    PartFields {
        kind: "type",
        text: "text",
        refusal: "refusal",
        image_url: "image_url",
        file: "file",
        input_audio: "input_audio",
    }
}

raw_record! {
    /// The fields of `image_url`, `file` and `input_audio`.
    FileFields {
        url: "url",
        file_data: "file_data",
        file_id: "file_id",
        filename: "filename",
        data: "data",
        format: "format",
    }
}

const CONTENT: &str = "a string or an array of parts";

/// Reads the content of a user message.
pub(super) fn of_user(body: Body<'_>, limits: &Limits, content: Option<Raw<'_>>) -> Result<Vec<Part>> {
    read(body, limits, content, |fields, kind| match kind {
        "text" => Ok(Part::text(body.text(fields.text, "text")?)),
        "image_url" => posted::object(fields.image_url, kind, |fields| image(body, &fields)),
        "file" => posted::object(fields.file, kind, |fields| file(body, &fields)),
        "input_audio" => posted::object(fields.input_audio, kind, |fields| audio(body, &fields)),
        _ => Err(unknown("\"text\", \"image_url\", \"file\" or \"input_audio\"")),
    })
}

/// Reads content that must be text. With `refusals`, it may also contain refusals, which are read as text.
pub(super) fn of_text(
    body: Body<'_>,
    limits: &Limits,
    content: Option<Raw<'_>>,
    refusals: bool,
) -> Result<Vec<Part>> {
    read(body, limits, content, |fields, kind| match kind {
        "text" => Ok(Part::text(body.text(fields.text, "text")?)),
        "refusal" if refusals => Ok(Part::text(body.text(fields.refusal, "refusal")?)),
        _ => Err(unknown(if refusals { "\"text\" or \"refusal\"" } else { "\"text\"" })),
    })
}

fn unknown(expected: &'static str) -> Error {
    Error::invalid_field("type", expected, "another string")
}

fn read<'a>(
    body: Body<'_>,
    limits: &Limits,
    content: Option<Raw<'a>>,
    part: impl Fn(&PartFields<'a>, &str) -> Result<Part>,
) -> Result<Vec<Part>> {
    let Some(content) = present(content) else {
        return Err(Error::invalid_field("content", CONTENT, raw::kind_of(content)));
    };
    if raw::kind(content) == "a string" {
        return Ok(vec![Part::text(body.text(Some(content), "content")?)]);
    }
    let limit = ("max_parts", limits.max_parts);
    posted::objects(Some(content), "content", CONTENT, limit, |_, _, fields: PartFields<'a>| {
        body.count_part()?;
        let kind = body.text(fields.kind, "type")?;
        part(&fields, &kind)
    })
}

fn part(media_type: Text, url: Text, filename: Option<Text>) -> Part {
    Part::File(FilePart { media_type, url, filename, metadata: None })
}

fn image(body: Body<'_>, image: &FileFields<'_>) -> Result<Part> {
    let url = body.text(image.url, "url")?;
    let media_type = match data_type(&url) {
        Some(stated) if stated.starts_with("image/") => stated,
        None if url.starts_with("https://")
            || url.starts_with("http://")
            || stored_file_id(&url).is_some() =>
        {
            Text::from_static(by_ending(&url))
        }
        _ => {
            return Err(Error::invalid_field(
                "url",
                "an https: URL, or a data: URL of an image",
                "another string",
            ));
        }
    };
    Ok(part(media_type, url, None))
}

fn file(body: Body<'_>, file: &FileFields<'_>) -> Result<Part> {
    if present(file.file_id).is_some() {
        let expected = "nothing: files are not stored here, send `file_data`";
        return Err(Error::invalid_field("file_id", expected, "an id"));
    }
    let url = body.text(file.file_data, "file_data")?;
    let filename = body.optional_text(file.filename, "filename")?;
    match data_type(&url) {
        Some(media_type) => Ok(part(media_type, url, filename)),
        None => Err(Error::invalid_field("file_data", "a data: URL with a media type", "another string")),
    }
}

fn audio(body: Body<'_>, audio: &FileFields<'_>) -> Result<Part> {
    let data = body.text(audio.data, "data")?;
    let media_type = match body.text(audio.format, "format")?.as_str() {
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        _ => return Err(Error::invalid_field("format", "\"wav\" or \"mp3\"", "another string")),
    };
    let url = format!("data:{media_type};base64,{data}").into();
    Ok(part(Text::from_static(media_type), url, None))
}

/// Returns the media type of a `data:` URL, without parameters.
fn data_type(url: &Text) -> Option<Text> {
    let (head, _) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.split(';').next().unwrap_or_default();
    media_type.contains('/').then(|| url.slice_ref(media_type))
}

/// Derives a media type from the ending of the URL: the API does not state one, and some providers require it.
fn by_ending(url: &str) -> &'static str {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        _ => "image/*",
    }
}
