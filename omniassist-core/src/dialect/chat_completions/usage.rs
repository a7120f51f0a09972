use std::collections::BTreeMap;

use serde::Serialize;

use crate::Usage;

/// Token usage in this API's format.
#[derive(Serialize)]
pub(super) struct UsageObject {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<BTreeMap<&'static str, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<BTreeMap<&'static str, u64>>,
}

/// Converts usage. Returns `None` if nothing was reported; a single missing count becomes 0.
pub(super) fn of(usage: &Usage) -> Option<UsageObject> {
    let (input, output) = (usage.input_tokens.unwrap_or(0), usage.output_tokens.unwrap_or(0));
    let details = |key, tokens: Option<u64>| tokens.map(|tokens| BTreeMap::from([(key, tokens)]));
    (*usage != Usage::default()).then(|| UsageObject {
        prompt_tokens: input,
        completion_tokens: output,
        total_tokens: usage.total_tokens.unwrap_or(input.saturating_add(output)),
        prompt_tokens_details: details("cached_tokens", usage.cached_input_tokens),
        completion_tokens_details: details("reasoning_tokens", usage.reasoning_tokens),
    })
}
