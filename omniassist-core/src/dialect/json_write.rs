//! Writes JSON straight into the output buffer.

use std::collections::BTreeMap;

use bytes::{BufMut, BytesMut};
use serde::Serialize;
use serde_json::Value;

use crate::JsonText;
use crate::message::ProviderMetadata;

/// Writes any value, on one line: serde_json escapes line feeds and carriage returns, so the value can stand in a line
/// of an event stream.
pub(super) fn value<T: Serialize + ?Sized>(out: &mut BytesMut, value: &T) {
    let before = out.len();
    if serde_json::to_writer((&mut *out).writer(), value).is_err() {
        // Only a map with keys that are not strings gets here, and no event holds one.
        out.truncate(before);
        out.put_slice(b"null");
    }
}

/// Returns the entries of provider state that clients take and the readers take back: a map in two levels.
pub(super) fn provider_state(state: &ProviderMetadata) -> BTreeMap<&String, &Value> {
    state.iter().filter(|(_, value)| value.is_object()).collect()
}

/// An object that is being written, field by field. What is absent is left out: clients of most dialects refuse null.
pub(super) struct ObjectWriter<'a> {
    out: &'a mut BytesMut,
    is_empty: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Begins an object.
    pub(super) fn new(out: &'a mut BytesMut) -> Self {
        out.put_u8(b'{');
        Self { out, is_empty: true }
    }

    /// Continues an object that begins with these bytes, which hold at least one field.
    pub(super) fn after(out: &'a mut BytesMut, head: &[u8]) -> Self {
        out.put_slice(head);
        Self { out, is_empty: false }
    }

    fn key(&mut self, key: &'static str) {
        self.out.put_slice(if std::mem::take(&mut self.is_empty) { b"\"" } else { b",\"" });
        self.out.put_slice(key.as_bytes());
        self.out.put_slice(b"\":");
    }

    /// Writes a field.
    pub(super) fn field<T: Serialize + ?Sized>(mut self, key: &'static str, field: &T) -> Self {
        self.key(key);
        value(self.out, field);
        self
    }

    /// Writes a field that may be absent.
    pub(super) fn some<T: Serialize + ?Sized>(self, key: &'static str, field: Option<&T>) -> Self {
        match field {
            Some(field) => self.field(key, field),
            None => self,
        }
    }

    /// Writes a field whose value is JSON already.
    pub(super) fn json(mut self, key: &'static str, json: &JsonText) -> Self {
        self.key(key);
        self.out.put_slice(json.as_str().as_bytes());
        self
    }

    /// Writes `true`, or nothing.
    pub(super) fn flag(self, key: &'static str, flag: bool) -> Self {
        self.some(key, flag.then_some(&true))
    }

    /// Leaves the object open, and returns the buffer for the fields that follow.
    pub(super) fn leave_open(self) -> &'a mut BytesMut {
        self.out
    }

    /// Ends the object.
    pub(super) fn end(self) {
        self.out.put_u8(b'}');
    }
}
