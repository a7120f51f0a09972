use std::borrow::Cow;

use super::fields::PartFields;
use super::tool;
use crate::event::Source;
use crate::message::body::Body;
use crate::message::raw::{Found, Raw, Reader};
use crate::message::{DataPart, FilePart, Part, ProviderMetadata, ReasoningPart, SourcePart, TextPart};
use crate::{JsonText, Limits, Result, Text};

/// A part with its text. An error of a part is reported together with its message.
pub(crate) type PartRecord<'a> = (Raw<'a>, Found<Result<Part>>);

/// Reads a part. Unknown kinds are kept unchanged.
pub(super) fn read<'a>(value: &mut Reader<'a>, body: Body<'a>, limits: &Limits) -> Result<PartRecord<'a>> {
    let (raw, fields) = value.with_raw(|value| value.object(PartFields::default()))?;
    Ok((raw, fields.map(|fields| of_fields(body, limits, raw, &fields))))
}

fn of_fields<'a>(body: Body<'a>, limits: &Limits, raw: Raw<'a>, fields: &PartFields<'a>) -> Result<Part> {
    let kind = body.word(fields.kind, "type")?;
    let shared = |end: &str| match &kind {
        Cow::Borrowed(_) => body.text.slice_ref(end),
        Cow::Owned(_) => Text::from(end),
    };
    let metadata = || {
        body.optional_object(fields.provider_metadata, "providerMetadata")
            .map(|map| map.map(ProviderMetadata::from))
    };
    Ok(match &*kind {
        "text" => Part::Text(TextPart { text: body.text(fields.text, "text")?, metadata: metadata()? }),
        "reasoning" => {
            Part::Reasoning(ReasoningPart { text: body.text(fields.text, "text")?, metadata: metadata()? })
        }
        "file" => Part::File(FilePart {
            media_type: body.text(fields.media_type, "mediaType")?,
            url: body.text(fields.url, "url")?,
            filename: body.optional_text(fields.filename, "filename")?,
            metadata: metadata()?,
        }),
        "source-url" => Part::Source(SourcePart {
            source: Source::Url {
                id: body.text(fields.source_id, "sourceId")?,
                url: body.text(fields.url, "url")?,
                title: body.optional_text(fields.title, "title")?,
            },
            metadata: metadata()?,
        }),
        "source-document" => Part::Source(SourcePart {
            source: Source::Document {
                id: body.text(fields.source_id, "sourceId")?,
                media_type: body.text(fields.media_type, "mediaType")?,
                title: body.text(fields.title, "title")?,
                filename: body.optional_text(fields.filename, "filename")?,
            },
            metadata: metadata()?,
        }),
        "step-start" => Part::StepStart,
        "dynamic-tool" => {
            let name = body.text(fields.tool_name, "toolName")?;
            Part::Tool(tool::tool(body, limits, fields, name, true)?)
        }
        other => {
            if let Some(name) = other.strip_prefix("tool-") {
                Part::Tool(tool::tool(body, limits, fields, shared(name), false)?)
            } else if let Some(name) = other.strip_prefix("data-") {
                Part::Data(DataPart {
                    name: shared(name),
                    id: body.optional_text(fields.id, "id")?,
                    data: fields.data.map_or(JsonText::NULL, |raw| body.json(raw)),
                })
            } else {
                Part::Unknown(body.json(raw))
            }
        }
    })
}
