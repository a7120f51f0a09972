use serde::{Deserialize, Serialize};

use crate::provider_metadata::ProviderMetadata;
use crate::{JsonText, Text};

/// An event of a model's answer, in order.
///
/// `block` numbers the text and reasoning blocks, `call` the tool calls, each from 0 within one model turn. Metadata is
/// provider-opaque state in two levels, `{"openai": {…}}`, that must come back unchanged with the next request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LlmEvent {
    /// The answer begins.
    Start {
        /// The provider's id of the answer.
        id: Option<Text>,
        /// The model that answers, as the provider names it.
        model: Option<Text>,
    },
    /// A piece of visible text. The first piece of a block opens it.
    TextDelta {
        /// The block it belongs to.
        block: u32,
        /// The piece; may hold any number of characters, also none.
        delta: Text,
    },
    /// A text block is complete.
    TextEnd {
        /// The block.
        block: u32,
        /// State to carry with it.
        metadata: Option<ProviderMetadata>,
    },
    /// A piece of a refusal: shown to the user like text, and reported apart.
    RefusalDelta {
        /// The block it belongs to; numbered with the text blocks.
        block: u32,
        /// The piece.
        delta: Text,
    },
    /// A piece of reasoning (a summary, or raw thinking where the provider shows it).
    ReasoningDelta {
        /// The block it belongs to; reasoning and text blocks share one numbering.
        block: u32,
        /// The piece.
        delta: Text,
    },
    /// A reasoning block is complete. Sent also for a block without visible text when it carries state.
    ReasoningEnd {
        /// The block.
        block: u32,
        /// State to carry with it (encrypted content, a signature).
        metadata: Option<ProviderMetadata>,
    },
    /// The model begins a tool call.
    ToolCallStart {
        /// Number of the call within the turn, in order of first appearance.
        call: u32,
        /// Id of the call; minted by the decoder where the provider gave none.
        id: Text,
        /// Name of the tool.
        name: Text,
        /// The kind of the arguments: JSON or free text.
        kind: CallKind,
    },
    /// A piece of a tool call's arguments.
    ToolCallDelta {
        /// The call.
        call: u32,
        /// The piece of the argument text.
        delta: Text,
    },
    /// The provider said that this call is complete: its own end was seen. Never sent for a call that was cut off.
    ToolCallEnd {
        /// The call.
        call: u32,
        /// The whole argument text, as the provider finally gave it (empty for a call without arguments).
        arguments: Text,
        /// State to carry with the call.
        metadata: Option<ProviderMetadata>,
    },
    /// Something the provider ran itself (web search, code interpreter, an MCP call): shown, never run here.
    ProviderTool {
        /// The provider's id of the item.
        id: Text,
        /// The item's type, without a `_call` ending: `web_search`, `code_interpreter`, `mcp`.
        kind: Text,
        /// The tool's own name, where the item has one (MCP).
        name: Option<Text>,
        /// The whole item.
        item: JsonText,
        /// Where the item goes back to with the conversation: the word that the API's state stands under in metadata
        /// (`anthropic`). `None` for an item that no API takes back.
        replay_to: Option<Text>,
    },
    /// Something the answer rests on.
    Source(Source),
    /// A file that the model made.
    File {
        /// Its media type.
        media_type: Text,
        /// An `https:` or `data:` URL.
        url: Text,
    },
    /// Tokens used. The last one of a turn counts; a field that is `None` was not reported.
    Usage(Usage),
    /// The turn is over. Exactly one per healthy turn, and the last event but [`Usage`](Self::Usage).
    Finish {
        /// The reason, in one vocabulary.
        reason: FinishReason,
        /// The provider's own word.
        raw: Option<Text>,
        /// `true` if the provider reports that the output was cut. The last call is then incomplete, even if its
        /// arguments look complete.
        truncated: bool,
    },
    /// An event of a kind that this version does not know.
    Unknown {
        /// The provider's name for it.
        kind: Text,
        /// The content.
        data: Text,
    },
}

/// The kind of a call's arguments: JSON or free text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// JSON arguments.
    #[default]
    Function,
    /// Free text (a "custom" tool).
    Custom,
}

/// Something an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Source {
    /// A page.
    #[serde(rename_all = "camelCase")]
    Url {
        /// Unique within the answer.
        id: Text,
        /// Its address.
        url: Text,
        /// Its title.
        title: Option<Text>,
    },
    /// A document that the provider holds.
    #[serde(rename_all = "camelCase")]
    Document {
        /// Unique within the answer.
        id: Text,
        /// Its media type.
        media_type: Text,
        /// Its title.
        title: Text,
        /// Its file name.
        filename: Option<Text>,
    },
}

/// The reason for the end of a model's turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// It had said what it had to say.
    Stop,
    /// It called tools.
    ToolCalls,
    /// The token limit cut it.
    Length,
    /// A content filter cut it.
    ContentFilter,
    /// The model refused, in words.
    Refusal,
    /// The provider interrupted a long turn in which it runs tools of its own. Asked again with what it said so far, it
    /// goes on. The run loop does so; a run never ends with this.
    Pause,
    /// The provider reported an error.
    Error,
    /// A word this version does not know.
    Other(Text),
}

impl FinishReason {
    /// Returns the reason as one word: `tool-calls`, or the provider's own word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool-calls",
            Self::Length => "length",
            Self::ContentFilter => "content-filter",
            Self::Refusal => "refusal",
            Self::Pause => "pause",
            Self::Error => "error",
            Self::Other(word) => word,
        }
    }

    /// Returns `true` if this reason alone means that the output was cut.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        matches!(self, Self::Length | Self::ContentFilter | Self::Error)
    }
}

/// Tokens used. `None` means not reported, which is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Usage {
    /// Tokens read, those from a cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Both, as the provider counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// The part of the input that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// The part of the input that was written to a cache, where that is counted apart: some providers charge more for
    /// it. No token is both read from a cache and written to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_input_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Adds another turn's usage: what neither reported stays `None`.
    pub fn add(&mut self, other: &Self) {
        fn sum(into: &mut Option<u64>, from: Option<u64>) {
            if let Some(tokens) = from {
                *into = Some(into.unwrap_or(0).saturating_add(tokens));
            }
        }
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.total_tokens, other.total_tokens);
        sum(&mut self.cached_input_tokens, other.cached_input_tokens);
        sum(&mut self.cache_write_input_tokens, other.cache_write_input_tokens);
        sum(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}
