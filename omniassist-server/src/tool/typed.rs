use omniassist_core::{JsonText, canonical};
use serde::de::DeserializeOwned;

/// Reads a value that fits a schema as a type. To a schema, `3.0` is an integer, as `3` is. serde reads an integer from `3`
/// only, so a value that does not fit is read as JavaScript writes it, unless that changes a number.
///
/// # Errors
///
/// Returns an error if the value does not match the type.
pub(crate) fn read<T: DeserializeOwned>(json: &JsonText) -> Result<T, serde_json::Error> {
    json.to().or_else(|error| {
        let is_same = canonical::inexact_number(json).is_none();
        let canonical = is_same.then(|| canonical::of(json)).flatten().filter(|form| !form.left_out());
        canonical.and_then(|form| form.json().to().ok()).ok_or(error)
    })
}
