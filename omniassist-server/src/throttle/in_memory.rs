use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use super::{Spent, TokenBudget, TokensLeft};
use crate::Principal;

/// Principals are looked through for forgotten ones after this many calls at the earliest.
const SWEEP: usize = 1_024;

/// So many tokens for each principal in a window of time: a [`TokenBudget`].
///
/// A principal's window begins when it first uses something, and the whole budget is there again when it has passed.
/// All anonymous callers are one principal here. Kept in memory, for this process alone: a restart gives everybody
/// everything back, and each instance behind a load balancer counts for itself. Clocks that are set do not matter.
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::throttle::InMemoryTokenBudget;
/// use omniassist_server::Assistant;
///
/// # fn main() -> omniassist_server::Result<()> {
/// let a_day = Duration::from_secs(24 * 60 * 60);
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .token_budget(InMemoryTokenBudget::new(200_000, a_day))
///     .build()?;
/// # let _ = assistant;
/// # Ok(())
/// # }
/// ```
#[must_use = "a budget limits nothing until an assistant has it"]
pub struct InMemoryTokenBudget {
    tokens: u64,
    window: Duration,
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    of: HashMap<Principal, Window>,
    /// Calls since windows were last looked through.
    calls: usize,
    /// How many were left then.
    remembered: usize,
}

struct Window {
    began: Instant,
    spent: u64,
}

impl InMemoryTokenBudget {
    /// This many tokens, input and output together, in each window.
    pub fn new(tokens: u64, window: Duration) -> Self {
        Self { tokens, window, windows: Mutex::default() }
    }

    /// How many principals have a window under way, or had one until lately.
    #[must_use]
    pub fn principals(&self) -> usize {
        self.lock().of.len()
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        crate::sync::lock(&self.windows)
    }
}

impl TokenBudget for InMemoryTokenBudget {
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
    /// Forgets windows that have passed, once as many calls were counted as windows were left the last time.
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
