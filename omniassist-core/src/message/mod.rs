//! The parts of a conversation: messages with parts, context messages and function calls.
//!
//! [`Message`] is the common form of the AI SDK's `UIMessage`, AG-UI's messages and the plain [`ChatMessage`]. [`read`]
//! parses posted JSON in any of these forms, and its errors contain the exact path. For the form that models receive,
//! see [`transcript`](crate::transcript).
//!
//! ```
//! use omniassist_core::message::{Message, Part};
//!
//! let message = Message::user("m1", "Where is order 17?");
//! assert!(matches!(message.parts.as_slice(), [Part::Text(text)] if text.text == "Where is order 17?"));
//! ```

mod approval;
pub(crate) mod body;
mod collect;
pub(crate) mod file_url;
pub(crate) mod raw;
pub mod read;
mod record;
mod rich;
pub(crate) mod tree;
mod write;

pub use crate::provider_metadata::{OWN_KEY, ProviderMetadata, own_entries};
pub use approval::{Approval, Decision};
pub use collect::MessageCollector;
pub(crate) use collect::{approval_question, call_label, known_question, merge_metadata, output_seal};
pub use file_url::stored_file_id;
pub use record::{ChatMessage, ContextMessage, FunctionCall, FunctionCallOutput};
pub use rich::{
    DataPart, FilePart, Message, Part, ReasoningPart, Role, SourcePart, TextPart, ToolPart, ToolState,
};
