use bytes::Bytes;
use omniassist_core::event::Usage;
use omniassist_core::message::read;
use omniassist_core::{JsonText, Limits, Message, Text};

use crate::store::{RunHead, RunId, StoreError, StoredMessage};

/// Returns a message as a store keeps it: the JSON of the AI SDK's `UIMessage`, with the provider's state.
///
/// # Errors
///
/// Returns an error if the message has no JSON form.
pub(in crate::engine::stored) fn stored_message(
    message: &Message,
    parent: Option<Text>,
) -> Result<StoredMessage, StoreError> {
    let body = serde_json::to_vec(message).map_err(StoreError::invalid)?;
    Ok(StoredMessage::new(message.id.clone(), parent, body))
}

/// Reads a stored message, which is the same as before it was stored.
///
/// # Errors
///
/// Returns an error if the body is not such a message.
pub(in crate::engine::stored) fn message(stored: &StoredMessage) -> Result<Message, StoreError> {
    let body = str::from_utf8(&stored.body).map_err(StoreError::corrupt)?;
    let array = Text::from(format!("[{body}]"));
    let messages = read::messages(&array, &unlimited()).map_err(StoreError::corrupt)?;
    let message = messages.into_iter().next().filter(|message| message.id == stored.id);
    message.ok_or_else(|| StoreError::corrupt("a message is stored under another id"))
}

/// Reads stored messages.
///
/// # Errors
///
/// Returns an error if one of them cannot be read.
pub(in crate::engine::stored) fn messages(stored: &[StoredMessage]) -> Result<Vec<Message>, StoreError> {
    stored.iter().map(message).collect()
}

/// Returns the usage of a run as a store keeps it.
pub(in crate::engine::stored) fn stored_usage(usage: &Usage) -> Option<Bytes> {
    serde_json::to_vec(usage).ok().map(Bytes::from)
}

/// Returns the usage that a run was last settled with.
pub(in crate::engine::stored) fn usage_of(head: &RunHead) -> Usage {
    let stored = head.usage.as_ref().and_then(|usage| serde_json::from_slice(usage).ok());
    stored.unwrap_or_default()
}

/// Returns messages as one JSON array.
///
/// # Errors
///
/// Returns an error if a message has no JSON form.
pub(in crate::engine::stored) fn to_array(messages: &[Message]) -> Result<JsonText, StoreError> {
    JsonText::from_serialize(messages).map_err(StoreError::invalid)
}

/// Reads the messages of a JSON array.
///
/// # Errors
///
/// Returns an error if one of them cannot be read.
pub(in crate::engine::stored) fn from_array(array: &JsonText) -> Result<Vec<Message>, StoreError> {
    read::messages(array.text(), &unlimited()).map_err(StoreError::corrupt)
}

/// Returns the id of the message that a run writes, unless it continues another one.
pub(in crate::engine::stored) fn message_id(run: RunId) -> Text {
    format!("msg_{}", run.uuid().simple()).into()
}

/// Returns limits that no message of an answer reaches. The limits of a post do not apply to it.
fn unlimited() -> Limits {
    let mut limits = Limits::default();
    limits.max_json_depth = 127;
    (limits.max_parts, limits.max_conversation_parts) = (usize::MAX, usize::MAX);
    (limits.max_json_memory_bytes, limits.max_id_bytes) = (usize::MAX, usize::MAX);
    limits
}
