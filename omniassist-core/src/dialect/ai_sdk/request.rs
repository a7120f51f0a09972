use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::MapAccess;

use super::tools;
use crate::message::body::Body;
use crate::message::raw::{self, ArraySeed, Found, ObjectSeed, Raw, Record, present, raw_item, raw_record};
use crate::message::read::ReadMessages;
use crate::message::tree::TreeBudget;
use crate::message::{Message, Role, read};
use crate::run::{ClientAbilities, Trigger};
use crate::{ContextMessage, Error, JsonText, Limits, Result, RunRequest, Text};

raw_record! {
    /// The fields of a request, but for `messages`.
    RequestFields {
        id: "id",
        chat_id: "chatId",
        trigger: "trigger",
        message_id: "messageId",
        context: "context",
        tools: "tools",
    }
}

struct RequestRecord<'a> {
    fields: RequestFields<'a>,
    extra: Extra<'a>,
    messages: Option<Found<Vec<Found<read::MessageRecord<'a>>>>>,
    body: Body<'a>,
    limits: &'a Limits,
}

impl<'a> Record<'a> for RequestRecord<'a> {
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if key != "messages" {
            return match self.fields.slot(key) {
                Some(_) => self.fields.set(key, map),
                None => self.extra.set(key, map),
            };
        }
        if self.messages.is_some() {
            return Ok(false);
        }
        self.messages = Some(map.next_value_seed(read::messages_seed(self.body, self.limits))?);
        Ok(true)
    }
}

raw_record! {
    /// The fields of a context message.
    ContextFields {
        id: "id",
        kind: "type",
        data: "data",
    }
}

/// The fields that the format does not define.
struct Extra<'a> {
    fields: Vec<(String, Raw<'a>)>,
    limit: usize,
}

impl<'a> Extra<'a> {
    fn new(limits: &Limits) -> Self {
        Self { fields: Vec::new(), limit: limits.max_extra_fields }
    }

    /// Keeps a field. One field beyond the limit is kept as the sign that the limit was passed.
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let raw = map.next_value()?;
        if self.fields.len() <= self.limit {
            self.fields.push((key.to_owned(), raw));
        }
        Ok(true)
    }

    fn read(self, body: Body<'_>) -> Result<BTreeMap<Text, JsonText>> {
        if self.fields.len() > self.limit {
            return Err(Error::limit_exceeded("max_extra_fields", self.limit, "body".to_owned()));
        }
        Ok(self.fields.into_iter().map(|(key, raw)| (key.into(), body.json(raw))).collect())
    }
}

/// Reads the body of a request: `{id, messages, trigger, messageId}` as `DefaultChatTransport` posts it, with
///
/// - `messages` in any of the forms of [`message::read`](crate::message::read), at least one,
/// - `chatId` as another name of `id`,
/// - `context`, an array of [`ContextMessage`]s,
/// - `tools`, front-end tools that the client declares: an array of `{name, description, inputSchema}` (or
///   `parameters`, or OpenAI's `{type: "function", function: {…}}`), or an object of these by name.
///
/// If `messageId` names an earlier assistant message, the run continues that message and ignores the messages after it.
/// Clients of version 6 and 7 post such a request for an approval that is answered after another question. The
/// answer replaces that message on the page.
///
/// Other fields are kept as [`extra`](RunRequest::extra). All but `messages` may be absent or null. The
/// reader also makes the checks of [`json_guard::check`](crate::json_guard::check), so the bytes need no check before.
///
/// The request shares the body's buffer and keeps it alive.
///
/// # Errors
///
/// Returns an error if:
///
/// - the body is not UTF-8 or not JSON, or an object has a key twice;
/// - values are nested deeper than [`Limits::max_json_depth`], or another limit of `limits` is exceeded;
/// - a value has the wrong type, in which case the error has its path;
/// - no provider accepts the name or the schema of a declared tool.
pub fn read_request(body: Bytes, limits: &Limits) -> Result<RunRequest> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let seed = {
        ObjectSeed(RequestRecord {
            fields: RequestFields::default(),
            extra: Extra::new(limits),
            messages: None,
            body,
            limits,
        })
    };
    let record = match raw::read_guarded(&text, limits.max_json_depth, seed)? {
        Found::Duplicate(key) => return Err(Error::invalid_field(key, "a key once", "the key twice")),
        record => record.object_at("body", "an object")?,
    };
    let fields = record.fields;

    let expected = "an array with at least one message";
    let extra = record.extra.read(body)?;
    let read = match record.messages {
        Some(messages) => read::from_records(body, limits, messages)?,
        None => return Err(Error::invalid_field("messages", expected, "nothing")),
    };
    read.check_question()?;
    let ReadMessages { mut messages, recorded_calls, skipped, .. } = read;
    if messages.is_empty() {
        return Err(Error::invalid_field("messages", expected, "an empty array"));
    }
    let chat_id = match read::optional_chat_id(body, fields.id, "id", limits)? {
        Some(id) => Some(id),
        None => read::optional_chat_id(body, fields.chat_id, "chatId", limits)?,
    };
    let trigger = trigger(body, fields.trigger)?;
    let message_id = read::optional_id(body, fields.message_id, "messageId", limits)?;
    if let (Trigger::Submit, Some(id)) = (trigger, &message_id) {
        end_with_answer(&mut messages, id);
    }
    Ok(RunRequest {
        chat_id,
        messages,
        context: context(body, limits, fields.context)?,
        tools: tools::declared(body, limits, fields.tools)?,
        trigger,
        message_id,
        extra,
        recorded_calls,
        skipped_messages: skipped,
        ..RunRequest::default()
    })
}

