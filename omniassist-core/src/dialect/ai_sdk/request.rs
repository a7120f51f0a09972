use std::collections::BTreeMap;

use bytes::Bytes;

use crate::dialect::declared_tools::{self, ToolForm};
use crate::dialect::posted;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, Reader, Record, raw_record};
use crate::message::read::ReadMessages;
use crate::message::tree::TreeBudget;
use crate::message::{Message, Role, read};
use crate::run::{ClientAbilities, Trigger};
use crate::{ContextMessage, Error, JsonText, Limits, Result, RunRequest, Text};

raw_record! {
    /// The fields of a request except `messages`.
    RequestFields {
        id: "id",
        chat_id: "chatId",
        trigger: "trigger",
        message_id: "messageId",
        message: "message",
        context: "context",
        tools: "tools",
        components: "components",
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

const AT_LEAST_ONE: &str = "an array with at least one message";

/// A record that keeps unknown fields, because the format does not define them.
struct Extended<'a, F> {
    fields: F,
    extra: Vec<(String, Raw<'a>)>,
    max_extra: usize,
}

impl<'a, F: Record<'a> + Default> Extended<'a, F> {
    fn new(limits: &Limits) -> Self {
        Self { fields: F::default(), extra: Vec::new(), max_extra: limits.max_extra_fields }
    }

    /// Checks that `more` additional fields may be kept.
    fn check_room(&self, more: usize) -> Result<()> {
        if self.extra.len() + more > self.max_extra {
            return Err(Error::limit_exceeded("max_extra_fields", self.max_extra, "body".to_owned()));
        }
        Ok(())
    }

    fn extra(&self, body: Body<'_>) -> Result<BTreeMap<Text, JsonText>> {
        self.check_room(0)?;
        Ok(self.extra.iter().map(|(key, raw)| (key.as_str().into(), body.json(*raw))).collect())
    }
}

impl<'a, F: Record<'a>> Record<'a> for Extended<'a, F> {
    fn set(&mut self, key: &str, value: &mut Reader<'a>) -> Result<bool> {
        if self.fields.set(key, value)? {
            return Ok(true);
        }
        let raw = value.raw()?;
        // One field beyond the limit is kept to mark that the limit was exceeded.
        if self.extra.len() <= self.max_extra {
            self.extra.push((key.to_owned(), raw));
        }
        Ok(true)
    }
}

/// Reads the body of a request: `{id, messages, trigger, messageId}` as `DefaultChatTransport` posts it, with
///
/// - `messages`, at least one, in any of the forms of [`message::read`](crate::message::read),
/// - `chatId` as another name of `id`,
/// - `context`, an array of [`ContextMessage`]s,
/// - `tools`, front-end tools that the client declares: an array of `{name, description, inputSchema}` (or
///   `parameters`, or OpenAI's `{type: "function", function: {…}}`), or an object that maps names to such tools,
/// - `components`, the names of the components that the client shows.
///
/// If `messageId` names an earlier assistant message, the run continues that message and ignores the messages after it.
/// Clients of version 6 and 7 post such a request for an approval that is answered after another question. The
/// answer replaces that message on the page.
///
/// Other fields are kept as [`extra`](RunRequest::extra). All but `messages` may be absent or null.
///
/// Clients with `prepareSendMessagesRequest` may post only the last message, in a body without `messages`: `{id,
/// message, trigger, messageId}`. `message` may be absent if `trigger` is `regenerate-message`. The request then
/// [awaits its history](RunRequest::awaits_history). In a body with `messages`, `message` is kept like other unknown
/// fields.
///
/// # Errors
///
/// Returns an error for input that [no reader accepts](crate::dialect#errors-of-readers), if no provider accepts the
/// name or the schema of a declared tool, and if `message` is posted without the id of its chat.
pub fn read_request(body: Bytes, limits: &Limits) -> Result<RunRequest> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let record: Extended<'_, RequestFields<'_>> = Extended::new(limits);
    let (record, messages) =
        posted::head(&text, limits, record, |value| read::message_records(value, body, limits))?;
    let fields = &record.fields;

    let mut extra = record.extra(body)?;
    let trigger = trigger(body, fields.trigger)?;
    let message_id = read::optional_id(body, fields.message_id, "messageId", limits)?;
    let chat_id = match read::optional_chat_id(body, fields.id, "id", limits)? {
        Some(id) => Some(id),
        None => read::optional_chat_id(body, fields.chat_id, "chatId", limits)?,
    };
    let last = raw::present(fields.message);
    let awaits_history = messages.is_none() && (last.is_some() || trigger == Trigger::Regenerate);
    let conversation = match messages {
        Some(records) => {
            if let Some(raw) = fields.message {
                record.check_room(1)?;
                extra.insert(Text::from_static("message"), body.json(raw));
            }
            conversation(read::from_records(body, limits, records)?, trigger, message_id.as_ref())?
        }
        None if awaits_history && chat_id.is_none() => {
            return Err(Error::invalid_field(
                "id",
                "the id of the chat that the message continues",
                "nothing",
            ));
        }
        None if awaits_history => ReadMessages::of(last_message(body, limits, last)?),
        None => return Err(Error::invalid_field("messages", AT_LEAST_ONE, "nothing")),
    };
    Ok(RunRequest {
        chat_id,
        messages: conversation.messages,
        awaits_history,
        context: context(body, limits, fields.context)?,
        tools: declared_tools::read(body, limits, fields.tools, ToolForm::Any)?,
        components: components(body, limits, fields.components)?,
        trigger,
        message_id,
        extra,
        recorded_calls: conversation.recorded_calls,
        skipped_messages: conversation.skipped,
        ..RunRequest::default()
    })
}

