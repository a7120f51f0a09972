//! Reads posted messages in any of the accepted forms.
//!
//! One array may mix them:
//!
//! - the AI SDK's `UIMessage`: `{id, role, parts, metadata?}`;
//! - the plain [`ChatMessage`](super::ChatMessage): `{id, role, content}`, where `content` is text or an array of
//!   parts;
//! - `{type: "function_call", id, name, arguments}` ([`FunctionCall`](super::FunctionCall)), a tool call of the
//!   preceding assistant message, or of the message with the id `messageId`. The type may be omitted.
//! - `{type: "function_call_output", call_id, output, status}` ([`FunctionCallOutput`](super::FunctionCallOutput)),
//!   the result of that call. The status `incomplete` means that the tool failed. `tool_call_output` is another name of
//!   the type.
//!
//! The reader is lenient. It ignores unknown keys, keeps parts of unknown kinds unchanged, drops messages of unknown
//! roles, derives a missing message id from the message's index, and ignores exact repetitions. A value of the wrong
//! type, a missing required value, and one id for two different items are errors with the exact path. The reader does
//! not decide which roles a client may use.
//!
//! To read the whole body of a request, use the reader of its [`dialect`](crate::dialect).
//!
//! ```
//! use omniassist_core::message::{Part, ToolState, read};
//! use omniassist_core::{Limits, Text};
//!
//! let json = Text::from_static(
//!     r#"[
//!         {"id": "m1", "role": "user", "content": "Where is order 17?"},
//!         {"type": "function_call", "id": "call-1", "name": "order_status", "arguments": {"order": 17}},
//!         {"type": "function_call_output", "call_id": "call-1", "output": "shipped"},
//!         {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "When?"}]}
//!     ]"#,
//! );
//! let messages = read::messages(&json, &Limits::default())?;
//! let [_, answer, _] = messages.as_slice() else { panic!("three messages") };
//! assert!(matches!(
//!     answer.parts.as_slice(),
//!     [Part::Tool(call)] if matches!(call.state, ToolState::OutputAvailable { .. })
//! ));
//!
//! let error = read::messages(&Text::from_static(r#"[{"role": "user", "content": 5}]"#), &Limits::default());
//! assert_eq!(error.unwrap_err().path(), Some("messages[0].content"));
//! # Ok::<(), omniassist_core::Error>(())
//! ```

mod conversation;
mod fields;
mod id;
mod part;
mod record;
mod tool;

use conversation::Conversation;
pub(crate) use conversation::ReadMessages;
pub use id::{check_chat_id, check_id};
pub(crate) use id::{optional_chat_id, optional_id};
pub(crate) use part::PartRecord;
pub(crate) use record::{MessageRecord, message_records};

use super::body::Body;
use super::tree::TreeBudget;
use super::{Message, Role, raw};
use crate::{ErrorCode, Limits, Result, Text};

/// Reads an array of messages. Paths in errors begin with `messages`, as in the body of a request.
///
/// Text without escapes and the inputs and outputs of tools share `json`'s buffer, so the messages keep it alive.
///
/// # Errors
///
/// Returns an error if:
///
/// - `json` is not JSON, an object contains a key twice, or a value has the wrong type;
/// - values are nested deeper than [`Limits::max_json_depth`];
/// - two different messages or tool calls have the same id, or an output belongs to no call;
/// - there are more than [`Limits::max_conversation_parts`] messages or parts, or more than [`Limits::max_parts`] parts
///   in one message;
/// - an id is longer than [`Limits::max_id_bytes`].
pub fn messages(json: &Text, limits: &Limits) -> Result<Vec<Message>> {
    let budget = TreeBudget::new(limits);
    let body = Body::new(json, &budget);
    let records = raw::read(json, limits.max_json_depth, |value| message_records(value, body, limits));
    let records = records.map_err(|error| match error.code() {
        ErrorCode::InvalidRequest => error.under("messages"),
        _ => error,
    })?;
    Ok(from_records(body, limits, records)?.messages)
}

/// Reads the only message that was posted of a conversation. One without an id gets none. Returns `None` if its role is
/// unknown.
pub(crate) fn message(
    body: Body<'_>,
    limits: &Limits,
    raw: raw::Raw<'_>,
    path: &str,
) -> Result<Option<Message>> {
    let record = MessageRecord::new(body, limits);
    let record = raw::reader(raw).object(record)?.object_at(path, "a message")?;
    let is_nameless = raw::present(record.fields.id).is_none_or(|id| id.get() == "\"\"");
    let mut conversation = Conversation::new(body, limits);
    conversation.add(0, record).map_err(|error| error.under(path))?;
    let mut message = conversation.finish().messages.pop();
    if let Some(message) = &mut message {
        if message.role == Role::User {
            message.check_readable(path)?;
        }
        if is_nameless {
            message.id = Text::new();
        }
    }
    Ok(message)
}

/// Converts records of `body` into messages.
pub(crate) fn from_records<'a>(
    body: Body<'a>,
    limits: &'a Limits,
    records: raw::Found<Vec<raw::Found<MessageRecord<'a>>>>,
) -> Result<ReadMessages> {
    let records = records.at(
        "messages",
        "an array of messages",
        ("max_conversation_parts", limits.max_conversation_parts),
    )?;
    let mut conversation = Conversation::new(body, limits);
    for (index, record) in records.into_iter().enumerate() {
        let record = record.object_at(format_args!("messages[{index}]"), "an object")?;
        conversation.add(index, record).map_err(|error| error.under(&format!("messages[{index}]")))?;
    }
    Ok(conversation.finish())
}
