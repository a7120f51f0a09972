use super::fields::MessageFields;
use super::part::{self, PartRecord};
use crate::message::body::Body;
use crate::message::raw::{Found, Raw, Reader, Record};
use crate::{Error, Limits, Result};

/// An element of a `messages` array, with its parts read in the same pass.
pub(crate) struct MessageRecord<'a> {
    pub(crate) fields: MessageFields<'a>,
    pub(crate) parts: Option<Found<Vec<PartRecord<'a>>>>,
    body: Body<'a>,
    limits: &'a Limits,
}

impl<'a> MessageRecord<'a> {
    pub(super) fn new(body: Body<'a>, limits: &'a Limits) -> Self {
        Self { fields: MessageFields::default(), parts: None, body, limits }
    }

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

/// The content of a posted message as text. White space between parts is not significant.
#[derive(PartialEq)]
pub(super) struct Words<'a> {
    fields: [Option<Raw<'a>>; 3],
    parts: Vec<Raw<'a>>,
}

impl<'a> Record<'a> for MessageRecord<'a> {
    fn set(&mut self, key: &str, value: &mut Reader<'a>) -> Result<bool> {
        if key != "parts" {
            return self.fields.set(key, value);
        }
        let parts = part_records(value, self.body, self.limits);
        let placed = |error: Error| if error.is_limit() { error.under("messages") } else { error };
        self.parts = Some(parts.map_err(placed)?);
        Ok(true)
    }
}

/// Reads an array of parts.
pub(super) fn part_records<'a>(
    value: &mut Reader<'a>,
    body: Body<'a>,
    limits: &Limits,
) -> Result<Found<Vec<PartRecord<'a>>>> {
    value.array(limits.max_parts, |value| {
        body.count_part()?;
        part::read(value, body, limits)
    })
}

/// Reads a `messages` array.
pub(crate) fn message_records<'a>(
    value: &mut Reader<'a>,
    body: Body<'a>,
    limits: &'a Limits,
) -> Result<Found<Vec<Found<MessageRecord<'a>>>>> {
    value.array(limits.max_conversation_parts, |value| value.object(MessageRecord::new(body, limits)))
}
