//! Requests to the Responses API.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use omniassist_core::event::CallKind;
use omniassist_core::message::ProviderMetadata;
use omniassist_core::transcript::{ToolCall, ToolResult, UserContent};
use omniassist_core::{JsonText, LlmPayload, Text, ToolChoice, TranscriptItem};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::ids::{CallIds, Ids};
use super::super::metadata;
use super::super::model::{Sampling, may_reason};
use super::super::strict::is_strict;
use crate::Result;
use crate::provider::body::Body;
use crate::provider::files_api::uploaded_id;
use crate::provider::{call_name, compaction, data_url};

/// The settings that are specific to the Responses API.
#[derive(Debug, Clone, Default)]
pub struct ResponsesApi {
    /// `None`: the model's name decides.
    pub(super) encrypted_reasoning: Option<bool>,
    pub(super) reasoning_summary: Option<Text>,
    /// `None`: the host of the base URL decides.
    pub(super) replay_item_ids: Option<bool>,
    /// The tokens at which the API compacts the conversation.
    pub(super) compaction: Option<u64>,
    /// `true` if answers outlive their connections.
    pub(super) background: bool,
}

/// The maximum number of characters of a call's id.
const MAX_CALL_ID: usize = 64;

/// The field of a response that holds the model's encrypted reasoning.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

impl ResponsesApi {
    /// Returns the field of the response that a request to this model asks for beside the usual ones.
    pub(super) fn include(&self, model: &str) -> Option<&'static str> {
        self.encrypted_reasoning.unwrap_or_else(|| may_reason(model)).then_some(ENCRYPTED_REASONING)
    }
}

pub(super) fn encode(api: &ResponsesApi, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
    let options = &*payload.options;
    let mut body = Body::new(payload);
    body.field("model", model);
    body.field("stream", &true);
    // The provider stores nothing but background responses: each request contains the conversation.
    body.field("store", &api.background);
    body.optional("background", api.background.then_some(true));
    body.optional("include", api.include(model).map(|field| [field]));
    let compact = |tokens| json!([{"type": "compaction", "compact_threshold": tokens}]);
    body.optional("context_management", api.compaction.map(compact));
    let effort = options.reasoning_effort.as_ref().map(|effort| ("effort", effort.as_str()));
    let summary = api.reasoning_summary.as_deref().map(|summary| ("summary", summary));
    let reasoning: BTreeMap<_, _> = effort.into_iter().chain(summary).collect();
    body.optional("reasoning", (!reasoning.is_empty()).then_some(reasoning));
    let sampling = Sampling::of(model, options);
    body.optional("temperature", sampling.temperature);
    body.optional("top_p", sampling.top_p);
    body.optional("max_output_tokens", options.max_output_tokens);
    if let Some((name, schema)) = &options.response_schema {
        let strict = is_strict(schema);
        let format = json!({"type": "json_schema", "name": name, "schema": schema, "strict": strict});
        body.field("text", &json!({"format": format}));
    }
    if !payload.tools.is_empty() {
        let tools = payload.tools.iter().map(|tool| Tool {
            kind: "function",
            name: &tool.name,
            description: tool.model_description(),
            parameters: &tool.input_schema,
            // The API's default is true, with which it refuses schemas that break the strict rules.
            strict: false,
        });
        body.field("tools", &tools.collect::<Vec<_>>());
        body.optional("tool_choice", choice(&payload.tool_choice));
        body.optional("parallel_tool_calls", options.parallel_tool_calls);
    }
    body.optional("instructions", payload.system.as_ref());
    let ids = CallIds::of(&payload.transcript, Ids::AtMost(MAX_CALL_ID));
    body.field("input", &input(api, &payload.transcript, &ids));
    body.finish()
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a Text,
    description: String,
    parameters: &'a Value,
    strict: bool,
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "name": name})),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum InputItem<'a> {
    Message {
        role: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
        content: Vec<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: Vec<Content<'a>>,
        encrypted_content: &'a str,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        name: Text,
        arguments: &'a str,
        status: &'static str,
    },
    CustomToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        name: Text,
        input: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: Text,
        status: &'static str,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: Text,
    },
    /// The API's compaction of everything before it.
    #[serde(untagged)]
    Compaction(Cow<'a, Map<String, Value>>),
    /// An item that the API ran itself, unchanged.
    #[serde(untagged)]
    Provider(&'a JsonText),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText {
        text: Cow<'a, str>,
    },
    InputImage {
        #[serde(skip_serializing_if = "Option::is_none")]
        image_url: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<&'a str>,
        detail: &'static str,
    },
    InputFile {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<&'a Text>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<&'a Text>,
    },
    OutputText {
        text: &'a Text,
        annotations: [(); 0],
    },
    SummaryText {
        text: &'a Text,
    },
}

