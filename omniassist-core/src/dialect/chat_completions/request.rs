use bytes::Bytes;

use super::choice::{self, CallerTools};
use super::conversation::{self, MessageFields};
use super::response_format;
use super::settings::{self, ClientSettings};
use crate::dialect::posted;
use crate::message::Part;
use crate::message::body::Body;
use crate::message::raw::{self, Raw, present, raw_record};
use crate::message::tree::TreeBudget;
use crate::run::ClientAbilities;
use crate::{Error, JsonText, Limits, Message, Result, RunRequest, Text};

raw_record! {
    /// The fields of a request except `messages`.
    RequestFields {
        model: "model",
        stream: "stream",
        stream_options: "stream_options",
        tools: "tools",
        tool_choice: "tool_choice",
        response_format: "response_format",
        temperature: "temperature",
        top_p: "top_p",
        max_tokens: "max_tokens",
        max_completion_tokens: "max_completion_tokens",
        parallel_tool_calls: "parallel_tool_calls",
        reasoning_effort: "reasoning_effort",
        metadata: "metadata",
        n: "n",
        modalities: "modalities",
        audio: "audio",
        functions: "functions",
        function_call: "function_call",
    }
}

raw_record! {
    /// The fields of `stream_options`.
    StreamFields {
        include_usage: "include_usage",
    }
}

/// The request of an OpenAI client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The conversation, the caller's tools and their settings. The [`options`](RunRequest::options) are not set: the
    /// host decides which [`settings`](Self::settings) apply.
    pub run: RunRequest,
    /// The model named by the caller.
    pub model: Text,
    /// `true` if the answer is streamed.
    pub stream: bool,
    /// `true` if a stream ends with the token usage.
    pub include_usage: bool,
    /// The settings requested by the caller.
    pub settings: ClientSettings,
}

/// Reads the body of `POST /v1/chat/completions`.
///
/// - `messages` holds at least one message. The roles are `system`, `developer`, `user` (text, `image_url`, `file` with
///   `file_data`, `input_audio`), `assistant` (text, `refusal`, `tool_calls`) and `tool`.
/// - Messages with the role `system` or `developer` are read as text of the client, not as instructions.
/// - An `assistant` message and the `tool` messages after it become one message of the assistant. If several turns use
///   the same call id, a result belongs to the latest call before it.
/// - `tools` of type `function` are front-end tools.
/// - `tool_choice` is applied. `none` offers no tool of the client. `required`, a named function, and `allowed_tools`
///   in the mode `required` offer no server tool, so that the answer is a call of a client's tool.
/// - `response_format` with a JSON Schema is passed to the model; `json_object` becomes a note to the model.
/// - `metadata` is passed on as [`forwarded`](RunRequest::forwarded).
/// - More than one choice (`n`), audio output, custom tools and the deprecated `functions` are rejected. Other fields
///   (`stop`, `seed`, `user`, `logprobs`, …) are ignored.
///
/// # Errors
///
/// Returns an error for input that [no reader accepts](crate::dialect#errors-of-readers), and if:
///
/// - no provider accepts the name or the schema of a tool;
/// - the conversation ends with a call that no `tool` message answers.
pub fn read_request(body: Bytes, limits: &Limits) -> Result<ChatRequest> {
    let text = Text::from_utf8(body).map_err(Error::invalid_json)?;
    let budget = TreeBudget::new(limits);
    let body = Body::new(&text, &budget);
    let fields = RequestFields::default();
    let (fields, messages) =
        posted::head(&text, limits, fields, posted::messages::<MessageFields<'_>>(limits))?;
    let model = body.text(fields.model, "model")?;
    refuse_what_is_not_given(&fields)?;

    let tools = choice::read(body, limits, fields.tools, fields.tool_choice)?;
    let conversation = match messages {
        Some(messages) => conversation::read(body, limits, messages)?,
        None => return Err(conversation::none("nothing")),
    };
    let format = response_format::read(body, fields.response_format)?;
    let mut messages = conversation.messages;
    if format.is_json_object {
        ask_for_json(&mut messages);
    }
    let CallerTools { offered, not_offered, tool_use } = tools;
    let mut past_tools = not_offered;
    for name in conversation.tools {
        if !past_tools.contains(&name) && !offered.iter().any(|tool| tool.name == name) {
            past_tools.push(name);
        }
    }
    Ok(ChatRequest {
        run: RunRequest {
            messages,
            tools: offered,
            past_tools,
            tool_use,
            forwarded: metadata(body, fields.metadata)?,
            abilities: ClientAbilities::none().without_seals(),
            ..RunRequest::default()
        },
        model,
        stream: raw::flag(fields.stream, "stream")?,
        include_usage: include_usage(fields.stream_options)?,
        settings: settings::read(body, &fields, format.schema)?,
    })
}

fn refuse_what_is_not_given(fields: &RequestFields<'_>) -> Result<()> {
    if let Some(n) = present(fields.n)
        && n.get() != "1"
    {
        let found = if raw::kind(n) == "a number" { "another number" } else { raw::kind(n) };
        return Err(Error::invalid_field("n", "1: only one choice is supported", found));
    }
    let speaks = present(fields.modalities).is_some_and(|raw| raw.get().contains("\"audio\""));
    let audio = [("modalities", speaks), ("audio", present(fields.audio).is_some())];
    if let Some((key, _)) = audio.into_iter().find(|(_, asked)| *asked) {
        return Err(Error::invalid_field(key, "text output only", "audio"));
    }
    let deprecated = [("functions", fields.functions), ("function_call", fields.function_call)];
    match deprecated.into_iter().find(|(_, raw)| present(*raw).is_some()) {
        Some((key, raw)) => {
            Err(Error::invalid_field(key, "nothing: use `tools` and `tool_choice`", raw::kind_of(raw)))
        }
        None => Ok(()),
    }
}

fn include_usage(raw: Option<Raw<'_>>) -> Result<bool> {
    let Some(raw) = present(raw) else { return Ok(false) };
    posted::object(Some(raw), "stream_options", |fields: StreamFields<'_>| {
        raw::flag(fields.include_usage, "include_usage")
    })
}

fn metadata(body: Body<'_>, raw: Option<Raw<'_>>) -> Result<Option<JsonText>> {
    let Some(raw) = present(raw) else { return Ok(None) };
    body.optional_object(Some(raw), "metadata")?;
    Ok(Some(body.json(raw)))
}

/// Inserts a note before the last user message that asks for a JSON object: providers have no common setting for it.
fn ask_for_json(messages: &mut Vec<Message>) {
    use crate::message::Role;
    let last = messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
    let note = Part::text("Answer with one JSON object, and with nothing else.");
    let id = Text::from_static("response-format");
    messages.insert(last, Message { id, role: Role::System, parts: vec![note], metadata: None });
}
