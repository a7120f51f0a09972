//! Token counts under the names of both APIs and of the servers that imitate them.

use omniassist_core::Usage;
use serde::Deserialize;

use crate::provider::lenient_fields::Num;

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    input_tokens: Num,
    #[serde(default)]
    output_tokens: Num,
    #[serde(default)]
    prompt_tokens: Num,
    #[serde(default)]
    completion_tokens: Num,
    #[serde(default)]
    total_tokens: Num,
    #[serde(default)]
    input_tokens_details: Option<Details>,
    #[serde(default)]
    output_tokens_details: Option<Details>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    #[serde(default)]
    completion_tokens_details: Option<Details>,
    /// DeepSeek's name.
    #[serde(default)]
    prompt_cache_hit_tokens: Num,
    /// Outside the details in some servers.
    #[serde(default)]
    reasoning_tokens: Num,
}

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Num,
    /// OpenRouter's name, for models whose provider counts these.
    #[serde(default)]
    cache_write_tokens: Num,
    #[serde(default)]
    reasoning_tokens: Num,
}

impl WireUsage {
    /// The counts in one vocabulary; `None` if the object reports nothing.
    pub(super) fn normalised(&self) -> Option<Usage> {
        let cached = |details: &Option<Details>| details.as_ref().and_then(|details| details.cached_tokens.0);
        let written =
            |details: &Option<Details>| details.as_ref().and_then(|details| details.cache_write_tokens.0);
        let reasoned =
            |details: &Option<Details>| details.as_ref().and_then(|details| details.reasoning_tokens.0);
        let mut usage = Usage::default();
        usage.input_tokens = self.input_tokens.0.or(self.prompt_tokens.0);
        usage.output_tokens = self.output_tokens.0.or(self.completion_tokens.0);
        usage.total_tokens = self.total_tokens.0;
        usage.cached_input_tokens = cached(&self.input_tokens_details)
            .or_else(|| cached(&self.prompt_tokens_details))
            .or(self.prompt_cache_hit_tokens.0);
        usage.cache_write_input_tokens =
            written(&self.input_tokens_details).or_else(|| written(&self.prompt_tokens_details));
        usage.reasoning_tokens = reasoned(&self.output_tokens_details)
            .or_else(|| reasoned(&self.completion_tokens_details))
            .or(self.reasoning_tokens.0);
        (usage != Usage::default()).then_some(usage)
    }
}