fn input<'a>(
    api: &ResponsesApi,
    mut transcript: &'a [TranscriptItem],
    call_ids: &'a CallIds<'a>,
) -> Vec<InputItem<'a>> {
    let compacts = api.compaction.is_some();
    if compacts {
        transcript = compaction::since(metadata::STATE, transcript);
    }
    let mut input = Input {
        items: Vec::with_capacity(transcript.len()),
        last_item: None,
        ids: false,
        replay_ids: api.replay_item_ids.unwrap_or(true),
        compacts,
        call_ids,
        custom: HashSet::new(),
    };
    for item in transcript {
        input.push(item);
    }
    let mut items = input.items;
    items.retain(|item| !matches!(item, InputItem::Reasoning { encrypted_content: "", .. }));
    items
}

/// The input while it is built.
///
/// The provider stores nothing, so an item's id is not a reference there. But the API refuses a message or call with an
/// id unless the reasoning item that preceded it is sent as well. Ids are therefore sent together with that reasoning
/// item, and omitted otherwise; an item without an id is always accepted.
struct Input<'a> {
    items: Vec<InputItem<'a>>,
    /// The output item of the last entry of `items`, into which the next part of the same item is merged.
    last_item: Option<&'a str>,
    /// `true` if a reasoning item of this turn is part of the input.
    ids: bool,
    replay_ids: bool,
    /// `true` if the API accepts compactions in this request.
    compacts: bool,
    call_ids: &'a CallIds<'a>,
    custom: HashSet<&'a Text>,
}

impl<'a> Input<'a> {
    fn push(&mut self, item: &'a TranscriptItem) {
        match item {
            TranscriptItem::User { content } => {
                self.ids = false;
                self.last_item = None;
                let content = content.iter().filter_map(user_content).collect();
                let (role, id, status, phase) = ("user", None, None, None);
                self.items.push(InputItem::Message { role, id, status, content, phase });
            }
            TranscriptItem::Text { text, metadata } => self.text(text, metadata.as_ref()),
            TranscriptItem::Reasoning { text, metadata } => self.reasoning(text, metadata.as_ref()),
            TranscriptItem::Call(call) => self.call(call),
            TranscriptItem::Result(result) => self.result(result),
            TranscriptItem::ProviderItem { provider, item } if *provider == metadata::STATE.0 => {
                self.provider_item(item);
            }
            _ => {}
        }
    }

    /// An item that the API ran has no form without its id. It is sent only where ids are sent and the reasoning that
    /// preceded it is present.
    fn provider_item(&mut self, item: &'a JsonText) {
        let of_turn = |item: &&InputItem<'_>| match item {
            InputItem::Message { role, .. } => *role != "user",
            InputItem::FunctionCallOutput { .. } | InputItem::CustomToolCallOutput { .. } => false,
            _ => true,
        };
        let is_unsent = |item: &InputItem<'_>| {
            matches!(item, InputItem::Reasoning { id, encrypted_content, .. }
                if id.is_none() || encrypted_content.is_empty())
        };
        if self.replay_ids && !self.items.iter().rev().take_while(of_turn).any(is_unsent) {
            self.last_item = None;
            self.items.push(InputItem::Provider(item));
        }
    }

    fn text(&mut self, text: &'a Text, state: Option<&'a ProviderMetadata>) {
        let part = Content::OutputText { text, annotations: [] };
        let item_id = metadata::STATE.text(state, metadata::ITEM_ID);
        if item_id.is_some()
            && item_id == self.last_item
            && let Some(InputItem::Message { role: "assistant", content, .. }) = self.items.last_mut()
        {
            content.push(part);
            return;
        }
        self.last_item = item_id;
        self.items.push(InputItem::Message {
            role: "assistant",
            id: self.id(item_id, "msg"),
            status: Some("completed"),
            content: vec![part],
            phase: metadata::STATE.text(state, metadata::PHASE),
        });
    }

    /// Reasoning is sent back only in the provider's encrypted form; the API accepts neither displayed reasoning text
    /// nor the reasoning of another provider. The blocks of one item become one item again.
    fn reasoning(&mut self, text: &'a Text, state: Option<&'a ProviderMetadata>) {
        if let Some(item) = compaction::of(metadata::STATE, state) {
            if self.compacts {
                self.compaction(item);
            }
            return;
        }
        let item_id = metadata::STATE.text(state, metadata::ITEM_ID);
        let sealed = metadata::STATE.text(state, metadata::ENCRYPTED_CONTENT).unwrap_or_default();
        let raw = metadata::STATE.field(state, metadata::RAW_REASONING).is_some();
        let part = (!raw && !text.is_empty()).then_some(Content::SummaryText { text });
        let id = item_id.filter(|id| self.replay_ids && is_own_id(id, "rs"));
        self.ids |= id.is_some() && !sealed.is_empty();
        if item_id.is_some()
            && item_id == self.last_item
            && let Some(InputItem::Reasoning { summary, encrypted_content, .. }) = self.items.last_mut()
        {
            summary.extend(part);
            if !sealed.is_empty() {
                *encrypted_content = sealed;
            }
            return;
        }
        self.last_item = item_id;
        let summary = part.into_iter().collect();
        self.items.push(InputItem::Reasoning { id, summary, encrypted_content: sealed });
    }

    fn compaction(&mut self, item: &'a Map<String, Value>) {
        self.last_item = None;
        let mut item = Cow::Borrowed(item);
        if !self.replay_ids {
            item.to_mut().remove("id");
        }
        self.items.push(InputItem::Compaction(item));
    }

    fn call(&mut self, call: &'a ToolCall) {
        self.last_item = None;
        let id = metadata::STATE.text(call.metadata.as_ref(), metadata::ITEM_ID);
        let (call_id, name) = (self.call_ids.get(&call.id), call_name::accepted(&call.name));
        let item = match call.kind {
            CallKind::Function => InputItem::FunctionCall {
                id: self.id(id, "fc"),
                call_id,
                name,
                arguments: call.arguments.as_str(),
                status: "completed",
            },
            CallKind::Custom => {
                self.custom.insert(&call.id);
                let input = call.arguments.to_str_value();
                let input = input.unwrap_or_else(|| call.arguments.as_str().to_owned());
                InputItem::CustomToolCall { id: self.id(id, "ctc"), call_id, name, input }
            }
        };
        self.items.push(item);
    }

    fn result(&mut self, result: &'a ToolResult) {
        self.last_item = None;
        self.ids = false;
        let (call_id, output) = (self.call_ids.get(&result.call_id), result.output_text());
        self.items.push(if self.custom.contains(&result.call_id) {
            InputItem::CustomToolCallOutput { call_id, output }
        } else {
            let status = if result.is_error { "incomplete" } else { "completed" };
            InputItem::FunctionCallOutput { call_id, output, status }
        });
    }

    fn id(&self, id: Option<&'a str>, prefix: &str) -> Option<&'a str> {
        id.filter(|id| self.ids && self.replay_ids && is_own_id(id, prefix))
    }
}

