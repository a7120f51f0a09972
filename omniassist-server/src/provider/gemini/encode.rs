//! Requests to `streamGenerateContent`.

use bytes::Bytes;
use omniassist_core::{LlmPayload, Text, ToolChoice};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Value, json};

use super::contents::contents;
use super::model::{Generation, Thinking};
use super::schema;
use crate::Result;
use crate::provider::body::{self, Body, Fields};

/// The provider's settings, beside a payload.
#[derive(Debug, Clone)]
pub struct GeminiApi {
    pub(super) model: Text,
    pub(super) include_thoughts: bool,
}

pub(super) fn encode(payload: &LlmPayload, options: &GeminiApi) -> Result<Bytes> {
    let model = payload.model.as_ref().unwrap_or(&options.model);
    body::encode(&Request { payload, options, model }, payload)
}

struct Request<'a> {
    payload: &'a LlmPayload,
    options: &'a GeminiApi,
    model: &'a Text,
}

impl Fields for Request<'_> {
    /// All that stays the same from turn to turn comes first and the conversation last, so that a longer conversation
    /// begins with the bytes of the shorter one.
    fn write<M: SerializeMap>(&self, body: &mut Body<'_, M>) -> Result<(), M::Error> {
        let config = self.config();
        if config != GenerationConfig::default() {
            body.field("generationConfig", &config)?;
        }
        if !self.payload.tools.is_empty() {
            let function_declarations = self.payload.tools.iter().map(|tool| Declaration {
                name: &tool.name,
                description: tool.model_description(),
                parameters_json_schema: (!schema::is_empty(&tool.input_schema))
                    .then(|| schema::normalised(&tool.input_schema)),
            });
            body.field("tools", &[Tool { function_declarations: function_declarations.collect() }])?;
            body.optional("toolConfig", calling(&self.payload.tool_choice))?;
        }
        if let Some(text) = &self.payload.system {
            body.field("systemInstruction", &json!({"parts": [{"text": text}]}))?;
        }
        let signs_calls = Generation::of(self.model) == Generation::Level;
        body.field("contents", &contents(&self.payload.transcript, signs_calls))
    }
}

impl Request<'_> {
    fn config(&self) -> GenerationConfig<'_> {
        let options = &*self.payload.options;
        let schema = options.response_schema.as_ref().map(|(_, schema)| schema::normalised(schema));
        GenerationConfig {
            temperature: options.temperature,
            top_p: options.top_p,
            max_output_tokens: options.max_output_tokens,
            response_mime_type: schema.is_some().then_some("application/json"),
            response_json_schema: schema,
            thinking_config: Thinking::of(
                self.model,
                options.reasoning_effort.as_ref(),
                self.options.include_thoughts,
            ),
        }
    }
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
