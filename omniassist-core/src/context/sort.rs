//! Objects in the order of their keys, independent of the features of `serde_json`.

use serde_json::{Map, Value};

/// Returns the entries of an object, sorted by key.
///
/// A host can enable `preserve_order` of `serde_json`, which makes its map iterate in the order of insertion. The bytes of
/// the block must not depend on it.
pub(super) fn entries(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    sorted(|| map.iter())
}

fn sorted<K: Ord, V, I: Iterator<Item = (K, V)>>(iterate: impl Fn() -> I) -> impl Iterator<Item = (K, V)> {
    if iterate().map(|(key, _)| key).is_sorted() {
        return Some(iterate()).into_iter().flatten().chain(Vec::new());
    }
    let mut entries: Vec<_> = iterate().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    None.into_iter().flatten().chain(entries)
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn any_order_comes_out_sorted() {
        let orders = [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"], ["c", "b", "a"]];
        for order in orders {
            let found: Vec<_> = sorted(|| order.iter().map(|key| (*key, ()))).map(|(key, ())| key).collect();
            assert_eq!(found, ["a", "b", "c"], "from {order:?}");
        }
    }
}
