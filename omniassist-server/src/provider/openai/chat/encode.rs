//! Requests to Chat Completions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::{ToolCall, UserContent};
use omniassist_core::{LlmPayload, Text, ToolChoice, TranscriptItem};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ids::CallIds;
use super::super::metadata;
use super::super::model::Sampling;
use super::super::strict::is_strict;
use super::compat::{Effort, Format, Quirks, Replay, Vendor};
use super::constrained;
use super::schema::{Budget, normalise};
use crate::Result;
use crate::provider::body::{Body, OPENING};
use crate::provider::files_api::uploaded_id;
use crate::provider::{answer_form, call_name, data_url};

/// The answer of the assistant between the result of a tool and a message of the user, for models that require one.
const READ: &str = "Understood.";

/// The settings that are specific to Chat Completions.
#[derive(Debug, Clone, Default)]
pub struct ChatApi {
    pub(super) vendor: Option<Vendor>,
    pub(super) api_version: Option<String>,
    pub(super) max_completion_tokens: Option<bool>,
    pub(super) include_usage: Option<bool>,
    pub(super) replay_reasoning: Option<bool>,
    pub(super) constrained_tools: bool,
    /// The form of requests, from the settings above.
    pub(super) quirks: Quirks,
    /// The limit of [`Limits`](omniassist_core::Limits).
    pub(super) max_inlined_schema_bytes: usize,
}

pub(super) fn encode(api: &ChatApi, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
    let mut budget = Budget::new(api.max_inlined_schema_bytes);
    let constrained =
        api.constrained_tools.then(|| constrained::payload(payload, &mut budget)).transpose()?;
    let payload = constrained.as_ref().unwrap_or(payload);
    let (options, quirks) = (&*payload.options, api.quirks);
    let mut body = Body::new(payload);
    body.field("model", model);
    body.field("stream", &true);
    if quirks.usage {
        body.field("stream_options", &json!({"include_usage": true}));
    }
    if let Some(effort) = options.reasoning_effort.as_ref().map(|effort| effort.as_str()) {
        match quirks.effort {
            Effort::Field => body.field("reasoning_effort", effort),
            Effort::Object => body.field("reasoning", &json!({"effort": effort})),
            Effort::TemplateArgument => {
                body.field("chat_template_kwargs", &json!({"reasoning_effort": effort}));
            }
            Effort::Switch(field) => body.field(field, &(effort != "none")),
        }
    }
    let sampling = Sampling::of(model, options);
    body.optional("temperature", sampling.temperature);
    body.optional("top_p", sampling.top_p);
    body.optional(quirks.max_tokens, options.max_output_tokens);
    if let Some((name, schema)) = &options.response_schema {
        let format = match format_of(payload, quirks) {
            Format::JsonSchema | Format::JsonSchemaWithoutTools => {
                let strict = quirks.strict && is_strict(schema);
                let schema = json!({"name": name, "schema": schema, "strict": strict});
                Some(json!({"type": "json_schema", "json_schema": schema}))
            }
            Format::JsonObject => Some(json!({"type": "json_object"})),
            Format::Nothing => None,
        };
        body.optional("response_format", format);
    }
    if !payload.tools.is_empty() {
        body.field("tools", &tools(payload, quirks, &mut budget)?);
        body.optional("tool_choice", tool_choice(&payload.tool_choice, quirks));
        body.optional("parallel_tool_calls", options.parallel_tool_calls.filter(|_| quirks.parallel_calls));
    }
    let ids = CallIds::of(&payload.transcript, quirks.ids);
    let mut conversation = Conversation {
        messages: Vec::with_capacity(payload.transcript.len() + 1),
        turn: None,
        replay: quirks.replay,
        extra_content: quirks.extra_content,
        reasons_always: quirks.replay == Replay::TextWithTools && has_tools(payload),
        user_after_result: quirks.user_after_result && !is_mistral(model),
        ids: &ids,
    };
    conversation.messages.extend(system(payload, quirks).map(|content| Message::System { content }));
    for item in payload.transcript.iter() {
        conversation.push(item);
    }
    conversation.end_turn();
    body.field("messages", &conversation.messages);
    body.finish()
}

/// Returns `true` if a request offers tools or has calls of earlier ones.
fn has_tools(payload: &LlmPayload) -> bool {
    !payload.tools.is_empty() || payload.transcript.iter().any(|item| item.as_call().is_some())
}

fn tools<'a>(payload: &'a LlmPayload, quirks: Quirks, budget: &mut Budget) -> Result<Vec<Tool<'a>>> {
    // If the server accepts no tool's name, the request requires a call and offers only that tool.
    let only = match &payload.tool_choice {
        ToolChoice::Tool(name) if !quirks.named_choice => Some(name),
        _ => None,
    };
    let offered = payload.tools.iter().filter(|tool| only.is_none_or(|name| tool.name == *name));
    offered
        .map(|tool| {
            let parameters = normalise(&tool.name, &tool.input_schema, quirks.schema, budget)?;
            let description = tool.model_description();
            Ok(Tool { kind: "function", function: Function { name: &tool.name, description, parameters } })
        })
        .collect()
}

