use serde_json::{Map, Value};

/// Returns the entries of an object, sorted by key.
///
/// A host can enable `preserve_order` of `serde_json`, which makes its map iterate in the order of insertion. The bytes
/// of the block must not depend on it.
pub(super) fn entries(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}
