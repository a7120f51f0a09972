//! A reader of JSON that arrives in parts, such as the arguments of a tool call while the model writes them.
//!
//! Use it to display a value before it is complete. For complete JSON, use [`JsonText::parse`](crate::JsonText::parse).
//! The browser's components contain the same parser in TypeScript (`widget/src/components/growing.ts`), and the tests
//! compare both.
//!
//! ```
//! use omniassist_core::partial_json::{Growing, Status};
//! use serde_json::json;
//!
//! let schema = json!({"properties": {"city": {"type": "string"}, "date": {"type": "string", "format": "date"}}});
//! let mut growing = Growing::new();
//! growing.push(r#"{"city": "Ber"#)?;
//! assert_eq!(growing.value(), Some(&json!({"city": "Ber"})));
//! assert_eq!(growing.status("/city"), Status::Streaming);
//!
//! growing.push(r#"lin", "date": "2026-1"#)?;
//! assert_eq!(growing.status("/city"), Status::Done);
//! // Half a date is not shown.
//! assert_eq!(*growing.shown(&schema).unwrap(), json!({"city": "Berlin"}));
//!
//! growing.push(r#"1-30"}"#)?;
//! growing.end()?;
//! assert_eq!(*growing.shown(&schema).unwrap(), json!({"city": "Berlin", "date": "2026-11-30"}));
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod escape;
mod growing;
mod shown;

pub use growing::{Growing, Status};
