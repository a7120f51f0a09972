//! Request bodies: written field by field, in a fixed order, with the host's own fields last.

use bytes::Bytes;
use omniassist_core::transcript::UserContent;
use omniassist_core::{LlmPayload, TranscriptItem};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// The user's message before a conversation that begins with the assistant, for APIs that require one.
pub(super) const OPENING: &str = "(The conversation begins.)";

/// The approximate number of bytes around the text of an item.
const FRAME: usize = 96;

/// A request body while it is written. A field that the host sets itself ([`ModelOptions::extra`]) is not written.
///
/// The fields that stay the same from turn to turn are written first and the conversation last. A longer conversation
/// therefore begins with the bytes of the shorter one, which a provider's prompt cache requires.
pub(super) struct Body<'a> {
    json: Vec<u8>,
    extra: &'a Map<String, Value>,
    written: serde_json::Result<()>,
}

impl<'a> Body<'a> {
    pub(super) fn new(payload: &'a LlmPayload) -> Self {
        let mut json = Vec::with_capacity(size_hint(&payload.transcript));
        json.push(b'{');
        Self { json, extra: &payload.options.extra, written: Ok(()) }
    }

    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if !self.extra.contains_key(name) {
            self.write(name, value);
        }
    }

    pub(super) fn optional<T: Serialize>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.field(name, &value);
        }
    }

    fn write<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        if self.json.len() > 1 {
            self.json.push(b',');
        }
        let name = serde_json::to_writer(&mut self.json, name);
        self.json.push(b':');
        let value = serde_json::to_writer(&mut self.json, value);
        if self.written.is_ok() {
            self.written = name.and(value);
        }
    }

    /// Returns the body. Equal requests give equal bytes.
    pub(super) fn finish(mut self) -> Result<Bytes> {
        for (name, value) in self.extra {
            self.write(name, value);
        }
        self.json.push(b'}');
        self.written.map_err(|source| {
            Error::configuration("the request cannot be written as JSON").with_source(source)
        })?;
        Ok(self.json.into())
    }
}

/// Returns the approximate length of a request with this conversation. A buffer that grows is copied each time.
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
    // An eighth is reserved for escapes.
    text + text / 8 + (transcript.len() + 4) * FRAME
}
