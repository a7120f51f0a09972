use serde::de::{DeserializeSeed, MapAccess};

use crate::message::raw::{ArraySeed, Found, ObjectSeed, Raw, Record, raw_item, raw_record};
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
    }
}

/// An element of a `messages` array, with its parts told apart in the same walk.
pub(crate) struct MessageRecord<'a> {
    pub(crate) fields: MessageFields<'a>,
    pub(crate) parts: Option<Found<Vec<Raw<'a>>>>,
    max_parts: usize,
}

impl MessageRecord<'_> {
    /// Whether both say the same of a message in the same words, whatever their ids.
    pub(super) fn is_same_message(&self, other: &Self) -> bool {
        fn parts<'a>(record: &'a MessageRecord<'_>) -> Option<impl Iterator<Item = &'a str>> {
            match &record.parts {
                Some(Found::Value(parts)) => Some(parts.iter().map(|raw| raw.get())),
                _ => None,
            }
        }
        let fields = |record: &Self| {
            [record.fields.role, record.fields.content, record.fields.metadata].map(|raw| raw.map(Raw::get))
        };
        let same_parts = match (parts(self), parts(other)) {
            (Some(ours), Some(theirs)) => ours.eq(theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        same_parts && fields(self) == fields(other)
    }
}

impl<'de> Record<'de> for MessageRecord<'de> {
    fn set<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "parts" {
            return self.fields.set(key, map);
        }
        if self.parts.is_some() {
            return Ok(false);
        }
        self.parts = Some(map.next_value_seed(ArraySeed { limit: self.max_parts, item: raw_item })?);
        Ok(true)
    }
}

/// Reads a `messages` array.
pub(crate) fn messages_seed<'de>(
    limits: &Limits,
) -> impl DeserializeSeed<'de, Value = Found<Vec<Found<MessageRecord<'de>>>>> {
    let max_parts = limits.max_parts;
    let item = move || ObjectSeed(MessageRecord { fields: MessageFields::default(), parts: None, max_parts });
    ArraySeed { limit: limits.max_messages, item }
}
