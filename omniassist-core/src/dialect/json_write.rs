//! Writes JSON straight into the output buffer.

use std::collections::BTreeMap;

use bytes::{BufMut, BytesMut};
use serde::Serialize;
use serde_json::Value;

use crate::JsonText;
use crate::message::ProviderMetadata;

/// Writes a value on one line. serde_json escapes line feeds and carriage returns, so the result fits a line of an
/// event stream.
pub(super) fn value<T: Serialize + ?Sized>(out: &mut BytesMut, value: &T) {
    let before = out.len();
    if serde_json::to_writer((&mut *out).writer(), value).is_err() {
        // Only a map with keys that are not strings fails, and no event contains one.
        out.truncate(before);
        out.put_slice(b"null");
    }
}

/// Returns the provider state that clients accept and the readers read: a map of two levels.
pub(super) fn provider_state(state: &ProviderMetadata) -> BTreeMap<&String, &Value> {
    state.iter().filter(|(_, value)| value.is_object()).collect()
}

/// Writes an object field by field. Absent values are omitted, because clients of most dialects reject null.
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

    /// Continues an object whose first bytes, with at least one field, are already encoded.
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

    /// Writes an optional field.
    pub(super) fn some<T: Serialize + ?Sized>(self, key: &'static str, field: Option<&T>) -> Self {
        match field {
            Some(field) => self.field(key, field),
            None => self,
        }
    }

    /// Writes a field whose value is already JSON.
    pub(super) fn json(mut self, key: &'static str, json: &JsonText) -> Self {
        self.key(key);
        self.out.put_slice(json.as_str().as_bytes());
        self
    }

    /// Writes `true`, or omits the field.
    pub(super) fn flag(self, key: &'static str, flag: bool) -> Self {
        self.some(key, flag.then_some(&true))
    }

    /// Leaves the object open and returns the buffer for the remaining fields.
    pub(super) fn leave_open(self) -> &'a mut BytesMut {
        self.out
    }

    /// Ends the object.
    pub(super) fn end(self) {
        self.out.put_u8(b'}');
    }
}
