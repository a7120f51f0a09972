use super::part::PartSeed;
use crate::message::Part;
use crate::message::raw::{
    self, ArraySeed, Body, Cursor, Found, ObjectSeed, Raw, Record, Seed, raw_item, raw_record,
};
use crate::{Limits, Result};

raw_record! {
    /// The fields of a message, a function call or a function call's output, but for `parts`.
    MessageFields {
        id: "id",
        role: "role",
        content: "content",
        metadata: "metadata",
        kind: "type",
        call_id: "call_id",
        name: "name",
        arguments: "arguments",
        output: "output",
        status: "status",
        message_id: "messageId",
        call_provider_metadata: "callProviderMetadata",
        provider_metadata: "providerMetadata",
    }
}

/// Parts as they were read. What is wrong with one is told where its message is.
pub(crate) type PartRecords = Found<Vec<Found<Result<Part>>>>;

/// An element of a `messages` array, with its parts read in the same walk.
pub(crate) struct MessageRecord<'a> {
    pub(crate) fields: MessageFields<'a>,
    /// The parts, and how they are written.
    pub(crate) parts: Option<(Raw<'a>, PartRecords)>,
    body: Body<'a>,
    limits: &'a Limits,
}

impl<'a> MessageRecord<'a> {
    /// What the record says of a message, whatever its id.
    pub(super) fn words(&self) -> Words<'a> {
        let MessageFields { role, content, metadata, .. } = self.fields;
        let parts = match &self.parts {
            Some((raw, Found::Value(_))) => Some(*raw),
            _ => None,
        };
        Words { fields: [role, content, metadata], parts }
    }
}

/// What a record says of a message.
pub(super) struct Words<'a> {
    fields: [Option<Raw<'a>>; 3],
    parts: Option<Raw<'a>>,
}

impl Words<'_> {
    /// Whether both say the same in the same words. White space between parts does not count.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        let split =
            |parts: Raw<'_>| match raw::read(parts.get(), ArraySeed { limit: usize::MAX, item: raw_item }) {
                Ok(Found::Value(parts)) => parts.iter().map(|raw| raw.get().to_owned()).collect(),
                _ => Vec::new(),
            };
        let same_parts = self.parts == other.parts
            || matches!((self.parts, other.parts), (Some(ours), Some(theirs)) if split(ours) == split(theirs));
        same_parts && self.fields == other.fields
    }
}

impl<'a> Record<'a> for MessageRecord<'a> {
    fn set(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Option<bool> {
        if key != "parts" {
            return self.fields.set(key, cursor);
        }
        if self.parts.is_some() {
            return Some(false);
        }
        self.parts = Some(cursor.with_raw(parts_seed(self.body, self.limits))?);
        Some(true)
    }
}

/// Reads an array of parts.
pub(super) fn parts_seed<'a>(
    body: Body<'a>,
    limits: &'a Limits,
) -> impl Seed<'a, Value = Found<Vec<Found<Result<Part>>>>> {
    ArraySeed { limit: limits.max_parts, item: move || PartSeed { body, limits } }
}

/// Reads a `messages` array.
pub(crate) fn messages_seed<'a>(
    body: Body<'a>,
    limits: &'a Limits,
) -> impl Seed<'a, Value = Found<Vec<Found<MessageRecord<'a>>>>> {
    let item =
        move || ObjectSeed(MessageRecord { fields: MessageFields::default(), parts: None, body, limits });
    ArraySeed { limit: limits.max_messages, item }
}
