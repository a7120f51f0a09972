use std::ops::RangeInclusive;

use omniassist_core::{Day, Text, Usage};
use serde::Serialize;

use super::Scope;
use crate::Cost;

/// The use of one model: the sums of model calls.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelUsage {
    /// The name in the model's answers, or the requested one, cut off after 256 bytes. Empty if both are unknown.
    pub model: Text,
    /// The runs whose first model call is among the calls.
    pub runs: u64,
    /// The calls.
    pub calls: u64,
    /// The calls without a known cost: the model has no price, its tokens were not reported, or the call was cut off.
    pub unpriced_calls: u64,
    /// The input tokens, including those read from a cache or written to it.
    pub input_tokens: u64,
    /// The input tokens that were read from a cache.
    pub cached_input_tokens: u64,
    /// The input tokens that were written to a cache, where they are counted separately.
    pub cache_write_input_tokens: u64,
    /// The output tokens, including reasoning.
    pub output_tokens: u64,
    /// The output tokens used for reasoning.
    pub reasoning_tokens: u64,
    /// The cost of the calls whose cost is known, in the currency of the [`Prices`](crate::Prices).
    pub cost: Cost,
}

impl ModelUsage {
    /// Creates the usage of no call.
    #[must_use]
    pub fn new(model: impl Into<Text>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Adds one call. Tokens that were not reported count as none.
    #[must_use]
    pub fn call(mut self, usage: &Usage, cost: Option<Cost>) -> Self {
        self.calls += 1;
        self.unpriced_calls += u64::from(cost.is_none());
        let tokens = |into: &mut u64, from: Option<u64>| *into = into.saturating_add(from.unwrap_or(0));
        tokens(&mut self.input_tokens, usage.input_tokens);
        tokens(&mut self.cached_input_tokens, usage.cached_input_tokens);
        tokens(&mut self.cache_write_input_tokens, usage.cache_write_input_tokens);
        tokens(&mut self.output_tokens, usage.output_tokens);
        tokens(&mut self.reasoning_tokens, usage.reasoning_tokens);
        self.cost = self.cost + cost.unwrap_or_default();
        self
    }

    /// Adds the usage of other calls of the model.
    pub fn add(&mut self, other: &Self) {
        let sum = |into: &mut u64, from: u64| *into = into.saturating_add(from);
        sum(&mut self.runs, other.runs);
        sum(&mut self.calls, other.calls);
        sum(&mut self.unpriced_calls, other.unpriced_calls);
        sum(&mut self.input_tokens, other.input_tokens);
        sum(&mut self.cached_input_tokens, other.cached_input_tokens);
        sum(&mut self.cache_write_input_tokens, other.cache_write_input_tokens);
        sum(&mut self.output_tokens, other.output_tokens);
        sum(&mut self.reasoning_tokens, other.reasoning_tokens);
        self.cost = self.cost + other.cost;
    }
}

/// The use of one model by one owner on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UsageDay {
    /// The day on which the calls ended, in UTC.
    pub day: Day,
    /// The id of the principal.
    pub owner: Text,
    /// The sums.
    #[serde(flatten)]
    pub usage: ModelUsage,
}

impl UsageDay {
    /// Creates the usage of a day.
    #[must_use]
    pub fn new(day: Day, owner: impl Into<Text>, usage: ModelUsage) -> Self {
        Self { day, owner: owner.into(), usage }
    }
}

/// The usage to list, for [`RunStore::usage`](super::RunStore::usage).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsageQuery {
    /// The owner; `None` for all.
    pub scope: Option<Scope>,
    /// The days.
    pub days: RangeInclusive<Day>,
}

impl UsageQuery {
    /// Creates the query for these days of an owner, or of all.
    #[must_use]
    pub fn new(scope: Option<Scope>, days: RangeInclusive<Day>) -> Self {
        Self { scope, days }
    }
}

/// A page of usage.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UsageListing {
    /// The entries, in the order of day, owner and model.
    pub days: Vec<UsageDay>,
    /// The cursor of the next page; `None` if this is the last one.
    pub next: Option<Text>,
}

impl UsageListing {
    /// Creates a page from the entries that follow its cursor, of which there may be more than it has room for.
    #[must_use]
    pub fn first_of(mut days: Vec<UsageDay>, at_most: usize) -> Self {
        let has_more = days.len() > at_most;
        days.truncate(at_most);
        let last = days.last().filter(|_| has_more);
        let next = last.map(|last| {
            let (day, owner) = (last.day.number(), &last.owner);
            format!("{day}.{}.{owner}{}", owner.len(), last.usage.model).into()
        });
        Self { days, next }
    }

    /// Reads the cursor of a page: the day, the owner and the model of the last entry before it. `None` if it is not one.
    #[must_use]
    pub fn parse_cursor(cursor: &str) -> Option<(Day, &str, &str)> {
        let mut parts = cursor.splitn(3, '.');
        let (day, length) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (owner, model) = parts.next()?.split_at_checked(length)?;
        Some((Day::from_number(day), owner, model))
    }
}