/// Checks a complete posted conversation.
fn conversation(mut read: ReadMessages, trigger: Trigger, message_id: Option<&Text>) -> Result<ReadMessages> {
    read.check_question()?;
    if read.messages.is_empty() {
        let found = if read.skipped.is_empty() { "an empty array" } else { "only unknown roles" };
        return Err(Error::invalid_field("messages", AT_LEAST_ONE, found));
    }
    if let (Trigger::Submit, Some(id)) = (trigger, message_id) {
        end_with_answer(&mut read.messages, id);
    }
    Ok(read)
}

/// Reads the message that was posted without the earlier ones, if there is one.
fn last_message(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Option<Message>> {
    let Some(raw) = raw else { return Ok(None) };
    let message = read::message(body, limits, raw, "message")?;
    let unknown =
        || Error::invalid_field("message.role", "the role of a user or an assistant", "another string");
    message.map(Some).ok_or_else(unknown)
}

raw_record! {
    /// The fields of a prompt.
    PromptFields {
        prompt: "prompt",
        context: "context",
    }
}

/// Reads the body that `useCompletion` posts: `{prompt}`, with `context` as in [`read_request`]. Other fields
/// are kept as [`extra`](RunRequest::extra).
///
/// # Errors
///
/// Returns an error for input that [no reader accepts](crate::dialect#errors-of-readers), and for an empty prompt.
pub fn read_prompt(body: Bytes, limits: &Limits) -> Result<RunRequest> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let record: Extended<'_, PromptFields<'_>> = posted::body(&text, limits, Extended::new(limits))?;
    let fields = &record.fields;
    let prompt = body.text(fields.prompt, "prompt")?;
    if prompt.trim().is_empty() {
        return Err(Error::invalid_field("prompt", "a string that is not blank", "an empty string"));
    }
    let mut request = RunRequest::prompt(prompt);
    request.context = context(body, limits, fields.context)?;
    request.abilities = ClientAbilities::none();
    request.extra = record.extra(body)?;
    Ok(request)
}

/// Removes the messages after the assistant's message with this id.
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

fn components(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Option<Vec<Text>>> {
    let Some(raw) = raw::present(raw) else { return Ok(None) };
    let names: Vec<Text> = body.json(raw).to().map_err(|_| {
        Error::invalid_field("components", "an array of names of components", "another value")
    })?;
    if names.len() > limits.max_declared_tools {
        let path = "components".to_owned();
        return Err(Error::limit_exceeded("max_declared_tools", limits.max_declared_tools, path));
    }
    Ok(Some(names))
}

fn context(body: Body<'_>, limits: &Limits, raw: Option<Raw<'_>>) -> Result<Vec<ContextMessage>> {
    let limit = ("max_context_messages", limits.max_context_messages);
    let expected = "an array of context messages";
    posted::objects(raw, "context", expected, limit, |index, _, fields: ContextFields<'_>| {
        let id = read::optional_id(body, fields.id, "id", limits)?;
        Ok(ContextMessage {
            id: id.unwrap_or_else(|| format!("context-{index}").into()),
            kind: body.text(fields.kind, "type")?,
            data: fields.data.map(|raw| body.tree(raw, "data")).transpose()?.unwrap_or_default(),
        })
    })
}