/// Returns the form in which a request states the schema of its answer.
fn format_of(payload: &LlmPayload, quirks: Quirks) -> Format {
    match quirks.format {
        Format::JsonSchemaWithoutTools if !payload.tools.is_empty() => Format::Nothing,
        format => format,
    }
}

/// The system prompt, followed by the schema of the answer if the request has no field for it.
fn system(payload: &LlmPayload, quirks: Quirks) -> Option<Cow<'_, str>> {
    let system = payload.system.as_deref();
    let schema = payload.options.response_schema.as_ref().map(|(_, schema)| schema);
    match (schema, format_of(payload, quirks)) {
        (Some(schema), Format::JsonObject | Format::Nothing) => {
            Some(answer_form::prompt(system, schema).into())
        }
        _ => system.map(Cow::Borrowed),
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a Text,
    description: String,
    parameters: Cow<'a, Value>,
}

fn tool_choice(choice: &ToolChoice, quirks: Quirks) -> Option<Value> {
    match choice {
        ToolChoice::None => Some("none".into()),
        ToolChoice::Tool(name) if quirks.named_choice => {
            Some(json!({"type": "function", "function": {"name": name}}))
        }
        ToolChoice::Required | ToolChoice::Tool(_) => Some(quirks.required.into()),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System { content: Cow<'a, str> },
    User { content: UserMessage<'a> },
    Assistant(Turn<'a>),
    Tool { tool_call_id: &'a str, content: Text },
}

/// The text and the calls of the assistant in one turn.
#[derive(Default, Serialize)]
struct Turn<'a> {
    /// Null if the turn has only calls.
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// A single text is a plain string, which every server accepts. Some servers do not accept lists of parts.
#[derive(Serialize)]
#[serde(untagged)]
enum UserMessage<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Fields<'a> },
    InputAudio { input_audio: Fields<'a> },
    File { file: Fields<'a> },
}

type Fields<'a> = BTreeMap<&'static str, Cow<'a, str>>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Call<'a> {
    Function {
        id: &'a str,
        function: CalledFunction<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra_content: Option<&'a Value>,
    },
    Custom {
        id: &'a str,
        custom: CalledCustom,
    },
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Text,
    arguments: &'a str,
}

#[derive(Serialize)]
struct CalledCustom {
    name: Text,
    input: String,
}

/// The messages while they are built: one for each turn of the assistant, with its text and its calls, as the API requires.
/// The chat templates of some models refuse two messages of the user in succession, and a conversation that begins with the
/// assistant.
struct Conversation<'a> {
    messages: Vec<Message<'a>>,
    turn: Option<Turn<'a>>,
    replay: Replay,
    extra_content: bool,
    /// `true` if every turn has `reasoning_content`, possibly empty.
    reasons_always: bool,
    /// `true` if a message of the user may follow the result of a tool.
    user_after_result: bool,
    ids: &'a CallIds<'a>,
}

impl<'a> Conversation<'a> {
    fn push(&mut self, item: &'a TranscriptItem) {
        match item {
            TranscriptItem::Text { text, .. } => {
                self.turn.get_or_insert_default().content.get_or_insert_default().push_str(text);
            }
            TranscriptItem::Reasoning { text, metadata } => {
                if self.replay == Replay::Details {
                    self.turn.get_or_insert_default().details(metadata.as_ref());
                }
                if self.replay != Replay::Nothing && !text.is_empty() {
                    self.turn
                        .get_or_insert_default()
                        .reasoning_content
                        .get_or_insert_default()
                        .push_str(text);
                }
            }
            TranscriptItem::Call(tool_call) => {
                let turn = self.turn.get_or_insert_default();
                turn.tool_calls.push(call(tool_call, self.ids, self.extra_content));
                match self.replay {
                    Replay::TextWithCalls => drop(turn.reasoning_content.get_or_insert_default()),
                    Replay::Details => turn.details(tool_call.metadata.as_ref()),
                    _ => {}
                }
            }
            TranscriptItem::User { content } => {
                self.end_turn();
                self.hear(user(content));
            }
            TranscriptItem::Result(result) => {
                self.end_turn();
                let content = result.output_text();
                self.messages.push(Message::Tool { tool_call_id: self.ids.get(&result.call_id), content });
            }
            _ => {}
        }
    }

    fn end_turn(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        // The text of reasoning is sent only with calls, and only if no details contain it.
        if self.replay == Replay::Details
            && (turn.tool_calls.is_empty() || !turn.reasoning_details.is_empty())
        {
            turn.reasoning_content = None;
        }
        if turn.says() {
            if self.reasons_always {
                turn.reasoning_content.get_or_insert_default();
            }
            if matches!(self.messages.last(), None | Some(Message::System { .. })) {
                self.messages.push(Message::User { content: UserMessage::Text(OPENING.into()) });
            }
            self.messages.push(Message::Assistant(turn));
        }
    }

    fn hear(&mut self, content: UserMessage<'a>) {
        match self.messages.last_mut() {
            Some(Message::User { content: before }) => return before.join(content),
            Some(Message::Tool { .. }) if !self.user_after_result => {
                let turn = Turn { content: Some(READ.to_owned()), ..Turn::default() };
                self.messages.push(Message::Assistant(turn));
            }
            _ => {}
        }
        self.messages.push(Message::User { content });
    }
}

/// Returns `true` if a model's chat template refuses a message of the user after the result of a tool.
fn is_mistral(model: &str) -> bool {
    const NAMES: &[&str] =
        &["mistral", "mixtral", "ministral", "codestral", "devstral", "magistral", "pixtral", "voxtral"];
    let model = model.to_ascii_lowercase();
    NAMES.iter().any(|name| model.contains(name))
}

impl<'a> Turn<'a> {
    fn details(&mut self, state: Option<&'a ProviderMetadata>) {
        let details = metadata::STATE.field(state, metadata::REASONING_DETAILS).and_then(Value::as_array);
        self.reasoning_details.extend(details.into_iter().flatten());
    }

    /// Returns `true` if the turn has content to send. A turn whose reasoning is not sent back may have none.
    fn says(&self) -> bool {
        self.content.is_some()
            || self.reasoning_content.is_some()
            || !self.reasoning_details.is_empty()
            || !self.tool_calls.is_empty()
    }
}

fn call<'a>(call: &'a ToolCall, ids: &'a CallIds<'a>, extra_content: bool) -> Call<'a> {
    let state = call.metadata.as_ref().filter(|_| extra_content);
    let (id, name) = (ids.get(&call.id), call_name::accepted(&call.name));
    match call.kind {
        CallKind::Function => Call::Function {
            id,
            function: CalledFunction { name, arguments: call.arguments.as_str() },
            extra_content: metadata::STATE.field(state, metadata::EXTRA_CONTENT),
        },
        CallKind::Custom => {
            let input = call.arguments.to_str_value();
            let input = input.unwrap_or_else(|| call.arguments.as_str().to_owned());
            Call::Custom { id, custom: CalledCustom { name, input } }
        }
    }
}

fn user(content: &[UserContent]) -> UserMessage<'_> {
    if let [UserContent::Text { text }] = content {
        return UserMessage::Text(text.as_str().into());
    }
    UserMessage::Parts(content.iter().filter_map(part).collect())
}

impl<'a> UserMessage<'a> {
    fn join(&mut self, next: Self) {
        if let (Self::Text(text), Self::Text(next)) = (&mut *self, &next) {
            text.to_mut().push_str("\n\n");
            return text.to_mut().push_str(next);
        }
        let mut parts = std::mem::replace(self, Self::Parts(Vec::new())).into_parts();
        parts.append(&mut next.into_parts());
        *self = Self::Parts(parts);
    }

    fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Text(text) => vec![Part::Text { text }],
            Self::Parts(parts) => parts,
        }
    }
}

