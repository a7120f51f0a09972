use std::collections::BTreeMap;

use bytes::{BufMut, BytesMut};
use serde::Serialize;

use crate::Text;
use crate::dialect::json_write;
use crate::message::ProviderMetadata;

/// One event being written, as a frame of an event stream. `type` comes first; what is absent is left out, since
/// clients of both generations refuse null.
pub(super) struct Frame<'a> {
    out: &'a mut BytesMut,
}

impl<'a> Frame<'a> {
    pub(super) fn new(out: &'a mut BytesMut, kind: &'static str) -> Self {
        out.reserve(128);
        out.put_slice(b"data: {\"type\":\"");
        out.put_slice(kind.as_bytes());
        out.put_u8(b'"');
        Self { out }
    }

    fn key(&mut self, key: &'static str) {
        self.out.put_slice(b",\"");
        self.out.put_slice(key.as_bytes());
        self.out.put_slice(b"\":");
    }

    pub(super) fn text(mut self, key: &'static str, text: &str) -> Self {
        self.key(key);
        json_write::string(self.out, text);
        self
    }

    pub(super) fn optional_text(self, key: &'static str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self,
        }
    }

    /// Text that is JSON already.
    pub(super) fn json(mut self, key: &'static str, json: &str) -> Self {
        self.key(key);
        self.out.put_slice(json.as_bytes());
        self
    }

    pub(super) fn value<T: Serialize + ?Sized>(mut self, key: &'static str, value: &T) -> Self {
        self.key(key);
        json_write::value(self.out, value);
        self
    }

    pub(super) fn optional_value<T: Serialize>(self, key: &'static str, value: Option<&T>) -> Self {
        match value {
            Some(value) => self.value(key, value),
            None => self,
        }
    }

    pub(super) fn end(self) {
        self.out.put_slice(b"}\n\n");
    }
}

/// The part of a text event that is the same for each piece of one message.
pub(super) fn delta_head(kind: &'static str, message_id: &Text) -> BytesMut {
    let mut head = BytesMut::with_capacity(96);
    let frame = Frame::new(&mut head, kind).text("messageId", message_id);
    frame.out.put_slice(b",\"delta\":");
    head
}

/// Writes a piece of a text.
pub(super) fn delta(out: &mut BytesMut, head: &[u8], delta: &str) {
    out.reserve(head.len().saturating_add(delta.len()).saturating_add(8));
    out.put_slice(head);
    json_write::string(out, delta);
    out.put_slice(b"}\n\n");
}

/// Writes state that the client must post back with a message or a call.
pub(super) fn encrypted(
    out: &mut BytesMut,
    subtype: &'static str,
    entity_id: &str,
    state: Option<&ProviderMetadata>,
) {
    let Some(state) = state else { return };
    // A map in two levels is what the reader takes for one of ours.
    let state: BTreeMap<_, _> = state.iter().filter(|(_, value)| value.is_object()).collect();
    if !state.is_empty() {
        let json = serde_json::to_string(&state).unwrap_or_default();
        Frame::new(out, "REASONING_ENCRYPTED_VALUE")
            .text("subtype", subtype)
            .text("entityId", entity_id)
            .text("encryptedValue", &json)
            .end();
    }
}
