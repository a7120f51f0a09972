use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::transcript::ToolResult;
use crate::{KeptAnswer, Text, ToolSpec, TranscriptItem};

/// A request to a model, independent of the provider.
///
/// Cloning is cheap, because all large fields are shared. A retry sends a clone.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LlmPayload {
    /// The model of the run. `None` for the provider's default.
    pub model: Option<Text>,
    /// The system prompt.
    pub system: Option<Text>,
    /// The conversation in legal form ([`transcript`](crate::transcript)).
    pub transcript: Arc<[TranscriptItem]>,
    /// The tools that the model may call.
    pub tools: Arc<[Arc<ToolSpec>]>,
    /// The rule for tool calls. Default: the model decides.
    pub tool_choice: ToolChoice,
    /// Sampling and other settings.
    pub options: Arc<ModelOptions>,
    /// Set for the answer of a run that another process can continue. Default: none, so dropping the stream of an answer
    /// ends the answer too.
    pub kept: Option<KeptAnswer>,
}

impl LlmPayload {
    /// Creates a request with this transcript and defaults otherwise.
    #[must_use]
    pub fn new(transcript: impl Into<Arc<[TranscriptItem]>>) -> Self {
        Self { transcript: transcript.into(), ..Self::default() }
    }

    /// Appends results of tool calls to the transcript, in the given order.
    #[must_use]
    pub fn with_results(mut self, results: impl IntoIterator<Item = ToolResult>) -> Self {
        let results = results.into_iter().map(TranscriptItem::Result);
        self.transcript = self.transcript.iter().cloned().chain(results).collect();
        self
    }
}

/// The rule for tool calls of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool.
    Tool(Text),
}

/// Settings of a model call. `None` is not sent, so the provider's default applies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelOptions {
    /// Sampling temperature. It is not sent to models that are known to refuse it. These are OpenAI's reasoning models (except
    /// gpt-5.1 and later with the effort `none`) and Claude models since 4.7. To send it anyway, put it into
    /// [`extra`](Self::extra).
    pub temperature: Option<f64>,
    /// Nucleus sampling. It is not sent to the same models.
    pub top_p: Option<f64>,
    /// The maximum number of tokens of one answer, including reasoning.
    pub max_output_tokens: Option<u32>,
    /// The effort of a reasoning model.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// `true` if one turn may contain several tool calls.
    pub parallel_tool_calls: Option<bool>,
    /// The JSON Schema of the answer, with its name.
    pub response_schema: Option<(Text, Value)>,
    /// Further fields of the provider's request body. They replace fields of the SDK with the same name.
    pub extra: Map<String, Value>,
}

/// The effort of a reasoning model before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// The minimum that the model supports.
    Minimal,
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// A value of the provider.
    Other(Text),
}

impl ReasoningEffort {
    /// Returns the value sent to providers.
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
