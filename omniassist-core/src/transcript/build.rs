use super::{TranscriptItem, repair};
use crate::Message;

/// Brings messages into the legal form that a model is sent.
#[must_use]
pub fn from_messages(_messages: &[Message]) -> Vec<TranscriptItem> {
    repair(Vec::new())
}
