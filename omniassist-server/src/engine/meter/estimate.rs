//! Estimates of unreported tokens from sizes.

use omniassist_core::transcript::UserContent;
use omniassist_core::{LlmPayload, TranscriptItem};

/// The bytes of text that count as one token until the provider reports its count.
pub(in crate::engine) const BYTES_PER_TOKEN: u64 = 4;

/// Returns the tokens of a text of this size.
pub(in crate::engine) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns the tokens of the input of a model call: system prompt, tools and conversation.
pub(in crate::engine) fn input(payload: &LlmPayload) -> u64 {
    let system = payload.system.as_ref().map_or(0, |text| text.len());
    let tools = payload
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.input_schema.to_string().len());
    let conversation = payload.transcript.iter().map(text_size);
    tokens((system + tools.sum::<usize>() + conversation.sum::<usize>()) as u64)
}

/// Returns the bytes of text in an item. Files do not count, because their cost does not depend on their size.
fn text_size(item: &TranscriptItem) -> usize {
    match item {
        TranscriptItem::User { content } => {
            let text = content.iter().filter_map(|content| match content {
                UserContent::Text { text } => Some(text.len()),
                _ => None,
            });
            text.sum()
        }
        TranscriptItem::Text { text, .. } | TranscriptItem::Reasoning { text, .. } => text.len(),
        TranscriptItem::Call(call) => call.name.len() + call.arguments.as_str().len(),
        TranscriptItem::Result(result) => result.output.as_str().len(),
        TranscriptItem::ProviderItem { item, .. } => item.as_str().len(),
        _ => 0,
    }
}
