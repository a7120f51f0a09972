//! Requests to Chat Completions.

use bytes::Bytes;
use omniassist_core::event::CallKind;
use omniassist_core::transcript::{ToolCall, UserContent};
use omniassist_core::{LlmPayload, Text, ToolChoice, TranscriptItem};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;

use super::super::metadata;
use crate::Result;
use crate::provider::body::{self, Body, Fields};

/// What the provider's settings add to a payload.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) model: Text,
    /// The name of the field that caps the answer.
    pub(super) max_tokens_field: &'static str,
    pub(super) include_usage: bool,
    pub(super) replay_reasoning: bool,
}

pub(super) fn encode(payload: &LlmPayload, options: &Options) -> Result<Bytes> {
    body::encode(&Request { payload, options }, &payload.options)
}

struct Request<'a> {
    payload: &'a LlmPayload,
    options: &'a Options,
}

impl Fields for Request<'_> {
    /// All that stays the same from turn to turn comes first and the conversation last, so that a longer conversation
    /// begins with the bytes of the shorter one.
    fn write<M: SerializeMap>(&self, body: &mut Body<'_, M>) -> Result<(), M::Error> {
        let options = &*self.payload.options;
        body.field("model", self.payload.model.as_ref().unwrap_or(&self.options.model))?;
        body.field("stream", &true)?;
        if self.options.include_usage {
            body.field("stream_options", &StreamOptions { include_usage: true })?;
        }
        body.optional("reasoning_effort", options.reasoning_effort.as_ref().map(|effort| effort.as_str()))?;
        body.optional("temperature", options.temperature)?;
        body.optional("top_p", options.top_p)?;
        body.optional(self.options.max_tokens_field, options.max_output_tokens)?;
        if let Some((name, schema)) = &options.response_schema {
            let json_schema = Schema { name, schema, strict: body::is_strict(schema) };
            body.field("response_format", &ResponseFormat { kind: "json_schema", json_schema })?;
        }
        if !self.payload.tools.is_empty() {
            let tools: Vec<Tool<'_>> = self
                .payload
                .tools
                .iter()
                .map(|tool| Tool {
                    kind: "function",
                    function: Function {
                        name: &tool.name,
                        description: tool.model_description(),
                        parameters: &tool.input_schema,
                    },
                })
                .collect();
            body.field("tools", &tools)?;
            body.optional("tool_choice", choice(&self.payload.tool_choice))?;
            body.optional("parallel_tool_calls", options.parallel_tool_calls)?;
        }
        let messages = messages(self.payload, self.options.replay_reasoning);
        body.field("messages", &messages)
    }
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'a Text,
    schema: &'a Value,
    strict: bool,
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
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Tool {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Name<'a>,
    },
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a Text,
}

fn choice(choice: &ToolChoice) -> Option<Choice<'_>> {
    match choice {
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Required => Some(Choice::Word("required")),
        ToolChoice::Tool(name) => Some(Choice::Tool { kind: "function", function: Name { name } }),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System { content: &'a Text },
    User { content: UserMessage<'a> },
    Assistant(Turn<'a>),
    Tool { tool_call_id: &'a Text, content: Text },
}

/// What the assistant said in one turn.
#[derive(Default, Serialize)]
struct Turn<'a> {
    /// Null where the turn is calls alone.
    content: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
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
    ImageUrl { image_url: Url<'a> },
    InputAudio { input_audio: Audio<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Url<'a> {
    url: &'a Text,
}

#[derive(Serialize)]
struct Audio<'a> {
    data: &'a str,
    format: &'static str,
}

#[derive(Serialize)]
struct File<'a> {
    filename: &'a str,
    file_data: &'a Text,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Call<'a> {
    Function {
        id: &'a Text,
        function: CalledFunction<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        extra_content: Option<&'a Value>,
    },
    Custom {
        id: &'a Text,
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

/// One assistant message for each turn: its text and its calls together, as the API wants them.
fn messages(payload: &LlmPayload, replay_reasoning: bool) -> Vec<Message<'_>> {
    let mut messages = Vec::with_capacity(payload.transcript.len() + 1);
    messages.extend(payload.system.as_ref().map(|content| Message::System { content }));
    let mut turn: Option<Turn<'_>> = None;
    for item in payload.transcript.iter() {
        match item {
            TranscriptItem::Text { text, .. } => {
                turn.get_or_insert_default().content.get_or_insert_default().push_str(text);
            }
            TranscriptItem::Reasoning { text, .. } if replay_reasoning => {
                turn.get_or_insert_default().reasoning_content.push_str(text);
            }
            TranscriptItem::Call(tool_call) => turn.get_or_insert_default().tool_calls.push(call(tool_call)),
            TranscriptItem::User { content } => {
                messages.extend(turn.take().map(Message::Assistant));
                messages.push(Message::User { content: user(content) });
            }
            TranscriptItem::Result(result) => {
                messages.extend(turn.take().map(Message::Assistant));
                let content = result.output_text();
                messages.push(Message::Tool { tool_call_id: &result.call_id, content });
            }
            _ => {}
        }
    }
    messages.extend(turn.map(Message::Assistant));
    messages
}

fn call(call: &ToolCall) -> Call<'_> {
    let (id, name) = (&call.id, &call.name);
    match call.kind {
        CallKind::Function => Call::Function {
            id,
            function: CalledFunction { name, arguments: call.arguments.as_str() },
            extra_content: metadata::field(call.metadata.as_ref(), metadata::EXTRA_CONTENT),
        },
        CallKind::Custom => {
            let input = call.arguments.to_str_value();
            let input = input.unwrap_or_else(|| call.arguments.as_str().to_owned());
            Call::Custom { id, custom: CalledCustom { name, input } }
        }
    }
}

/// A lone text goes as a plain string, which every server reads; some do not read lists of parts.
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
        return Some(Part::ImageUrl { image_url: Url { url } });
    }
    let base64 = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")).map(|(_, data)| data);
    let audio = match media_type.as_str() {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    };
    Some(match (base64, audio) {
        (Some(data), Some(format)) => Part::InputAudio { input_audio: Audio { data, format } },
        (Some(_), None) => {
            Part::File { file: File { filename: filename.as_deref().unwrap_or("file"), file_data: url } }
        }
        // This API takes no file by its address; the model at least hears of it.
        (None, _) => {
            let name = filename.as_deref().unwrap_or("file");
            Part::Text { text: format!("[attached {name} ({media_type}): {url}]").into() }
        }
    })
}
