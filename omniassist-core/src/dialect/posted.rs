//! Parsing of request bodies, shared by all dialects.

use crate::message::raw::{self, Found, Raw, Reader, Record, present};
use crate::message::{Message, Role};
use crate::{Error, JsonText, Limits, Result, Text};

/// The fields of a body, and its messages as parsed by `read`.
struct Head<F, R, M> {
    fields: F,
    read: R,
    messages: Option<M>,
}

impl<'a, F, R, M> Record<'a> for Head<F, R, M>
where
    F: Record<'a>,
    R: Fn(&mut Reader<'a>) -> Result<M>,
{
    fn set(&mut self, key: &str, value: &mut Reader<'a>) -> Result<bool> {
        if key != "messages" {
            return self.fields.set(key, value);
        }
        self.messages = Some((self.read)(value)?);
        Ok(true)
    }
}

/// Parses a body with `messages`.
pub(super) fn head<'a, F: Record<'a>, M>(
    text: &'a Text,
    limits: &Limits,
    fields: F,
    read: impl Fn(&mut Reader<'a>) -> Result<M>,
) -> Result<(F, Option<M>)> {
    let head = body(text, limits, Head { fields, read, messages: None })?;
    Ok((head.fields, head.messages))
}

/// Parses a body.
pub(super) fn body<'a, R: Record<'a>>(text: &'a Text, limits: &Limits, record: R) -> Result<R> {
    raw::read(text, limits.max_json_depth, |body| body.object(record))?.object_at("body", "an object")
}

/// Parses an array of messages.
pub(super) fn messages<'a, R: Record<'a> + Default>(
    limits: &Limits,
) -> impl Fn(&mut Reader<'a>) -> Result<Found<Vec<Found<R>>>> {
    |value| value.array(limits.max_conversation_parts, |value| value.object(R::default()))
}

/// Parses the fields of a required object. Errors of `read` get the path.
pub(super) fn object<'a, R: Record<'a> + Default, T>(
    raw: Option<Raw<'a>>,
    path: &str,
    read: impl FnOnce(R) -> Result<T>,
) -> Result<T> {
    let Some(raw) = raw else { return Err(Error::invalid_field(path, "an object", "nothing")) };
    let fields = raw::object(raw)?.object_at(path, "an object")?;
    read(fields).map_err(|error| error.under(path))
}

/// Parses the objects of an array that may be absent or null. `read` receives the index, the text and the fields of
/// each object; its errors get the path.
pub(super) fn objects<'a, R: Record<'a> + Default, T>(
    raw: Option<Raw<'a>>,
    path: &str,
    expected: &'static str,
    limit: (&'static str, usize),
    mut read: impl FnMut(usize, Raw<'a>, R) -> Result<T>,
) -> Result<Vec<T>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let items = raw::array(raw, limit.1)?;
    let items = items.at(path, expected, limit)?.into_iter().enumerate();
    items
        .map(|(index, raw)| object(Some(raw), &format!("{path}[{index}]"), |fields| read(index, raw, fields)))
        .collect()
}

/// Parses arguments given as text: empty text means no arguments, and text that is not JSON becomes a JSON string.
pub(super) fn arguments(text: &Text) -> JsonText {
    if text.trim().is_empty() { JsonText::EMPTY_OBJECT } else { json_or_string(text) }
}

/// Returns `true` for the start of arguments that may still say that there are none. Models write `null` for them, which a
/// run takes for an empty object.
pub(super) fn may_say_none(text: &str) -> bool {
    ["null", "\"null\""].iter().any(|word| word.starts_with(text.trim()))
}

/// Parses text as JSON. Text that is not JSON becomes a JSON string.
pub(super) fn json_or_string(text: &Text) -> JsonText {
    JsonText::parse(text.clone()).unwrap_or_else(|_| JsonText::from_str_value(text))
}

/// Checks that the user message to be answered can be read. Older messages are not checked. `index` is that of the last
/// message that is not from the assistant.
pub(super) fn check_question(messages: &[Message], index: usize) -> Result<()> {
    match messages.last() {
        Some(message) if message.role == Role::User => message.check_readable(&format!("messages[{index}]")),
        _ => Ok(()),
    }
}
