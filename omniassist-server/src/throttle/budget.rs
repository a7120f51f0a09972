use std::ops::RangeInclusive;
use std::time::Duration;

use omniassist_core::{Text, Usage};

use super::Attempt;
use super::outage::{LimitFuture, TIMEOUT, WhenUnavailable};
use crate::Principal;

/// A limit on the tokens that a principal may use, held as reservations.
///
/// Tokens are reserved before they are used, and settled afterwards:
///
/// - Before a run begins, one token to 64. A principal without tokens is answered 429 `token_budget_exceeded`.
/// - Before each model call, the tokens of its input (system prompt, tools and conversation) and up to 64 of output. The
///   input is estimated from its size: four bytes of text count as one token, and files count nothing.
/// - While the model writes, up to 64 more each time the call has used its tokens. Those that are not reported yet are
///   estimated.
/// - After the model call, the reservation is settled with the usage that the provider reported. If the model called tools,
///   tokens for the next model call are reserved before the tools run.
///
/// The reservations of a principal never exceed what is left, so concurrent runs cannot overdraw it together. A run that
/// gets no further reservation ends with
/// [`TokenBudgetExceeded`](omniassist_core::event::RunErrorCode::TokenBudgetExceeded), and the connection to its provider
/// closes; no tool of that turn runs. Each reservation is settled once, also if the run is dropped: then in a task of the
/// run's runtime, for which [`Assistant::drain`](crate::Assistant::drain) waits.
///
/// An answer that exceeds the budget only when it is complete is kept; the next run is refused. If the provider reports
/// input tokens only at the end, they cannot end a run earlier. Runs that the application starts with
/// [`Assistant::run`](crate::Assistant::run) are not counted. A panic in [`reserve`](Self::reserve) ends the run with an
/// internal error.
///
/// # A shared store
///
/// Servers that share a store share the budget. Each method is one atomic step, such as a Lua script in Redis or a
/// transaction in PostgreSQL. The functions of `testing::store::budgets` check an implementation. This budget has a map in
/// place of the store:
///
/// ```
/// use std::collections::HashMap;
/// use std::ops::RangeInclusive;
/// use std::sync::{Arc, Mutex};
/// use std::time::{Duration, Instant};
///
/// use omniassist_server::throttle::{Grant, LimitFuture, Reservation, Spent, TokenBudget};
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
///
/// const BUDGET: u64 = 200_000;
///
/// #[derive(Default)]
/// struct Account {
///     spent: u64,
///     /// Tokens and expiry by the id of the reservation.
///     reserved: HashMap<String, (u64, Instant)>,
/// }
///
/// #[derive(Clone, Default)]
/// struct Shared(Arc<Mutex<HashMap<String, Account>>>);
///
/// impl TokenBudget for Shared {
///     fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
///         Box::pin(async move {
///             let mut store = self.0.lock().unwrap();
///             let account = store.entry(of.account().id().to_owned()).or_default();
///             // A server that was killed settles nothing.
///             account.reserved.retain(|id, (_, expiry)| id != of.id() && *expiry > Instant::now());
///             let others: u64 = account.reserved.values().map(|(tokens, _)| tokens).sum();
///             let room = BUDGET.saturating_sub(account.spent + others);
///             if room < *tokens.start() {
///                 return Ok(Grant::Exceeded { retry_after: Duration::from_secs(3600) });
///             }
///             let granted = room.min(*tokens.end());
///             account.reserved.insert(of.id().to_owned(), (granted, Instant::now() + of.lifetime()));
///             Ok(Grant::Tokens(granted))
///         })
///     }
///
///     fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
///         Box::pin(async move {
///             let mut store = self.0.lock().unwrap();
///             let account = store.entry(of.account().id().to_owned()).or_default();
///             account.reserved.remove(of.id());
///             account.spent += spent.tokens();
///             Ok(())
///         })
///     }
/// }
///
/// let assistant = Assistant::builder(ScriptedProvider::new()).token_budget(Shared::default()).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token budget",
    note = "a token budget implements `TokenBudget`; there is `InMemoryTokenBudget`"
)]
pub trait TokenBudget: Send + Sync + 'static {
    /// Returns the principal whose tokens a run uses. Default: the principal of the run. A budget that all users of a
    /// tenant share returns a principal that represents the tenant.
    fn account(&self, attempt: &Attempt<'_>) -> Principal {
        attempt.principal().clone()
    }

    /// Reserves as many tokens of this range as are left. An earlier reservation of the same id is changed to this
    /// number. A grant outside of the range is limited to the range.
    ///
    /// If fewer tokens are left than the start of the range, an earlier reservation is unchanged. Cancellation can drop
    /// the future before it is complete. The reservation is then settled as well. A reservation that the store makes
    /// after that lasts until it expires.
    ///
    /// # Errors
    ///
    /// Returns an error if the budget cannot be read. It is logged, and [`when_unavailable`](Self::when_unavailable)
    /// decides.
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant>;

    /// Ends a reservation, and counts the tokens that it was used for; [`Spent::tokens`] is 0 if there are none. The tokens
    /// count also if the reservation is unknown, because it expired or was never made.
    ///
    /// # Errors
    ///
    /// Returns an error if the tokens cannot be counted. It is logged, with their number.
    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()>;

    /// Returns the longest time that each of the two methods may take. After it the future is dropped, and the budget counts
    /// as unavailable. Default: 2 s.
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    /// Returns the decision about tokens that cannot be reserved. Default: [`WhenUnavailable::Refuse`].
    fn when_unavailable(&self) -> WhenUnavailable {
        WhenUnavailable::Refuse
    }
}

/// The identity of a reservation by a model call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    account: Principal,
    id: Text,
    lifetime: Duration,
}

impl Reservation {
    /// Creates a reservation, for tests of a budget.
    #[must_use]
    pub fn new(account: Principal, id: impl Into<Text>, lifetime: Duration) -> Self {
        Self { account, id: id.into(), lifetime }
    }

    /// Returns the principal that [`TokenBudget::account`] returned.
    #[must_use]
    pub fn account(&self) -> &Principal {
        &self.account
    }

    /// Returns the id, which no other reservation has.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the time after which an unsettled reservation can be removed, since the latest call of
    /// [`TokenBudget::reserve`]. No run of a working server takes longer.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }
}

/// The answer of [`TokenBudget::reserve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// This many tokens are reserved.
    Tokens(u64),
    /// Too few tokens are left.
    Exceeded {
        /// The time until the budget is renewed, or one second if only the reservations of other runs exceed it.
        retry_after: Duration,
    },
}

/// The usage of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spent {
    /// The tokens. Either input and output are set, or their total, or nothing if nothing was used.
    pub usage: Usage,
    /// `true` if a part is estimated, because the call was cut off or the provider does not report usage.
    pub estimated: bool,
}

impl Spent {
    /// Creates a usage.
    #[must_use]
    pub fn new(usage: Usage, estimated: bool) -> Self {
        Self { usage, estimated }
    }

    /// Creates the usage of a reservation that was not needed.
    #[must_use]
    pub fn nothing() -> Self {
        Self::new(Usage::default(), false)
    }

    /// Returns the provider's total, or the sum of input and output.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let Usage { input_tokens, output_tokens, total_tokens, .. } = self.usage;
        let sum = || input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        total_tokens.unwrap_or_else(sum)
    }
}
