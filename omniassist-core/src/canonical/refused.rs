use serde_json::Value;

/// Takes the keys that clients refuse to read out of a tree, and says whether there were any.
pub(crate) fn remove_refused(value: &mut Value) -> bool {
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
