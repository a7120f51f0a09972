//! The JSON of a `streamGenerateContent` stream, reduced to the fields in use. Large fields that most chunks lack are
//! boxed, because a chunk is moved several times while it is decoded.

use omniassist_core::Usage;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::provider::lenient_fields::{Few, Num, Str};

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    pub(super) response_id: Str<'a>,
    pub(super) model_version: Str<'a>,
    pub(super) candidates: Few<Candidate<'a>>,
    pub(super) prompt_feedback: Option<Box<PromptFeedback<'a>>>,
    pub(super) usage_metadata: Option<WireUsage>,
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct PromptFeedback<'a> {
    pub(super) block_reason: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Num,
    pub(super) content: Option<Content<'a>>,
    pub(super) finish_reason: Str<'a>,
    pub(super) grounding_metadata: Option<Box<Grounding<'a>>>,
    pub(super) citation_metadata: Option<Box<Citations<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Content<'a> {
    pub(super) parts: Few<Part<'a>>,
}

/// One part: text, a call, a file, or code that the provider ran. Any of them may have a signature.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Part<'a> {
    pub(super) text: Str<'a>,
    pub(super) thought: Option<bool>,
    pub(super) thought_signature: Str<'a>,
    pub(super) function_call: Option<Box<FunctionCall<'a>>>,
    pub(super) inline_data: Option<Box<Blob<'a>>>,
    pub(super) file_data: Option<Box<FileUri<'a>>>,
    pub(super) executable_code: Option<&'a RawValue>,
    pub(super) code_execution_result: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct FunctionCall<'a> {
    pub(super) id: Str<'a>,
    pub(super) name: Str<'a>,
    pub(super) args: Option<&'a RawValue>,
    pub(super) partial_args: Few<PartialArg<'a>>,
    pub(super) will_continue: Option<bool>,
}

/// A piece of one argument, with its JSONPath.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct PartialArg<'a> {
    pub(super) json_path: Str<'a>,
    pub(super) string_value: Option<Str<'a>>,
    pub(super) number_value: Option<Value>,
    pub(super) bool_value: Option<bool>,
    pub(super) will_continue: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    pub(super) mime_type: Str<'a>,
    pub(super) data: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct FileUri<'a> {
    pub(super) mime_type: Str<'a>,
    pub(super) file_uri: Str<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Grounding<'a> {
    pub(super) grounding_chunks: Few<GroundingChunk<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct GroundingChunk<'a> {
    pub(super) web: Option<Cited<'a>>,
    pub(super) maps: Option<Cited<'a>>,
    pub(super) retrieved_context: Option<Cited<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Cited<'a> {
    pub(super) uri: Str<'a>,
    pub(super) title: Str<'a>,
}

/// The Gemini API writes `citationSources`, Vertex AI `citations`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"), rename_all = "camelCase")]
pub(super) struct Citations<'a> {
    pub(super) citation_sources: Few<Cited<'a>>,
    pub(super) citations: Few<Cited<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireUsage {
    prompt_token_count: Num,
    tool_use_prompt_token_count: Num,
    candidates_token_count: Num,
    thoughts_token_count: Num,
    total_token_count: Num,
    cached_content_token_count: Num,
    // Most chunks contain these lists, which are not used. Declared fields cost no allocation.
    prompt_tokens_details: Num,
    candidates_tokens_details: Num,
}

impl WireUsage {
    /// Returns the counts in the common vocabulary; `None` if the object reports none. This API counts thoughts, and
    /// the input of its own tools, separately.
    pub(super) fn normalised(&self) -> Option<Usage> {
        let sum = |one: Num, other: Num| match (one.0, other.0) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        let mut usage = Usage::default();
        usage.input_tokens = sum(self.prompt_token_count, self.tool_use_prompt_token_count);
        usage.output_tokens = sum(self.candidates_token_count, self.thoughts_token_count);
        usage.total_tokens = self.total_token_count.0;
        usage.cached_input_tokens = self.cached_content_token_count.0;
        usage.reasoning_tokens = self.thoughts_token_count.0;
        (usage != Usage::default()).then_some(usage)
    }
}
