use serde_json::Value;

/// Removes the keys that clients reject from a tree: `__proto__`, and a `constructor` that contains `prototype`.
/// Returns `true` if there were any.
///
/// ```
/// use omniassist_core::canonical::remove_refused;
///
/// let mut value = serde_json::json!({"a": [{"__proto__": {"admin": true}, "b": 1}], "constructor": 2});
/// assert!(remove_refused(&mut value));
/// assert_eq!(value, serde_json::json!({"a": [{"b": 1}], "constructor": 2}));
/// ```
pub fn remove_refused(value: &mut Value) -> bool {
    let mut removed = false;
    match value {
        Value::Array(items) => {
            for item in items {
                removed |= remove_refused(item);
            }
        }
        Value::Object(object) => {
            removed |= object.remove("__proto__").is_some();
            if object.get("constructor").is_some_and(|inner| inner.get("prototype").is_some()) {
                removed |= object.remove("constructor").is_some();
            }
            for inner in object.values_mut() {
                removed |= remove_refused(inner);
            }
        }
        _ => {}
    }
    removed
}
