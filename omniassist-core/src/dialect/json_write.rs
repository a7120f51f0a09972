//! Writes JSON straight into the output buffer.

use bytes::{BufMut, BytesMut};
use serde::Serialize;

/// Writes text as a JSON string.
///
/// Escapes only the characters that JSON requires. So no line feed or carriage return is left, and the string can
/// stand in a line of an event stream.
pub(super) fn string(out: &mut BytesMut, text: &str) {
    value(out, text);
}

/// Writes a number.
pub(super) fn number(out: &mut BytesMut, number: u64) {
    out.put_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes any value, on one line.
pub(super) fn value<T: Serialize + ?Sized>(out: &mut BytesMut, value: &T) {
    let before = out.len();
    if serde_json::to_writer((&mut *out).writer(), value).is_err() {
        // Only a map with keys that are not strings gets here, and no event holds one.
        out.truncate(before);
        out.put_slice(b"null");
    }
}
