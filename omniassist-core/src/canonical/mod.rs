//! One text for every JSON value, however it was spelled.
//!
//! A client in JavaScript reads JSON and writes it again before it posts it back: key order, escapes, white space and the
//! spelling of numbers are then its own. The canonical form is what such a client would write, with the keys of every
//! object in the order of their UTF-16 code units: two texts with one canonical form are one value to every such
//! client. Digests and signatures are made over it.
//! To keep a value as it was written, see [`JsonText`](crate::JsonText).
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
mod form;
mod number;
mod refused;
mod write;

pub use exact::{
    InexactNumber, has_other_numbers, inexact_number, is_deeper_than, rounded_number, with_exact_numbers,
};
pub use form::{Canonical, append, of};
pub use refused::remove_refused;
