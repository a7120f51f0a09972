//! Forms in parts (RFC 7578).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::style::scalar;

/// The number of bytes of the hash in a boundary.
const HASH_BYTES: usize = 16;

/// Returns the boundary and the text of a form. Each item of a list is a part of its own, and an object is JSON.
pub(super) fn write(fields: &Map<String, Value>, media_types: &BTreeMap<String, String>) -> (String, String) {
    let mut parts = Vec::new();
    for (name, value) in fields {
        let values = match value {
            Value::Null => &[],
            Value::Array(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        parts.extend(values.iter().map(|value| part(name, value, media_types.get(name))));
    }
    // No text can hold the hash of itself.
    let hash = Sha256::digest(parts.concat().as_bytes());
    let boundary: String = hash.iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    let parts: String = parts.iter().map(|part| format!("--{boundary}\r\n{part}\r\n")).collect();
    let text = format!("{parts}--{boundary}--\r\n");
    (boundary, text)
}

fn part(name: &str, value: &Value, media_type: Option<&String>) -> String {
    let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let (text, own) = match scalar(value) {
        Some(text) => (text, None),
        None => (value.to_string(), Some("application/json")),
    };
    let media_type = media_type.map(String::as_str).or(own);
    let media_type = media_type.map(|media_type| format!("Content-Type: {media_type}\r\n"));
    let media_type = media_type.unwrap_or_default();
    format!("Content-Disposition: form-data; name=\"{name}\"\r\n{media_type}\r\n{text}")
}
