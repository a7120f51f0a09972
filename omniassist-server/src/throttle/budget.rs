use std::time::Duration;

use omniassist_core::Usage;

use super::RunAttempt;
use crate::Principal;

/// A limit on the tokens that a principal may use.
///
/// It is read before a run begins (a principal without tokens is answered 429 `token_budget_exceeded`), before each model
/// call, and while the model writes. A call reserves 64 output tokens before it begins, and as many more each time it has
/// used them. The reservations of a principal never exceed what is left, so concurrent runs cannot overdraw it together.
/// Tokens that are not reported yet are estimated: four bytes of text, reasoning or arguments count as one. A run that
/// gets no further reservation ends with
/// [`TokenBudgetExceeded`](omniassist_core::event::RunErrorCode::TokenBudgetExceeded), and the connection to its
/// provider closes; no tool of that turn runs. After each model call, [`spend`](Self::spend) gets its actual usage, and
/// the reservation is released, also if the run is dropped. A refusal that is due to the reservations of other runs asks
/// the client to repeat the request after a second.
///
/// Reservations are kept in this process. Instances that share a budget can overdraw it by one reservation for each call
/// in progress.
///
/// An answer that turns out to be over the budget when it is complete is kept; the next run is refused. If the provider
/// reports input tokens only at the end, they cannot end a run earlier.
///
/// Runs that the application starts with [`Assistant::run`](crate::Assistant::run) are not counted.
///
/// Both methods are called synchronously, within the request's task. A budget in a database is read earlier, in a
/// middleware of the application, and written later. A panic in [`left`](Self::left) ends the run with an internal
/// error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token budget",
    note = "a token budget implements `TokenBudget`; there is `InMemoryTokenBudget`"
)]
pub trait TokenBudget: Send + Sync + 'static {
    /// Returns the principal whose tokens a run uses. Default: the principal of the run. A budget that all users of a tenant
    /// share returns a principal that stands for the tenant. The other methods get this principal.
    fn account(&self, attempt: &RunAttempt<'_>) -> Principal {
        attempt.principal().clone()
    }

    /// Returns what the principal has left now.
    fn left(&self, principal: &Principal) -> TokensLeft;

    /// Records the usage of a model call of the principal. It is called once for each call that was begun, also if the
    /// client disconnected or the run was stopped.
    fn spend(&self, principal: &Principal, spent: &Spent);
}

/// The rest of a principal's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokensLeft {
    /// The number of tokens, input and output together.
    pub tokens: u64,
    /// The time until the budget is renewed.
    pub resets_in: Duration,
}

impl TokensLeft {
    /// Creates a rest of this many tokens.
    #[must_use]
    pub fn new(tokens: u64, resets_in: Duration) -> Self {
        Self { tokens, resets_in }
    }

    /// Creates a rest without bound.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, Duration::ZERO)
    }
}

/// The usage of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens. Either input and output are set, or their total.
    pub usage: Usage,
    /// Set if some of it is estimated, because the call was cut off or the provider does not report usage. Four bytes of
    /// text count as a token; files count nothing.
    pub estimated: bool,
}

impl Spent {
    /// Creates a usage.
    #[must_use]
    pub fn new(usage: Usage, estimated: bool) -> Self {
        Self { usage, estimated }
    }

    /// Returns the provider's total, or the sum of input and output.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let Usage { input_tokens, output_tokens, total_tokens, .. } = self.usage;
        let sum = || input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        total_tokens.unwrap_or_else(sum)
    }
}
