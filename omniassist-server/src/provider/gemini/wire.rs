//! The JSON of a `streamGenerateContent` stream, as far as it is read. Large fields that most chunks do not hold are
//! boxed: a chunk is moved several times while it is read.

use omniassist_core::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::provider::lenient_fields::{Few, Num, Str};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) response_id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) model_version: Str<'a>,
    #[serde(borrow, default)]
    pub(super) candidates: Few<Candidate<'a>>,
    #[serde(borrow, default)]
    pub(super) prompt_feedback: Option<Box<PromptFeedback<'a>>>,
    #[serde(default)]
    pub(super) usage_metadata: Option<WireUsage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback<'a> {
    #[serde(borrow, default)]
    pub(super) block_reason: Str<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(default)]
    pub(super) index: Num,
    #[serde(borrow, default)]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Str<'a>,
    #[serde(borrow, default)]
    pub(super) grounding_metadata: Option<Box<Grounding<'a>>>,
    #[serde(borrow, default)]
    pub(super) citation_metadata: Option<Box<Citations<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) parts: Few<Part<'a>>,
}

/// One part: text, a call, a file or what the provider ran itself. A signature may stand on any of them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub(super) text: Str<'a>,
    #[serde(default)]
    pub(super) thought: Option<bool>,
    #[serde(borrow, default)]
    pub(super) thought_signature: Str<'a>,
    #[serde(borrow, default)]
    pub(super) function_call: Option<Box<FunctionCall<'a>>>,
    #[serde(borrow, default)]
    pub(super) inline_data: Option<Box<Blob<'a>>>,
    #[serde(borrow, default)]
    pub(super) file_data: Option<Box<FileUri<'a>>>,
    #[serde(borrow, default)]
    pub(super) executable_code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) code_execution_result: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow, default)]
    pub(super) id: Str<'a>,
    #[serde(borrow, default)]
    pub(super) name: Str<'a>,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) partial_args: Few<PartialArg<'a>>,
    #[serde(default)]
    pub(super) will_continue: Option<bool>,
}

/// A piece of one argument, named by its JSONPath.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartialArg<'a> {
    #[serde(borrow, default)]
    pub(super) json_path: Str<'a>,
    #[serde(borrow, default)]
    pub(super) string_value: Option<Str<'a>>,
    #[serde(default)]
    pub(super) number_value: Option<Value>,
    #[serde(default)]
    pub(super) bool_value: Option<bool>,
    #[serde(default)]
    pub(super) will_continue: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    #[serde(borrow, default)]
    pub(super) mime_type: Str<'a>,
    #[serde(borrow, default)]
    pub(super) data: Str<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileUri<'a> {
    #[serde(borrow, default)]
    pub(super) mime_type: Str<'a>,
    #[serde(borrow, default)]
    pub(super) file_uri: Str<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Grounding<'a> {
    #[serde(borrow, default)]
    pub(super) grounding_chunks: Few<GroundingChunk<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroundingChunk<'a> {
    #[serde(borrow, default)]
    pub(super) web: Option<Cited<'a>>,
    #[serde(borrow, default)]
    pub(super) maps: Option<Cited<'a>>,
    #[serde(borrow, default)]
    pub(super) retrieved_context: Option<Cited<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Cited<'a> {
    #[serde(borrow, default)]
    pub(super) uri: Str<'a>,
    #[serde(borrow, default)]
    pub(super) title: Str<'a>,
}

/// The Gemini API says `citationSources`, Vertex AI `citations`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Citations<'a> {
    #[serde(borrow, default)]
    pub(super) citation_sources: Few<Cited<'a>>,
    #[serde(borrow, default)]
    pub(super) citations: Few<Cited<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireUsage {
    #[serde(default)]
    prompt_token_count: Num,
    #[serde(default)]
    tool_use_prompt_token_count: Num,
    #[serde(default)]
    candidates_token_count: Num,
    #[serde(default)]
    thoughts_token_count: Num,
    #[serde(default)]
    total_token_count: Num,
    #[serde(default)]
    cached_content_token_count: Num,
    // Most chunks have these lists of objects. Nothing reads them, but serde_json allocates for a nested value of a
    // field that it does not know, and not for the elements of a list.
    #[serde(default)]
    #[expect(dead_code, reason = "read to be skipped without an allocation")]
    prompt_tokens_details: Few<IgnoredAny>,
    #[serde(default)]
    #[expect(dead_code, reason = "read to be skipped without an allocation")]
    candidates_tokens_details: Few<IgnoredAny>,
}

impl WireUsage {
    /// The counts in the common vocabulary; `None` if the object reports nothing. This API counts thoughts, and what
    /// its own tools read, apart from the rest.
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