/// Returns an image, a recording, a PDF or the text of a file. A file of another type is replaced by a note for the model: the
/// API would refuse this request and each later one.
fn part(content: &UserContent) -> Option<Part<'_>> {
    let (media_type, url, filename) = match content {
        UserContent::Text { text } => return Some(Part::Text { text: text.as_str().into() }),
        UserContent::File { media_type, url, filename } => (media_type, url, filename.as_deref()),
        _ => return None,
    };
    if let Some(id) = uploaded_id(url) {
        return Some(Part::File { file: [("file_id", id.into())].into() });
    }
    if let Some(url) = data_url::image(media_type, url) {
        return Some(Part::ImageUrl { image_url: [("url", url)].into() });
    }
    if let Some(text) = data_url::quoted(media_type, url, filename) {
        return Some(Part::Text { text: text.into() });
    }
    let Some((stated, data)) = data_url::split(url) else {
        // This API accepts no file by URL. The model receives the name of the file.
        let name = filename.unwrap_or("file");
        return Some(Part::Text { text: format!("[attached {name} ({media_type}): {url}]").into() });
    };
    let stated = if stated.is_empty() { media_type.as_str() } else { stated };
    let audio = |format: &'static str| Part::InputAudio {
        input_audio: [("data", data.into()), ("format", format.into())].into(),
    };
    Some(match stated {
        "audio/wav" | "audio/x-wav" => audio("wav"),
        "audio/mpeg" | "audio/mp3" => audio("mp3"),
        "application/pdf" => {
            let filename = filename.unwrap_or("file").into();
            Part::File { file: [("file_data", url.as_str().into()), ("filename", filename)].into() }
        }
        stated => Part::Text { text: data_url::note(stated, filename).into() },
    })
}
