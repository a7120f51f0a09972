//! One canonical text for every JSON value.
//!
//! A JavaScript client parses JSON and serialises it again before it posts it back, which can change key order,
//! escapes, white space and the spelling of numbers. The canonical form is the output of such a client, with the keys
//! of every object in the order of their UTF-16 code units. Two texts with one canonical form are the same value to
//! every such client. Digests and signatures are computed over it. To keep a value as it was written, use
//! [`JsonText`](crate::JsonText).
//!
//! - Strings are written with the escapes of `JSON.stringify`, including half surrogate pairs.
//! - Numbers are written as in JavaScript: `1.0` is `1`, `-0` is `0`, `1e21` is `1e+21`, an integer beyond 2⁵³ is the
//!   nearest double, and a number beyond the range of doubles is `null`.
//! - The last of several equal keys counts, as with `JSON.parse`.
//! - A key `__proto__`, and a `constructor` that contains `prototype`, is omitted: the AI SDK's clients reject both, so
//!   neither is sent to them.
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
