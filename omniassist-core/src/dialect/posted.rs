//! Reading of posted bodies, as all dialects do it.

use serde::de::{DeserializeSeed, MapAccess};

use crate::message::raw::{self, ArraySeed, Found, ObjectSeed, Raw, Record, present, raw_item};
use crate::message::{Message, Role};
use crate::{Error, JsonText, Limits, Result, Text};

/// The fields of a body, and its messages in the form that their seed reads.
struct Head<F, S, M> {
    fields: F,
    seed: Option<S>,
    messages: Option<M>,
}

impl<'a, F: Record<'a>, S: DeserializeSeed<'a>> Record<'a> for Head<F, S, S::Value> {
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "messages" {
            return self.fields.set(key, map);
        }
        let Some(seed) = self.seed.take() else { return Ok(false) };
        self.messages = Some(map.next_value_seed(seed)?);
        Ok(true)
    }
}

/// Reads a body with `messages`.
pub(super) fn head<'a, F: Record<'a>, S: DeserializeSeed<'a>>(
    text: &'a Text,
    limits: &Limits,
    fields: F,
    messages: S,
) -> Result<(F, Option<S::Value>)> {
    let head = body(text, limits, Head { fields, seed: Some(messages), messages: None })?;
    Ok((head.fields, head.messages))
}

/// Reads a body.
pub(super) fn body<'a, R: Record<'a>>(text: &'a Text, limits: &Limits, record: R) -> Result<R> {
    match raw::read_guarded(text, limits.max_json_depth, ObjectSeed(record))? {
        Found::Duplicate(key) => Err(Error::invalid_field(key, "a key once", "the key twice")),
        record => record.object_at("body", "an object"),
    }
}

/// Reads an array of messages.
pub(super) fn messages<'a, R: Record<'a> + Default>(
    limits: &Limits,
) -> impl DeserializeSeed<'a, Value = Found<Vec<Found<R>>>> {
    ArraySeed { limit: limits.max_messages, item: || ObjectSeed(R::default()) }
}

/// Reads the fields of an object that must be there. Errors of `read` get the path.
pub(super) fn object<'a, R: Record<'a> + Default, T>(
    raw: Option<Raw<'a>>,
    path: &str,
    read: impl FnOnce(R) -> Result<T>,
) -> Result<T> {
    let Some(raw) = raw else { return Err(Error::invalid_field(path, "an object", "nothing")) };
    let fields = raw::object(raw)?.object_at(path, "an object")?;
    read(fields).map_err(|error| error.under(path))
}

/// Reads the objects of an array that may be absent or null. `read` gets the index of each, its text and its fields;
/// its errors get the path.
pub(super) fn objects<'a, R: Record<'a> + Default, T>(
    raw: Option<Raw<'a>>,
    path: &str,
    expected: &'static str,
    limit: (&'static str, usize),
    mut read: impl FnMut(usize, Raw<'a>, R) -> Result<T>,
) -> Result<Vec<T>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let items = items.at(path, expected, limit)?.into_iter().enumerate();
    items
        .map(|(index, raw)| object(Some(raw), &format!("{path}[{index}]"), |fields| read(index, raw, fields)))
        .collect()
}

/// Returns the arguments that a text stands for: none for no text, and a JSON string for text that is not JSON.
pub(super) fn arguments(text: &Text) -> JsonText {
    if text.trim().is_empty() { JsonText::EMPTY_OBJECT } else { json_or_string(text) }
}

/// Returns the JSON value that a text stands for: itself, or a string.
pub(super) fn json_or_string(text: &Text) -> JsonText {
    JsonText::parse(text.clone()).unwrap_or_else(|_| JsonText::from_str_value(text))
}

/// Checks that the message that waits for an answer can be read. Older messages may be anything. `index` is that of the
/// last message that was not the assistant's.
pub(super) fn check_question(messages: &[Message], index: usize) -> Result<()> {
    match messages.last() {
        Some(message) if message.role == Role::User => message.check_readable(&format!("messages[{index}]")),
        _ => Ok(()),
    }
}
