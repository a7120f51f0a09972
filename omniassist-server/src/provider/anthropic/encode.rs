//! Requests to the Messages API.

use std::borrow::Cow;

use bytes::Bytes;
use omniassist_core::{LlmPayload, Text, ToolChoice};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;

use super::content::{CacheControl, Content, Marked};
use super::messages::{self, Message};
use super::messages_api::MessagesApi;
use super::schema;
use super::thinking::Plan;
use crate::Result;
use crate::provider::body::{self, Body, Fields};

pub(super) fn encode(payload: &LlmPayload, options: &MessagesApi) -> Result<Bytes> {
    let model = payload.model.as_ref().unwrap_or(&options.model);
    let messages = messages::messages(&payload.transcript);
    let plan = Plan::new(payload, options, model, &messages);
    let messages = messages.finish(plan.takes_prefill, options.prompt_caching);
    let cache = options.prompt_caching.then_some(CacheControl::Ephemeral);
    body::encode(&Request { payload, model, plan, messages, cache }, payload)
}

struct Request<'a> {
    payload: &'a LlmPayload,
    model: &'a Text,
    plan: Plan<'a>,
    messages: Vec<Message<'a>>,
    cache: Option<CacheControl>,
}

impl Fields for Request<'_> {
    /// All that stays the same from turn to turn comes first and the conversation last, so that a longer conversation
    /// begins with the bytes of the shorter one.
    fn write<M: SerializeMap>(&self, body: &mut Body<'_, M>) -> Result<(), M::Error> {
        let (payload, plan) = (self.payload, &self.plan);
        body.field("model", self.model)?;
        body.field("max_tokens", &plan.max_tokens)?;
        body.field("stream", &true)?;
        body.optional("thinking", plan.thinking.as_ref())?;
        let format = payload
            .options
            .response_schema
            .as_ref()
            .map(|(_, schema)| Format { kind: "json_schema", schema: schema::answer(schema) });
        if plan.effort.is_some() || format.is_some() {
            body.field("output_config", &OutputConfig { effort: plan.effort, format })?;
        }
        body.optional("temperature", plan.temperature)?;
        body.optional("top_p", plan.top_p)?;
        if !payload.tools.is_empty() {
            let last = payload.tools.len() - 1;
            let tools: Vec<Tool<'_>> = (0..)
                .zip(payload.tools.iter())
                .map(|(at, tool)| Tool {
                    name: &tool.name,
                    description: tool.model_description(),
                    input_schema: schema::tool_input(&tool.input_schema),
                    cache_control: self.cache.filter(|_| at == last),
                })
                .collect();
            body.field("tools", &tools)?;
            body.optional("tool_choice", choice(payload))?;
        }
        if let Some(system) = payload.system.as_ref().filter(|system| !system.trim().is_empty()) {
            let text = Content::Text { text: system.as_str().into() };
            body.field("system", &[Marked { content: text, cache_control: self.cache }])?;
        }
        body.field("messages", &self.messages)
    }
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

#[derive(Serialize)]
struct Format {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Value,
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

#[derive(Serialize)]
struct Choice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

fn choice(payload: &LlmPayload) -> Option<Choice<'_>> {
    let (kind, name) = match &payload.tool_choice {
        ToolChoice::None => {
            return Some(Choice { kind: "none", name: None, disable_parallel_tool_use: None });
        }
        ToolChoice::Required => ("any", None),
        ToolChoice::Tool(name) => ("tool", Some(name)),
        _ => ("auto", None),
    };
    let disable_parallel_tool_use = (payload.options.parallel_tool_calls == Some(false)).then_some(true);
    // `auto` is what the API does by itself.
    (kind != "auto" || disable_parallel_tool_use.is_some()).then_some(Choice {
        kind,
        name,
        disable_parallel_tool_use,
    })
}
