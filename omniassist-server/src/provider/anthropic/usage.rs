//! Token counts. The API reports them at the beginning of a message and, cumulatively, with its end.

use omniassist_core::Usage;
use serde::Deserialize;

use crate::provider::lenient_fields::Num;

/// The counts so far. Each is the last reported value.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    input_tokens: Num,
    cache_creation_input_tokens: Num,
    cache_read_input_tokens: Num,
    output_tokens: Num,
}

impl Counts {
    /// Takes a later report. A count that is absent keeps its value.
    pub(super) fn update(&mut self, later: Self) {
        let replace = |count: &mut Num, later: Num| {
            if later.0.is_some() {
                *count = later;
            }
        };
        replace(&mut self.input_tokens, later.input_tokens);
        replace(&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens);
        replace(&mut self.cache_read_input_tokens, later.cache_read_input_tokens);
        replace(&mut self.output_tokens, later.output_tokens);
    }

    /// Returns the sums with other counts.
    pub(super) fn plus(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let sum = |one: Num, other: Num| Num(one.0.into_iter().chain(other.0).reduce(u64::saturating_add));
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cache_creation_input_tokens: sum(
                self.cache_creation_input_tokens,
                other.cache_creation_input_tokens,
            ),
            cache_read_input_tokens: sum(self.cache_read_input_tokens, other.cache_read_input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
        }
    }

    /// Returns the counts in the common vocabulary; `None` if none was reported. The API reports cache reads and cache
    /// writes separately from `input_tokens`.
    pub(super) fn normalised(&self) -> Option<Usage> {
        let parts = [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let mut usage = Usage::default();
        usage.input_tokens = parts.into_iter().filter_map(|count| count.0).reduce(u64::saturating_add);
        usage.output_tokens = self.output_tokens.0;
        usage.cached_input_tokens = self.cache_read_input_tokens.0;
        usage.cache_write_input_tokens = self.cache_creation_input_tokens.0;
        usage.total_tokens =
            usage.input_tokens.zip(usage.output_tokens).map(|(input, output)| input.saturating_add(output));
        (usage != Usage::default()).then_some(usage)
    }
}
