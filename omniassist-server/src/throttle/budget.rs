use std::time::Duration;

use omniassist_core::Usage;

use crate::Principal;

/// How many tokens a principal may use.
///
/// Asked before a run begins (one that has nothing left is answered 429 `token_budget_exceeded`), before each of its
/// model calls, and while the model talks, every 64 tokens at the latest. There what is not reported yet is estimated:
/// four bytes of text, reasoning or arguments are a token. A run that passes the budget ends with
/// [`TokenBudgetExceeded`](omniassist_core::event::RunErrorCode::TokenBudgetExceeded), and the connection to its
/// provider closes; no tool of that turn runs. When a call is over, [`spend`](Self::spend) is told what it really used.
/// What the runs of one principal have in flight at the same time counts together.
///
/// An answer that is complete when its tokens turn out to be too many stays complete; the next one is refused. Where
/// the provider reports its input only at the end, the input cannot end a run before that.
///
/// Runs that the host starts with [`Assistant::run`](crate::Assistant::run) are not counted.
///
/// Both methods are called within the request's task and must answer at once: a budget that lives in a database is read
/// before, in the host's middleware, and written later. One that panics in [`left`](Self::left) ends the run with an
/// internal error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token budget",
    note = "a token budget implements `TokenBudget`; there is `InMemoryTokenBudget`"
)]
pub trait TokenBudget: Send + Sync + 'static {
    /// What the principal has left now.
    fn left(&self, principal: &Principal) -> TokensLeft;

    /// Takes note of what a model call of the principal's used. Called once for each call that was begun, also where the
    /// client left or the run was stopped.
    fn spend(&self, principal: &Principal, spent: &Spent);
}

/// What a principal has left of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokensLeft {
    /// So many tokens, input and output together.
    pub tokens: u64,
    /// When there will be more.
    pub resets_in: Duration,
}

impl TokensLeft {
    /// So many tokens until there are more.
    #[must_use]
    pub fn new(tokens: u64, resets_in: Duration) -> Self {
        Self { tokens, resets_in }
    }

    /// As many as anybody could use.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(u64::MAX, Duration::ZERO)
    }
}

/// What one model call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens. Input and output are always there, or their total.
    pub usage: Usage,
    /// Whether some of it is estimated, since the provider did not report it: the call was cut off, or this provider
    /// never does. Text counts a token for four bytes, files nothing.
    pub estimated: bool,
}

impl Spent {
    /// This usage.
    #[must_use]
    pub fn new(usage: Usage, estimated: bool) -> Self {
        Self { usage, estimated }
    }

    /// Input and output together: as the provider sums them up, or their sum.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let Usage { input_tokens, output_tokens, total_tokens, .. } = self.usage;
        let sum = || input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        total_tokens.unwrap_or_else(sum)
    }
}
