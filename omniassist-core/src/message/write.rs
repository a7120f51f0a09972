use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Approval, Message, Part, ProviderMetadata, ToolPart, ToolState};
use crate::event::Source;

/// Writes the AI SDK's `UIMessage` form: `{id, role, parts, metadata?}`. It is the most complete of the posted forms,
/// and [`read`](super::read) parses it to an equal message.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("parts", &Parts(&self.parts))?;
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        map.end()
    }
}

struct Parts<'a>(&'a [Part]);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        for part in self.0 {
            seq.serialize_element(part)?;
        }
        seq.end()
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Unknown(json) = self {
            return json.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Text(part) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", &part.text)?;
                metadata(&mut map, "providerMetadata", part.metadata.as_ref())?;
            }
            Self::Reasoning(part) => {
                map.serialize_entry("type", "reasoning")?;
                map.serialize_entry("text", &part.text)?;
                metadata(&mut map, "providerMetadata", part.metadata.as_ref())?;
            }
            Self::File(part) => {
                map.serialize_entry("type", "file")?;
                map.serialize_entry("mediaType", &part.media_type)?;
                map.serialize_entry("url", &part.url)?;
                if let Some(filename) = &part.filename {
                    map.serialize_entry("filename", filename)?;
                }
                metadata(&mut map, "providerMetadata", part.metadata.as_ref())?;
            }
            Self::Source(part) => {
                source(&mut map, &part.source)?;
                metadata(&mut map, "providerMetadata", part.metadata.as_ref())?;
            }
            Self::Tool(part) => tool(&mut map, part)?,
            Self::Data(part) => {
                map.serialize_entry("type", &format_args!("data-{}", part.name))?;
                if let Some(id) = &part.id {
                    map.serialize_entry("id", id)?;
                }
                map.serialize_entry("data", &part.data)?;
            }
            Self::StepStart => map.serialize_entry("type", "step-start")?,
            Self::Unknown(_) => {}
        }
        map.end()
    }
}

fn metadata<M: SerializeMap>(
    map: &mut M,
    key: &str,
    value: Option<&ProviderMetadata>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, value),
        None => Ok(()),
    }
}

fn source<M: SerializeMap>(map: &mut M, source: &Source) -> Result<(), M::Error> {
    match source {
        Source::Url { id, url, title } => {
            map.serialize_entry("type", "source-url")?;
            map.serialize_entry("sourceId", id)?;
            map.serialize_entry("url", url)?;
            if let Some(title) = title {
                map.serialize_entry("title", title)?;
            }
        }
        Source::Document { id, media_type, title, filename } => {
            map.serialize_entry("type", "source-document")?;
            map.serialize_entry("sourceId", id)?;
            map.serialize_entry("mediaType", media_type)?;
            map.serialize_entry("title", title)?;
            if let Some(filename) = filename {
                map.serialize_entry("filename", filename)?;
            }
        }
    }
    Ok(())
}

fn tool<M: SerializeMap>(map: &mut M, part: &ToolPart) -> Result<(), M::Error> {
    if part.dynamic {
        map.serialize_entry("type", "dynamic-tool")?;
        map.serialize_entry("toolName", &part.name)?;
    } else {
        map.serialize_entry("type", &format_args!("tool-{}", part.name))?;
    }
    map.serialize_entry("toolCallId", &part.call_id)?;
    match &part.state {
        ToolState::InputStreaming => map.serialize_entry("state", "input-streaming")?,
        ToolState::InputAvailable { input } => {
            map.serialize_entry("state", "input-available")?;
            map.serialize_entry("input", input)?;
        }
        ToolState::ApprovalRequested { input, approval } => {
            approval_state(map, "approval-requested", input, approval)?;
        }
        ToolState::ApprovalResponded { input, approval } => {
            approval_state(map, "approval-responded", input, approval)?;
        }
        ToolState::OutputAvailable { input, output, preliminary } => {
            map.serialize_entry("state", "output-available")?;
            map.serialize_entry("input", input)?;
            map.serialize_entry("output", output)?;
            if *preliminary {
                map.serialize_entry("preliminary", &true)?;
            }
        }
        ToolState::OutputError { input, error_text } => {
            map.serialize_entry("state", "output-error")?;
            if let Some(input) = input {
                map.serialize_entry("input", input)?;
            }
            map.serialize_entry("errorText", error_text)?;
        }
        ToolState::OutputDenied { input, approval } => approval_state(map, "output-denied", input, approval)?,
    }
    if part.provider_executed {
        map.serialize_entry("providerExecuted", &true)?;
    }
    metadata(map, "callProviderMetadata", part.metadata.as_ref())
}

fn approval_state<M: SerializeMap>(
    map: &mut M,
    state: &str,
    input: &crate::JsonText,
    approval: &Approval,
) -> Result<(), M::Error> {
    map.serialize_entry("state", state)?;
    map.serialize_entry("input", input)?;
    map.serialize_entry("approval", approval)
}
