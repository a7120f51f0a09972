//! The settings of rate limits and token budgets.

use std::sync::Arc;

use super::AssistantBuilder;
use crate::engine::meter::Budget;
use crate::throttle::{RateLimit, TokenBudget};

impl AssistantBuilder {
    /// Adds a limit on how often clients may begin runs: an `InMemoryRateLimit` of [`throttle`](crate::throttle), or
    /// another [`RateLimit`]. Each limit is checked, in the order in which they were added, until one refuses the run. It
    /// does not apply to [`Assistant::run`](crate::Assistant::run). Default: none, but
    /// [`Limits::max_runs_per_principal`](omniassist_core::Limits::max_runs_per_principal) applies.
    pub fn rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.config.rate_limits.push(Arc::new(limit));
        self
    }

    /// Sets the number of tokens that each principal may use: an
    /// [`InMemoryTokenBudget`](crate::throttle::InMemoryTokenBudget), or another [`TokenBudget`]. It is enforced while
    /// the model answers, and does not apply to [`Assistant::run`](crate::Assistant::run). Default: none.
    pub fn token_budget(mut self, budget: impl TokenBudget) -> Self {
        self.config.budget = Some(Arc::new(Budget::new(Arc::new(budget))));
        self
    }
}
