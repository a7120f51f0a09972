//! Writes JSON straight into the output buffer.

use bytes::{BufMut, BytesMut};
use serde::Serialize;

use crate::json_scan::{Escape, plain_length};

/// Writes text as a JSON string. Allocates nothing but room in `out`.
///
/// Escapes only the characters that JSON requires. So no line feed or carriage return is left, and the string can
/// stand in a line of an event stream.
pub(super) fn string(out: &mut BytesMut, text: &str) {
    out.reserve(text.len().saturating_add(2));
    out.put_u8(b'"');
    content(out, text);
    out.put_u8(b'"');
}

/// Writes text as it stands between the quotes of a JSON string.
pub(super) fn content(out: &mut BytesMut, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let (clean, tail) = rest.split_at(plain_length(rest));
        out.put_slice(clean);
        let Some((&byte, tail)) = tail.split_first() else { break };
        out.put_slice(Escape::of(byte).as_bytes());
        rest = tail;
    }
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
