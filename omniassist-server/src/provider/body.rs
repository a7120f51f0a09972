//! Request bodies: written field by field, in a fixed order, with the host's own fields last.

use bytes::Bytes;
use omniassist_core::transcript::UserContent;
use omniassist_core::{LlmPayload, TranscriptItem};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// Bytes that an item of a conversation has around its text, about.
const FRAME: usize = 96;

/// Writes the top level of a request body. A field that the host gives itself ([`ModelOptions::extra`]) is left to it.
pub(super) struct Body<'a, M> {
    map: M,
    extra: &'a Map<String, Value>,
}

impl<M: SerializeMap> Body<'_, M> {
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), M::Error> {
        if self.extra.contains_key(name) { Ok(()) } else { self.map.serialize_entry(name, value) }
    }

    pub(super) fn optional<T: Serialize>(&mut self, name: &str, value: Option<T>) -> Result<(), M::Error> {
        match value {
            Some(value) => self.field(name, &value),
            None => Ok(()),
        }
    }
}

/// A request that writes its own fields.
pub(super) trait Fields {
    fn write<M: SerializeMap>(&self, body: &mut Body<'_, M>) -> Result<(), M::Error>;
}

struct Whole<'a, F> {
    fields: &'a F,
    extra: &'a Map<String, Value>,
}

impl<F: Fields> Serialize for Whole<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = Body { map: serializer.serialize_map(None)?, extra: self.extra };
        self.fields.write(&mut body)?;
        for (name, value) in self.extra {
            body.map.serialize_entry(name, value)?;
        }
        body.map.end()
    }
}

/// Writes a body. The same request gives the same bytes.
pub(super) fn encode<F: Fields>(fields: &F, payload: &LlmPayload) -> Result<Bytes> {
    let mut out = Vec::with_capacity(size_hint(&payload.transcript));
    Whole { fields, extra: &payload.options.extra }
        .serialize(&mut serde_json::Serializer::new(&mut out))
        .map_err(|source| {
            Error::configuration("the request cannot be written as JSON").with_source(source)
        })?;
    Ok(out.into())
}

/// Returns about the length of a request with this conversation. A buffer that grows is copied each time.
fn size_hint(transcript: &[TranscriptItem]) -> usize {
    let content = |content: &UserContent| match content {
        UserContent::Text { text } => text.len(),
        UserContent::File { url, .. } => url.len(),
        _ => 0,
    };
    let item = |item: &TranscriptItem| match item {
        TranscriptItem::User { content: pieces } => pieces.iter().map(content).sum(),
        TranscriptItem::Text { text, .. } | TranscriptItem::Reasoning { text, .. } => text.len(),
        TranscriptItem::Call(call) => call.arguments.as_str().len(),
        TranscriptItem::Result(result) => result.output.as_str().len(),
        TranscriptItem::ProviderItem { item, .. } => item.as_str().len(),
        _ => 0,
    };
    let text: usize = transcript.iter().map(item).sum();
    // An eighth for what is escaped.
    text + text / 8 + (transcript.len() + 4) * FRAME
}

/// Returns `true` if a schema keeps the rules of OpenAI's strict mode, under which the answer is certain to follow it:
/// every object closed, with all its properties required.
/// <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let closed = match fields.get("properties") {
                Some(Value::Object(properties)) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(|name| {
                            required.is_some_and(|required| required.iter().any(|entry| entry == name))
                        })
                }
                _ => fields.get("type").and_then(Value::as_str) != Some("object"),
            };
            closed && fields.values().all(is_strict)
        }
        Value::Array(values) => values.iter().all(is_strict),
        _ => true,
    }
}
