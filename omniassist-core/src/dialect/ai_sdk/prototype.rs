//! Keys that the client refuses to read.
//!
//! The AI SDK parses every chunk with a guard against prototype pollution: an object with a key `__proto__`, or with
//! `prototype` under `constructor`, ends the whole stream with an error. Tool arguments come from a model and outputs
//! from anywhere, so one such key would let either break the user's chat.

use std::sync::LazyLock;

use bytes::BytesMut;
use memchr::memmem::Finder;
use serde_json::Value;

use crate::canonical::remove_refused;
use crate::dialect::json_write;

/// The spellings of a refused key: itself, or escapes of the letters and the underscore in it.
static SIGNS: LazyLock<[Finder<'static>; 5]> =
    LazyLock::new(|| ["__proto__", "constructor", r"\u005", r"\u006", r"\u007"].map(Finder::new));

/// Takes refused keys out of the chunk that stands in `out` from `start` on. Anything else stays as it is written.
pub(super) fn remove_refused_keys(out: &mut BytesMut, start: usize) {
    let Some(chunk) = out.get(start..) else { return };
    if SIGNS.iter().all(|sign| sign.find(chunk).is_none()) {
        return;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(chunk) else { return };
    if remove_refused(&mut value) {
        out.truncate(start);
        json_write::value(out, &value);
    }
}
