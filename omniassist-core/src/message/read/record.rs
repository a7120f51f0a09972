use serde::de::{DeserializeSeed, MapAccess};

use super::fields::MessageFields;
use super::part::{PartRecord, PartSeed};
use crate::message::body::Body;
use crate::message::raw::{ArraySeed, Found, ObjectSeed, Raw, Record};
use crate::{Limits, Result};

/// An element of a `messages` array, with its parts read in the same walk.
pub(crate) struct MessageRecord<'a> {
    pub(crate) fields: MessageFields<'a>,
    pub(crate) parts: Option<Found<Vec<PartRecord<'a>>>>,
    body: Body<'a>,
    limits: &'a Limits,
}

impl<'a> MessageRecord<'a> {
    /// Returns the content of a message, without its id.
    pub(super) fn words(&self) -> Words<'a> {
        let MessageFields { role, content, metadata, .. } = self.fields;
        let parts = match &self.parts {
            Some(Found::Value(parts)) => parts.iter().map(|(raw, _)| *raw).collect(),
            _ => Vec::new(),
        };
        Words { fields: [role, content, metadata], parts }
    }
}

/// The content of a posted message, as it was written. White space between parts does not count.
#[derive(PartialEq)]
pub(super) struct Words<'a> {
    fields: [Option<Raw<'a>>; 3],
    parts: Vec<Raw<'a>>,
}

impl<'a> Record<'a> for MessageRecord<'a> {
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "parts" {
            return self.fields.set(key, map);
        }
        if self.parts.is_some() {
            return Ok(false);
        }
        self.parts = Some(map.next_value_seed(parts_seed(self.body, self.limits))?);
        Ok(true)
    }
}

/// Reads an array of parts.
pub(super) fn parts_seed<'a>(
    body: Body<'a>,
    limits: &'a Limits,
) -> impl DeserializeSeed<'a, Value = Found<Vec<PartRecord<'a>>>> {
    ArraySeed { limit: limits.max_parts, item: move || PartSeed { body, limits } }
}

/// Reads a `messages` array.
pub(crate) fn messages_seed<'a>(
    body: Body<'a>,
    limits: &'a Limits,
) -> impl DeserializeSeed<'a, Value = Found<Vec<Found<MessageRecord<'a>>>>> {
    let item =
        move || ObjectSeed(MessageRecord { fields: MessageFields::default(), parts: None, body, limits });
    ArraySeed { limit: limits.max_messages, item }
}
