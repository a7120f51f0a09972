//! The references of a schema.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Returns the schema that a reference (`#`, `#/$defs/Name`) leads to.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)
}