/// Returns `true` if the API accepts this id. It checks the prefix and the length (64); ids of other servers have
/// neither.
fn is_own_id(id: &str, prefix: &str) -> bool {
    id.len() <= 64 && id.starts_with(prefix)
}

/// The types of files, beside text, whose content the API reads.
/// <https://developers.openai.com/api/docs/guides/file-inputs#full-list-of-accepted-file-types>
fn is_document(media_type: &str) -> bool {
    const DOCUMENTS: &[&str] = &[
        "application/pdf",
        "application/rtf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.oasis.opendocument.text",
        "application/javascript",
        "application/typescript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
    ];
    DOCUMENTS.contains(&media_type)
        || media_type.starts_with("application/vnd.openxmlformats-officedocument.")
}

/// Returns an image, a document or the text of a file. A file of another type is replaced by a note for the model: the API
/// would refuse this request and each later one.
fn user_content(content: &UserContent) -> Option<Content<'_>> {
    let (media_type, url, filename) = match content {
        UserContent::Text { text } => return Some(Content::InputText { text: text.as_str().into() }),
        UserContent::File { media_type, url, filename } => (media_type, url, filename.as_deref()),
        _ => return None,
    };
    let detail = "auto";
    if let Some(file_id) = uploaded_id(url) {
        let file_id = Some(file_id);
        return Some(match media_type.starts_with("image/") {
            true => Content::InputImage { image_url: None, file_id, detail },
            false => Content::InputFile { filename: None, file_id, file_data: None, file_url: None },
        });
    }
    if let Some(image_url) = data_url::image(media_type, url) {
        return Some(Content::InputImage { image_url: Some(image_url), file_id: None, detail });
    }
    if let Some(text) = data_url::quoted(media_type, url, filename) {
        return Some(Content::InputText { text: text.into() });
    }
    let stated = data_url::split(url).map(|(stated, _)| stated).filter(|stated| !stated.is_empty());
    let stated = stated.unwrap_or(media_type);
    if !is_document(stated) && !data_url::is_text(stated) {
        return Some(Content::InputText { text: data_url::note(stated, filename).into() });
    }
    let inline = url.starts_with("data:");
    Some(Content::InputFile {
        // File data requires a name; the API refuses one beside a URL. It takes the media type from the data URL.
        filename: inline.then_some(filename.unwrap_or("file")),
        file_id: None,
        file_data: inline.then_some(url),
        file_url: (!inline).then_some(url),
    })
}
