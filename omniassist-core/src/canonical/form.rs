use super::write;
use crate::JsonText;

/// The canonical form of a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical {
    json: JsonText,
    left_out: bool,
}

impl Canonical {
    /// Returns the text.
    #[must_use]
    pub fn json(&self) -> &JsonText {
        &self.json
    }

    /// Returns `true` if the canonical form omits a key of the value, as a duplicate or as rejected by clients.
    #[must_use]
    pub fn left_out(&self) -> bool {
        self.left_out
    }
}

/// Returns the canonical form of a value, or `None` if the value is nested more than 128 levels deep.
#[must_use]
pub fn of(json: &JsonText) -> Option<Canonical> {
    let mut out = Vec::new();
    let left_out = append(json, &mut out)?;
    let text = String::from_utf8(out).ok()?;
    Some(Canonical { json: JsonText::from_raw(text.into()), left_out })
}

/// Appends the canonical form of a value to `out`, and returns `true` if a key was [left out](Canonical::left_out).
///
/// Returns `None`, and leaves `out` unchanged, if the value is nested more than 128 levels deep.
#[must_use]
pub fn append(json: &JsonText, out: &mut Vec<u8>) -> Option<bool> {
    write::write(json.as_str(), out)
}
