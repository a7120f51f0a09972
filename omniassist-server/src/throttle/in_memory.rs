use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::{RunAttempt, Spent, TokenBudget, TokensLeft};
use crate::Principal;

/// Expired windows are removed after at least this many calls.
const SWEEP: usize = 1_024;

/// A [`TokenBudget`] that gives each principal a number of tokens in a window of time.
///
/// A principal's window begins with its first use, and the whole budget is renewed when it has passed. All anonymous
/// callers are one principal here. The budget is kept in memory: a restart renews it for all, and each instance behind a
/// load balancer counts separately. Changes of the system clock have no effect.
#[must_use = "a budget does nothing until it is given to a builder"]
pub struct InMemoryTokenBudget {
    tokens: u64,
    window: Duration,
    windows: Mutex<Windows>,
    account: Option<Account>,
}

type Account = Box<dyn Fn(&RunAttempt<'_>) -> Principal + Send + Sync>;

#[derive(Default)]
struct Windows {
    of: HashMap<Principal, Window>,
    /// Calls since the last removal.
    calls: usize,
    /// Windows that were left then.
    remembered: usize,
}

struct Window {
    began: Instant,
    spent: u64,
}

impl InMemoryTokenBudget {
    /// Creates a budget of this many tokens, input and output together, for each window.
    pub fn new(tokens: u64, window: Duration) -> Self {
        Self { tokens, window, windows: Mutex::default(), account: None }
    }

    /// Sets the principal whose tokens a run uses, such as one that stands for the tenant of its user. Default: the
    /// principal of the run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use omniassist_server::Principal;
    /// use omniassist_server::throttle::{InMemoryTokenBudget, RunAttempt};
    ///
    /// /// Inserted into the request's extensions by a middleware.
    /// #[derive(Clone)]
    /// struct Tenant(String);
    ///
    /// let budget = InMemoryTokenBudget::new(5_000_000, Duration::from_secs(24 * 60 * 60)).per(
    ///     |attempt: &RunAttempt<'_>| match attempt.extensions().get::<Tenant>() {
    ///         Some(Tenant(name)) => Principal::new(format!("tenant:{name}")),
    ///         None => attempt.principal().clone(),
    ///     },
    /// );
    /// # let _ = budget;
    /// ```
    pub fn per(mut self, account: impl Fn(&RunAttempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.account = Some(Box::new(account));
        self
    }

    /// Returns the number of principals with a window that was not removed yet.
    #[must_use]
    pub fn principals(&self) -> usize {
        self.lock().of.len()
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        crate::sync::lock(&self.windows)
    }
}

impl TokenBudget for InMemoryTokenBudget {
    fn account(&self, attempt: &RunAttempt<'_>) -> Principal {
        self.account.as_ref().map_or_else(|| attempt.principal().clone(), |account| account(attempt))
    }

    fn left(&self, principal: &Principal) -> TokensLeft {
        let windows = self.lock();
        let window = windows.of.get(principal).map(|window| (window.began.elapsed(), window.spent));
        match window.filter(|(age, _)| *age < self.window) {
            None => TokensLeft::new(self.tokens, self.window),
            Some((age, spent)) => TokensLeft::new(self.tokens.saturating_sub(spent), self.window - age),
        }
    }

    fn spend(&self, principal: &Principal, spent: &Spent) {
        let mut windows = self.lock();
        windows.sweep(self.window);
        let fresh = || Window { began: Instant::now(), spent: 0 };
        let window = windows.of.entry(principal.clone()).or_insert_with(fresh);
        if window.began.elapsed() >= self.window {
            *window = fresh();
        }
        window.spent = window.spent.saturating_add(spent.tokens());
    }
}

impl Windows {
    /// Removes expired windows, after as many calls as there were windows the last time.
    fn sweep(&mut self, window: Duration) {
        self.calls += 1;
        if self.calls >= self.remembered.max(SWEEP) {
            self.of.retain(|_, of| of.began.elapsed() < window);
            self.of.shrink_to_fit();
            (self.calls, self.remembered) = (0, self.of.len());
        }
    }
}

impl fmt::Debug for InMemoryTokenBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryTokenBudget")
            .field("tokens", &self.tokens)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
