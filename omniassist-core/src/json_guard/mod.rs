//! Checks of JSON before it is parsed.
//!
//! Deep nesting costs a recursive parser its stack. Where a key stands twice, two parsers may take different values of it,
//! so the value that was checked is not the one that is used. [`check`] refuses both in one pass over the bytes, without
//! an allocation per value. [`check_depth`] looks at the nesting alone. Neither checks the syntax.
//!
//! This is no `serde` visitor: `serde_json` reads strings and numbers to values on the way, and so refuses half
//! surrogate pairs and numbers that no float can hold. Clients post both in the outputs of tools.
//!
//! ```
//! use omniassist_core::json_guard::{check, check_depth};
//!
//! assert!(check_depth(br#"{"messages":[{"text":"[[[["}]}"#, 3).is_ok());
//! assert!(check_depth(b"[[[[]]]]", 3).is_err());
//!
//! let twice = check(br#"{"messages":[{"id":"a","i\u0064":"b"}]}"#, 64).unwrap_err();
//! assert_eq!(twice.path(), Some("messages[0].id"));
//! ```

mod depth;
mod keys;

pub(crate) use depth::after_string;
pub use depth::check_depth;
pub use keys::check;
