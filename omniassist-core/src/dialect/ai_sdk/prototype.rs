//! Removal of keys that the client rejects.
//!
//! The AI SDK checks every chunk for prototype pollution: an object with a key `__proto__`, or with `prototype` under
//! `constructor`, ends the stream with an error. Tool arguments come from a model and outputs from any source, so
//! without the removal one such key would break the user's chat.

use std::sync::LazyLock;

use bytes::BytesMut;
use memchr::memmem::Finder;
use serde_json::Value;

use crate::canonical::remove_refused;
use crate::dialect::json_write;

/// The spellings of a rejected key: plain, or with escapes of its letters and underscores.
static SIGNS: LazyLock<[Finder<'static>; 5]> =
    LazyLock::new(|| ["__proto__", "constructor", r"\u005", r"\u006", r"\u007"].map(Finder::new));

/// Removes rejected keys from the chunk that begins at `start` in `out`. Everything else is unchanged.
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