raw_record! {
    /// The fields of a prompt.
    PromptFields {
        prompt: "prompt",
        context: "context",
    }
}

struct PromptRecord<'a> {
    fields: PromptFields<'a>,
    extra: Extra<'a>,
}

impl<'a> Record<'a> for PromptRecord<'a> {
    fn set<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match self.fields.slot(key) {
            Some(_) => self.fields.set(key, map),
            None => self.extra.set(key, map),
        }
    }
}

/// Reads the body that `useCompletion` posts: `{prompt}`, with `context` as in [`read_request`]. Other fields
/// are kept as [`extra`](RunRequest::extra).
///
/// # Errors
///
/// Returns an error when the body is not UTF-8 or not JSON; when a key stands twice in an object, or values are nested deeper than
/// [`Limits::max_json_depth`]; where a value is not what it should be, with its path; and where a limit of `limits` is
/// passed.
pub fn read_prompt(body: Bytes, limits: &Limits) -> Result<RunRequest> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let seed = ObjectSeed(PromptRecord { fields: PromptFields::default(), extra: Extra::new(limits) });
    let PromptRecord { fields, extra } = match raw::read_guarded(&text, limits.max_json_depth, seed)? {
        Found::Duplicate(key) => return Err(Error::invalid_field(key, "a key once", "the key twice")),
        record => record.object_at("body", "an object")?,
    };
    let prompt = body.text(fields.prompt, "prompt")?;
    if prompt.trim().is_empty() {
        return Err(Error::invalid_field("prompt", "a string that says something", "an empty string"));
    }
    let mut request = RunRequest::prompt(prompt);
    request.context = context(body, limits, fields.context)?;
    request.abilities = ClientAbilities::none();
    request.extra = extra.read(body)?;
    Ok(request)
}

/// Leaves out what follows the assistant's message with this id.
fn end_with_answer(messages: &mut Vec<Message>, id: &Text) {
    let is_it = |message: &Message| message.role == Role::Assistant && message.id == *id;
    if let Some(at) = messages.iter().rposition(is_it) {
        messages.truncate(at + 1);
    }
}

fn trigger(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<Trigger> {
    match body.optional_text(raw, "trigger")?.as_deref() {
        None | Some("submit-message") => Ok(Trigger::Submit),
        Some("regenerate-message") => Ok(Trigger::Regenerate),
        Some(_) => Err(Error::invalid_field(
            "trigger",
            "\"submit-message\" or \"regenerate-message\"",
            "another string",
        )),
    }
}

fn context(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<ContextMessage>> {
    let Some(raw) = present(raw) else { return Ok(Vec::new()) };
    let limit = ("max_context_messages", limits.max_context_messages);
    let items = raw::read(raw.get(), ArraySeed { limit: limit.1, item: raw_item })?;
    let items = items.at("context", "an array of context messages", limit)?;
    let read = |(index, raw)| {
        let fields: ContextFields<'_> =
            raw::object(raw)?.object_at(format_args!("context[{index}]"), "an object")?;
        context_message(body, limits, index, &fields)
            .map_err(|error| error.under(&format!("context[{index}]")))
    };
    items.into_iter().enumerate().map(read).collect()
}

fn context_message(
    body: Body<'_>,
    limits: &Limits,
    index: usize,
    fields: &ContextFields<'_>,
) -> Result<ContextMessage> {
    let id = read::optional_id(body, fields.id, "id", limits)?;
    Ok(ContextMessage {
        id: id.unwrap_or_else(|| format!("context-{index}").into()),
        kind: body.text(fields.kind, "type")?,
        data: fields.data.map(|raw| body.tree(raw, "data")).transpose()?.unwrap_or_default(),
    })
}
