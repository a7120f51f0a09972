//! Keys that the client refuses to read.
//!
//! The AI SDK parses every chunk with a guard against prototype pollution: an object with a key `__proto__`, or with
//! `prototype` under `constructor`, ends the whole stream with an error. Tool arguments come from a model and outputs
//! from anywhere, so one such key would let either break the user's chat.

use bytes::BytesMut;
use memchr::memmem;
use serde_json::Value;

use crate::canonical::remove_refused;
use crate::dialect::json_write;

/// The spellings of a refused key: itself, or escapes of the letters and the underscore in it.
const SIGNS: [&[u8]; 5] = [b"__proto__", b"constructor", br"\u005", br"\u006", br"\u007"];

/// Takes refused keys out of the chunk that stands in `out` from `start` on. Anything else stays as it is written.
pub(super) fn remove_refused_keys(out: &mut BytesMut, start: usize) {
    let Some(chunk) = out.get(start..) else { return };
    if SIGNS.iter().all(|sign| memmem::find(chunk, sign).is_none()) {
        return;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(chunk) else { return };
    if remove_refused(&mut value) {
        out.truncate(start);
        json_write::value(out, &value);
    }
}
