//! The form of a conversation that model providers accept, and the conversion into it.
//!
//! A transcript is a flat list of [`TranscriptItem`]s. It is **legal** if every tool call has exactly one result, the
//! results of one turn follow its calls directly and in the same order, and every result belongs to a call. [`repair()`]
//! makes any list legal, even after a client stopped, lost or edited parts of the conversation. It never fails.
//!
//! ```
//! use omniassist_core::message::Message;
//! use omniassist_core::transcript;
//!
//! let items = transcript::from_messages(&[Message::user("m1", "Hello")]);
//! assert!(transcript::is_legal(&items));
//! ```

mod build;
mod compact;
mod item;
mod repair;

pub(crate) use build::{denial, insert_context};
pub use build::{from_messages, with_made_files};
pub use compact::{compact, size};
pub use item::{ToolCall, ToolResult, TranscriptItem, UserContent};
pub use repair::{is_legal, repair};
