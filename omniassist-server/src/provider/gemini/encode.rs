//! Requests to `streamGenerateContent`.

use std::borrow::Cow;

use bytes::Bytes;
use omniassist_core::{LlmPayload, Text, ToolChoice};
use serde::Serialize;
use serde_json::{Value, json};

use super::contents::contents;
use super::model::{Generation, Thinking};
use super::schema;
use crate::Result;
use crate::provider::answer_form;
use crate::provider::body::Body;

/// The settings that are specific to Gemini.
#[derive(Debug, Clone, Default)]
pub struct GeminiApi {
    pub(super) include_thoughts: bool,
}

pub(super) fn encode(api: &GeminiApi, model: &Text, payload: &LlmPayload) -> Result<Bytes> {
    let options = &*payload.options;
    let generation = Generation::of(model);
    let schema = options.response_schema.as_ref().map(|(_, schema)| schema);
    // Before Gemini 3, a request with tools may not state the form of its answer.
    let is_stated = payload.tools.is_empty() || generation == Generation::Level;
    let (schema, prompted) = if is_stated { (schema, None) } else { (None, schema) };
    let schema = schema.map(schema::normalised);
    let config = GenerationConfig {
        temperature: options.temperature,
        top_p: options.top_p,
        max_output_tokens: options.max_output_tokens,
        response_mime_type: schema.is_some().then_some("application/json"),
        response_json_schema: schema,
        thinking_config: Thinking::of(model, options.reasoning_effort.as_ref(), api.include_thoughts),
    };
    let mut body = Body::new(payload);
    body.optional("generationConfig", (config != GenerationConfig::default()).then_some(config));
    if !payload.tools.is_empty() {
        let function_declarations = payload.tools.iter().map(|tool| Declaration {
            name: &tool.name,
            description: tool.model_description(),
            parameters_json_schema: (!schema::is_empty(&tool.input_schema))
                .then(|| schema::normalised(&tool.input_schema)),
        });
        body.field("tools", &[Tool { function_declarations: function_declarations.collect() }]);
        body.optional("toolConfig", calling(&payload.tool_choice));
    }
    let system = payload.system.as_deref().filter(|system| !system.trim().is_empty());
    let system = match prompted {
        Some(schema) => Some(answer_form::prompt(system, schema).into()),
        None => system.map(Cow::Borrowed),
    };
    if let Some(text) = system {
        body.field("systemInstruction", &json!({"parts": [{"text": text}]}));
    }
    let signs_calls = generation == Generation::Level;
    body.field("contents", &contents(&payload.transcript, signs_calls));
    body.finish()
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Thinking<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a Text,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<Value>,
}

fn calling(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        _ => return None,
    };
    Some(json!({"functionCallingConfig": config}))
}
