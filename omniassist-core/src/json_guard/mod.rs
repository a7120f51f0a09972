//! A look at JSON before it is parsed.
//!
//! A parser that recurses over hostile nesting spends stack, and two parsers that meet one key twice may believe different
//! values of it: what was checked is then not what is used. [`check`] refuses both by one pass over the bytes, without
//! building anything; [`check_depth`] looks at the nesting alone. Whether the bytes are JSON is the parser's to say.
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
mod twice;

pub(crate) use depth::after_string;
pub use depth::check_depth;
pub use keys::check;
pub(crate) use twice::{Key, has_twice};
