//! Token counts under the names of both APIs and of compatible servers.

use omniassist_core::Usage;
use serde::Deserialize;

use crate::provider::lenient_fields::Num;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    input_tokens: Num,
    output_tokens: Num,
    prompt_tokens: Num,
    completion_tokens: Num,
    total_tokens: Num,
    input_tokens_details: Option<Details>,
    output_tokens_details: Option<Details>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    /// The name that DeepSeek uses.
    prompt_cache_hit_tokens: Num,
    /// Moonshot sends it outside the details.
    cached_tokens: Num,
    /// Some servers send it outside the details.
    reasoning_tokens: Num,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Num,
    /// The name that OpenRouter uses, for models whose provider reports these.
    cache_write_tokens: Num,
    reasoning_tokens: Num,
}

impl WireUsage {
    /// Returns the counts in one vocabulary; `None` if the object reports none.
    pub(super) fn normalised(&self) -> Option<Usage> {
        let input = || [&self.input_tokens_details, &self.prompt_tokens_details].into_iter().flatten();
        let mut output = [&self.output_tokens_details, &self.completion_tokens_details].into_iter().flatten();
        let mut usage = Usage::default();
        usage.input_tokens = self.input_tokens.0.or(self.prompt_tokens.0);
        usage.output_tokens = self.output_tokens.0.or(self.completion_tokens.0);
        usage.total_tokens = self.total_tokens.0;
        let cached = input().find_map(|details| details.cached_tokens.0);
        usage.cached_input_tokens = cached.or(self.prompt_cache_hit_tokens.0).or(self.cached_tokens.0);
        usage.cache_write_input_tokens = input().find_map(|details| details.cache_write_tokens.0);
        let reasoning = output.find_map(|details| details.reasoning_tokens.0);
        usage.reasoning_tokens = reasoning.or(self.reasoning_tokens.0);
        // xAI counts reasoning beside the output, and not as a part of it. Only the total shows that.
        if let (Some(input), Some(output), Some(reasoning), Some(total)) =
            (usage.input_tokens, usage.output_tokens, usage.reasoning_tokens, usage.total_tokens)
            && reasoning > 0
            && total == input.saturating_add(output).saturating_add(reasoning)
        {
            usage.output_tokens = Some(output.saturating_add(reasoning));
        }
        (usage != Usage::default()).then_some(usage)
    }
}
