use std::sync::Arc;

use serde_json::{Map, Value};

use crate::transcript::ToolResult;
use crate::{Text, ToolSpec, TranscriptItem};

/// One request to a model: what a provider turns into its own wire format.
///
/// Cloning is cheap (everything large is shared), so that a retry can repeat it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LlmPayload {
    /// The model, where the run names one; otherwise the provider's own.
    pub model: Option<Text>,
    /// The system prompt.
    pub system: Option<Text>,
    /// The conversation so far, in legal form ([`transcript`](crate::transcript)).
    pub transcript: Arc<[TranscriptItem]>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// The rule for tool calls: must, may or must not. Default: may.
    pub tool_choice: ToolChoice,
    /// Sampling and other settings.
    pub options: Arc<ModelOptions>,
}

impl LlmPayload {
    /// A payload with a transcript and nothing else.
    #[must_use]
    pub fn new(transcript: impl Into<Arc<[TranscriptItem]>>) -> Self {
        Self { transcript: transcript.into(), ..Self::default() }
    }

    /// The same payload with results of tool calls at the end of its transcript, in the order given.
    #[must_use]
    pub fn with_results(mut self, results: impl IntoIterator<Item = ToolResult>) -> Self {
        let results = results.into_iter().map(TranscriptItem::Result);
        self.transcript = self.transcript.iter().cloned().chain(results).collect();
        self
    }
}

/// The rule for tool calls of a model: must, may or must not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool may be called.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(Text),
}

/// Settings of a model call. What is `None` is not sent, so the provider's own default holds.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Cap on the tokens of one answer, reasoning included.
    pub max_output_tokens: Option<u32>,
    /// The effort of a reasoning model.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// `true` if one turn may hold several tool calls.
    pub parallel_tool_calls: Option<bool>,
    /// A JSON Schema that the answer must follow, with a name for it.
    pub response_schema: Option<(Text, Value)>,
    /// Further fields of the provider's request body, written last: they win over what the SDK wrote.
    pub extra: Map<String, Value>,
}

/// The effort of a reasoning model before it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// As little as the model allows.
    Minimal,
    /// Little.
    Low,
    /// The usual amount.
    Medium,
    /// Much.
    High,
    /// A word of the provider's own.
    Other(Text),
}

impl ReasoningEffort {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Other(word) => word,
        }
    }
}
