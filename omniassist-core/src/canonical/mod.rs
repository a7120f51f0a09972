//! One text for every JSON value, however it was spelled.
//!
//! A client in JavaScript reads JSON and writes it again before it posts it back: key order, escapes, white space and the
//! spelling of numbers are then its own. The canonical form is what such a client would write, with the keys of every
//! object in the order of their UTF-16 code units: two texts with one canonical form are one value to every such
//! client. Digests and signatures are made over it. To keep a value as it was written, see [`JsonText`].
//!
//! - Strings are written with the escapes of `JSON.stringify`, half surrogate pairs included.
//! - Numbers are written as JavaScript prints them: `1.0` is `1`, `-0` is `0`, `1e21` is `1e+21`, an integer beyond 2⁵³
//!   is the double next to it, and what no double can hold is `null`.
//! - Of a key that stands twice, the last one counts, as with `JSON.parse`.
//! - A key `__proto__`, and a `constructor` that has a `prototype`, is left out: the AI SDK's clients refuse to read
//!   either, so neither is sent to them.
//!
//! ```
//! use omniassist_core::{JsonText, canonical};
//!
//! let json = JsonText::parse(r#"{"b": 1.0, "a": "\u00fc"}"#)?;
//! let canonical = canonical::of(&json).expect("nested less than 128 levels deep");
//! assert_eq!(canonical.json().as_str(), r#"{"a":"ü","b":1}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod exact;
mod key;
mod number;
mod refused;
mod write;

pub use exact::{
    InexactNumber, has_other_numbers, inexact_number, is_deeper_than, rounded_number, with_exact_numbers,
};
pub use refused::remove_refused;

use crate::JsonText;

/// Nesting beyond which a value has no canonical form.
const MAX_DEPTH: usize = 128;

/// The canonical form of a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical {
    json: JsonText,
    left_out: bool,
}

impl Canonical {
    /// The form itself.
    #[must_use]
    pub fn json(&self) -> &JsonText {
        &self.json
    }

    /// The form itself.
    #[must_use]
    pub fn into_json(self) -> JsonText {
        self.json
    }

    /// Whether something that stood in the value is not in its canonical form: a key that stood twice, or one that is
    /// refused.
    #[must_use]
    pub fn left_out(&self) -> bool {
        self.left_out
    }
}

/// The canonical form of a value. `None` for one that is nested more than 128 levels deep.
#[must_use]
pub fn of(json: &JsonText) -> Option<Canonical> {
    let mut out = Vec::with_capacity(json.as_str().len());
    let left_out = write::write(json.as_str(), &mut out)?;
    let text = String::from_utf8(out).ok()?;
    Some(Canonical { json: JsonText::from_raw(text.into()), left_out })
}

/// Appends the canonical form of a value to `out`. `None`, with `out` as it was, for one that is nested more than 128
/// levels deep.
#[must_use]
pub fn append(json: &JsonText, out: &mut Vec<u8>) -> Option<()> {
    rewrite(json, out).map(drop)
}

/// As [`append`], and says whether something was [left out](Canonical::left_out).
pub(crate) fn rewrite(json: &JsonText, out: &mut Vec<u8>) -> Option<bool> {
    write::write(json.as_str(), out)
}
