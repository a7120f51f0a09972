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

use super::super::metadata;
use super::super::strict::is_strict;
use super::compat::{Effort, Format, Quirks, Replay, Vendor};
use super::constrained;
use super::ids::CallIds;
use super::schema::{Budget, normalise};
use crate::Result;
use crate::provider::body::Body;
use crate::provider::data_url;
use crate::provider::files_api::uploaded_id;

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
    body.optional("temperature", options.temperature);
    body.optional("top_p", options.top_p);
    body.optional(quirks.max_tokens, options.max_output_tokens);
    if let Some((name, schema)) = &options.response_schema {
        let format = match quirks.format {
            Format::JsonSchema => {
                let strict = quirks.strict && is_strict(schema);
                let schema = json!({"name": name, "schema": schema, "strict": strict});
                json!({"type": "json_schema", "json_schema": schema})
            }
            Format::JsonObject => json!({"type": "json_object"}),
        };
        body.field("response_format", &format);
    }
    if !payload.tools.is_empty() {
        body.field("tools", &tools(payload, quirks, &mut budget)?);
        body.optional("tool_choice", tool_choice(&payload.tool_choice, quirks));
        body.optional("parallel_tool_calls", options.parallel_tool_calls.filter(|_| quirks.parallel_calls));
    }
    let ids = CallIds::of(&payload.transcript, quirks.ids);
    body.field("messages", &messages(payload, system(payload, quirks), quirks.replay, &ids));
    body.finish()
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

/// The system prompt, followed by the schema of the answer if the request has no field for it.
fn system(payload: &LlmPayload, quirks: Quirks) -> Option<Cow<'_, str>> {
    let system = payload.system.as_deref();
    let schema = payload.options.response_schema.as_ref().map(|(_, schema)| schema);
    match (schema, quirks.format) {
        (Some(schema), Format::JsonObject) => {
            let system = system.map(|system| format!("{system}\n\n")).unwrap_or_default();
            Some(format!("{system}Answer with JSON that follows this schema:\n{schema}").into())
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

#[derive(Serialize)]
#[serde(untagged)]
enum UserMessage<'a> {
    Text(&'a Text),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Text },
    ImageUrl { image_url: Fields<'a> },
    InputAudio { input_audio: Fields<'a> },
    File { file: Fields<'a> },
}

type Fields<'a> = BTreeMap<&'static str, &'a str>;

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
        custom: CalledCustom<'a>,
    },
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a Text,
    arguments: &'a str,
}

#[derive(Serialize)]
struct CalledCustom<'a> {
    name: &'a Text,
    input: String,
}

/// One assistant message per turn, with its text and its calls, as the API requires.
fn messages<'a>(
    payload: &'a LlmPayload,
    system: Option<Cow<'a, str>>,
    replay: Replay,
    ids: &'a CallIds<'a>,
) -> Vec<Message<'a>> {
    let mut messages = Vec::with_capacity(payload.transcript.len() + 1);
    messages.extend(system.map(|content| Message::System { content }));
    let mut turn: Option<Turn<'_>> = None;
    for item in payload.transcript.iter() {
        match item {
            TranscriptItem::Text { text, .. } => {
                turn.get_or_insert_default().content.get_or_insert_default().push_str(text);
            }
            TranscriptItem::Reasoning { text, metadata } => match replay {
                Replay::Text | Replay::TextWithCalls if !text.is_empty() => {
                    turn.get_or_insert_default().reasoning_content.get_or_insert_default().push_str(text);
                }
                Replay::Details => turn.get_or_insert_default().details(metadata.as_ref()),
                _ => {}
            },
            TranscriptItem::Call(tool_call) => {
                let turn = turn.get_or_insert_default();
                turn.tool_calls.push(call(tool_call, ids));
                match replay {
                    Replay::TextWithCalls => drop(turn.reasoning_content.get_or_insert_default()),
                    Replay::Details => turn.details(tool_call.metadata.as_ref()),
                    _ => {}
                }
            }
            TranscriptItem::User { content } => {
                messages.extend(turn.take().filter(Turn::says).map(Message::Assistant));
                messages.push(Message::User { content: user(content) });
            }
            TranscriptItem::Result(result) => {
                messages.extend(turn.take().filter(Turn::says).map(Message::Assistant));
                let content = result.output_text();
                messages.push(Message::Tool { tool_call_id: ids.get(&result.call_id), content });
            }
            _ => {}
        }
    }
    messages.extend(turn.filter(Turn::says).map(Message::Assistant));
    messages
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

fn call<'a>(call: &'a ToolCall, ids: &'a CallIds<'a>) -> Call<'a> {
    let (id, name) = (ids.get(&call.id), &call.name);
    match call.kind {
        CallKind::Function => Call::Function {
            id,
            function: CalledFunction { name, arguments: call.arguments.as_str() },
            extra_content: metadata::STATE.field(call.metadata.as_ref(), metadata::EXTRA_CONTENT),
        },
        CallKind::Custom => {
            let input = call.arguments.to_str_value();
            let input = input.unwrap_or_else(|| call.arguments.as_str().to_owned());
            Call::Custom { id, custom: CalledCustom { name, input } }
        }
    }
}

/// A single text is sent as a plain string, which every server accepts. Some servers do not accept lists of parts.
fn user(content: &[UserContent]) -> UserMessage<'_> {
    if let [UserContent::Text { text }] = content {
        return UserMessage::Text(text);
    }
    UserMessage::Parts(content.iter().filter_map(part).collect())
}

fn part(content: &UserContent) -> Option<Part<'_>> {
    let (media_type, url, filename) = match content {
        UserContent::Text { text } => return Some(Part::Text { text: text.clone() }),
        UserContent::File { media_type, url, filename } => (media_type, url, filename),
        _ => return None,
    };
    if media_type.starts_with("image/") {
        return Some(Part::ImageUrl { image_url: [("url", url.as_str())].into() });
    }
    if let Some(id) = uploaded_id(url) {
        return Some(Part::File { file: [("file_id", id)].into() });
    }
    if let Some(text) = data_url::quoted(media_type, url, filename.as_deref()) {
        return Some(Part::Text { text: text.into() });
    }
    let base64 = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).map(|(_, data)| data);
    let audio = match media_type.as_str() {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    };
    Some(match (base64, audio) {
        (Some(data), Some(format)) => {
            Part::InputAudio { input_audio: [("data", data), ("format", format)].into() }
        }
        (Some(_), None) => {
            let filename = filename.as_deref().unwrap_or("file");
            Part::File { file: [("file_data", url.as_str()), ("filename", filename)].into() }
        }
        // This API accepts no file by URL. The model receives the name of the file.
        (None, _) => {
            let name = filename.as_deref().unwrap_or("file");
            Part::Text { text: format!("[attached {name} ({media_type}): {url}]").into() }
        }
    })
}
