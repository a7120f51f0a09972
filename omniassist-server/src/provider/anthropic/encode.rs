//! Requests to the Messages API.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use omniassist_core::{LlmPayload, Text, ToolChoice, TranscriptItem};
use serde::Serialize;
use serde_json::{Value, json};

use super::content::{CacheControl, Content, Marked};
use super::messages;
use super::schema;
use super::thinking::Plan;
use crate::Result;
use crate::provider::body::Body;
use crate::provider::{answer_form, call_name};

/// The default limit of one answer, in tokens. A budget for thinking is added to it. The API requires a limit in each
/// request. All models since Claude 4 support this one.
pub const DEFAULT_ANTHROPIC_MAX_TOKENS: u32 = 16_000;

/// The settings that are specific to Anthropic.
#[derive(Debug, Clone)]
pub struct MessagesApi {
    pub(super) betas: Vec<String>,
    pub(super) max_tokens: u32,
    pub(super) prompt_caching: bool,
    /// `None`: the model's name decides.
    pub(super) adaptive_thinking: Option<bool>,
    /// The input tokens at which the API compacts the conversation.
    pub(super) compaction: Option<u64>,
}

impl Default for MessagesApi {
    fn default() -> Self {
        Self {
            betas: Vec::new(),
            max_tokens: DEFAULT_ANTHROPIC_MAX_TOKENS,
            prompt_caching: true,
            adaptive_thinking: None,
            compaction: None,
        }
    }
}

pub(super) fn encode(api: &MessagesApi, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
    let messages = messages::messages(&payload.transcript, api.compaction.is_some());
    let plan = Plan::new(payload, api.max_tokens, api.adaptive_thinking, model, &messages);
    let messages = messages.finish(plan.takes_prefill, api.prompt_caching);
    let cache = api.prompt_caching.then_some(CacheControl::Ephemeral);
    let mut body = Body::new(payload);
    body.field("model", model);
    body.field("max_tokens", &plan.max_tokens);
    body.field("stream", &true);
    let compact = |tokens| {
        json!({"edits": [{
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": tokens},
        }]})
    };
    body.optional("context_management", api.compaction.map(compact));
    body.optional("thinking", plan.thinking);
    let schema = payload.options.response_schema.as_ref().map(|(_, schema)| schema);
    let (schema, prompted) =
        if schema.is_some_and(schema::is_unsupported) { (None, schema) } else { (schema, None) };
    let format = schema.map(|schema| json!({"type": "json_schema", "schema": schema::answer(schema)}));
    let effort = plan.effort.map(|effort| ("effort", effort.into()));
    let config: BTreeMap<_, Value> =
        effort.into_iter().chain(format.map(|format| ("format", format))).collect();
    body.optional("output_config", (!config.is_empty()).then_some(config));
    body.optional("temperature", plan.temperature);
    body.optional("top_p", plan.top_p);
    if !payload.tools.is_empty() {
        let last = payload.tools.len() - 1;
        let tools: Vec<Tool<'_>> = (0..)
            .zip(payload.tools.iter())
            .map(|(at, tool)| Tool {
                name: &tool.name,
                description: tool.model_description(),
                input_schema: schema::tool_input(&tool.input_schema),
                cache_control: cache.filter(|_| at == last),
            })
            .collect();
        body.field("tools", &tools);
        body.optional("tool_choice", choice(payload));
    } else {
        // The API has refused conversations with calls whose request declares no tools.
        let calls = payload.transcript.iter().filter_map(TranscriptItem::as_call);
        let called: BTreeSet<_> = calls.map(|call| call_name::accepted(&call.name)).collect();
        if !called.is_empty() {
            body.field("tools", &called.iter().map(Tool::past).collect::<Vec<_>>());
            body.field("tool_choice", &json!({"type": "none"}));
        }
    }
    let system = payload.system.as_deref().filter(|system| !system.trim().is_empty());
    let system = match prompted {
        Some(schema) => Some(answer_form::prompt(system, schema).into()),
        None => system.map(Cow::Borrowed),
    };
    if let Some(text) = system {
        let text = Content::Text { text };
        body.field("system", &[Marked { content: text, cache_control: cache }]);
    }
    body.field("messages", &messages);
    body.finish()
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a Text,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

impl<'a> Tool<'a> {
    /// Returns the declaration of a tool that the model called before, and cannot call now.
    fn past(name: &'a Text) -> Self {
        let input_schema = Cow::Owned(json!({"type": "object"}));
        Self { name, description: String::new(), input_schema, cache_control: None }
    }
}

fn choice(payload: &LlmPayload) -> Option<Value> {
    let mut choice = match &payload.tool_choice {
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
        _ => json!({"type": "auto"}),
    };
    let one_at_a_time = payload.options.parallel_tool_calls == Some(false);
    if let (true, Some(fields)) = (one_at_a_time, choice.as_object_mut()) {
        fields.insert("disable_parallel_tool_use".to_owned(), true.into());
    }
    // `auto` is the API's default.
    (one_at_a_time || !matches!(payload.tool_choice, ToolChoice::Auto)).then_some(choice)
}
