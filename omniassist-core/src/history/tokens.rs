use serde::{Deserialize, Serialize};

use crate::message::{FilePart, Message, Part, ProviderMetadata, Role, ToolPart, ToolState};
use crate::transcript::UserContent;
use crate::{Text, TranscriptItem};

const BYTES_PER_TOKEN: usize = 4;
/// The tokens that a provider adds around an item.
const ITEM: u64 = 4;
/// The tokens of an image, and the minimum for any other file.
const FILE: u64 = 1_000;
/// The number of bytes of a `data:` URL per token, for a file that is neither an image nor text.
const FILE_BYTES_PER_TOKEN: usize = 32;
/// The tokens of the result of a call without one, of the text around a denial, or of the text in place of a file.
const NOTE: u64 = 40;

/// Returns the estimated tokens of a text.
#[must_use]
pub fn estimate_text(text: &str) -> u64 {
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}

/// Returns the estimated tokens of a transcript.
#[must_use]
pub fn estimate(items: &[TranscriptItem]) -> u64 {
    items.iter().map(item).sum()
}

fn item(item: &TranscriptItem) -> u64 {
    ITEM + match item {
        TranscriptItem::User { content } => content.iter().map(content_tokens).sum(),
        TranscriptItem::Text { text, metadata } | TranscriptItem::Reasoning { text, metadata } => {
            estimate_text(text) + state(metadata.as_ref())
        }
        TranscriptItem::Call(call) => {
            estimate_text(&call.name) + estimate_text(call.arguments.as_str()) + state(call.metadata.as_ref())
        }
        TranscriptItem::Result(result) => estimate_text(result.output.as_str()),
        TranscriptItem::ProviderItem { item, .. } => estimate_text(item.as_str()),
    }
}

fn content_tokens(content: &UserContent) -> u64 {
    match content {
        UserContent::Text { text } => estimate_text(text),
        UserContent::File { media_type, url, .. } => file(media_type, url),
    }
}

fn file(media_type: &str, url: &str) -> u64 {
    if media_type.starts_with("image/") {
        return FILE;
    }
    let data = if url.starts_with("data:") { url.len() } else { 0 };
    let bytes = if media_type.starts_with("text/") { BYTES_PER_TOKEN } else { FILE_BYTES_PER_TOKEN };
    FILE.max(data.div_ceil(bytes) as u64)
}

/// Returns the estimated tokens of a message, which are at least those of its items in a transcript.
pub(super) fn message(message: &Message) -> u64 {
    match message.role {
        Role::User => ITEM + said(message),
        Role::System => ITEM + NOTE + said(message),
        Role::Assistant => message.parts.iter().map(answer).sum(),
    }
}

/// Returns `true` for a user message that is sent to a model. One without content does not separate two answers.
pub(super) fn is_question(message: &Message) -> bool {
    message.role == Role::User && said(message) > 0
}

fn said(message: &Message) -> u64 {
    let part = |part: &Part| match part {
        Part::Text(part) => estimate_text(&part.text),
        Part::File(FilePart { media_type, url, .. }) => file(media_type, url).max(NOTE),
        _ => 0,
    };
    message.parts.iter().map(part).sum()
}

fn answer(part: &Part) -> u64 {
    match part {
        Part::Text(part) => ITEM + estimate_text(&part.text) + state(part.metadata.as_ref()),
        Part::Reasoning(part) => ITEM + estimate_text(&part.text) + state(part.metadata.as_ref()),
        Part::Tool(tool) if !tool.provider_executed => call(tool),
        _ => 0,
    }
}

fn call(tool: &ToolPart) -> u64 {
    let input = tool.state.input().map_or(1, |input| estimate_text(input.as_str()));
    let output = match &tool.state {
        ToolState::InputStreaming => return 0,
        ToolState::OutputAvailable { output, preliminary: false, .. } => estimate_text(output.as_str()),
        // A quote and an escape at most doubles a character.
        ToolState::OutputError { error_text, .. } => 1 + 2 * estimate_text(error_text),
        ToolState::OutputDenied { approval, .. } => {
            NOTE + 2 * approval.reason().map_or(0, |reason| estimate_text(reason))
        }
        _ => NOTE,
    };
    2 * ITEM + estimate_text(&tool.name) + input + output.max(NOTE) + state(tool.metadata.as_ref())
}

/// Sums the tokens of the texts in provider state, without serialising it.
fn state(metadata: Option<&ProviderMetadata>) -> u64 {
    fn texts(value: &serde_json::Value) -> u64 {
        match value {
            serde_json::Value::String(text) => estimate_text(text),
            serde_json::Value::Array(items) => items.iter().map(texts).sum(),
            serde_json::Value::Object(entries) => entries.values().map(texts).sum(),
            _ => 0,
        }
    }
    metadata.map_or(0, |metadata| metadata.values().map(texts).sum())
}

/// Returns the calls of a message that are sent to a model.
pub(super) fn calls(message: &Message) -> impl Iterator<Item = &Text> {
    message.tools().filter(|tool| !tool.provider_executed).map(|tool| &tool.call_id)
}

/// The ratio of the provider's token count to the estimate, in thousandths: 500 to 4,000. Default: 1,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenRate(u32);

impl TokenRate {
    const LEAST: u64 = 500;
    const MOST: u64 = 4_000;
    /// The minimum number of tokens for a rate. Below it, the provider's own additions would distort the rate.
    const ENOUGH: u64 = 100;

    /// Returns the rate of reported to estimated tokens, or `None` if there are too few.
    #[must_use]
    pub fn measured(reported: u64, estimated: u64) -> Option<Self> {
        let is_enough = reported >= Self::ENOUGH && estimated >= Self::ENOUGH;
        is_enough.then(|| Self::from_thousandths(reported.saturating_mul(1_000) / estimated))
    }

    /// Returns the rate with this number of thousandths, or the nearest valid one.
    #[must_use]
    pub fn from_thousandths(thousandths: u64) -> Self {
        Self(u32::try_from(thousandths.clamp(Self::LEAST, Self::MOST)).unwrap_or(1_000))
    }

    /// Returns the rate in thousandths.
    #[must_use]
    pub fn thousandths(self) -> u32 {
        self.0
    }

    /// Returns the estimate for this number of the provider's tokens.
    pub(super) fn estimate_of(self, tokens: u64) -> u64 {
        tokens.saturating_mul(1_000) / u64::from(self.0.max(1))
    }
}

impl Default for TokenRate {
    fn default() -> Self {
        Self(1_000)
    }
}
