use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use omniassist_core::Text;
use tokio::time::Instant;

use super::{Attempt, Grant, LimitFuture, Reservation, Spent, TokenBudget};
use crate::Principal;

/// Expired windows are removed after at least this many calls.
const SWEEP: usize = 1_024;

/// The delay after which another run may have settled its reservation.
const RETRY_LENT: Duration = Duration::from_secs(1);

/// A [`TokenBudget`] that gives each principal a number of tokens in a window of time.
///
/// A principal's window begins with its first use, and the whole budget is renewed when the window has passed. All
/// anonymous callers are one principal here. The budget is kept in memory: a restart renews it for all principals, and
/// each instance behind a load balancer counts separately. Changes of the system clock have no effect.
#[must_use = "a budget does nothing until it is given to a builder"]
pub struct InMemoryTokenBudget {
    tokens: u64,
    window: Duration,
    windows: Mutex<Windows>,
    account: Option<Account>,
}

type Account = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

#[derive(Default)]
struct Windows {
    of: HashMap<Principal, Window>,
    /// The number of calls since the last removal.
    calls: usize,
    /// The number of windows after the last removal.
    remembered: usize,
}

struct Window {
    began: Instant,
    spent: u64,
    /// The tokens of each reservation. They stay when the window is renewed.
    reserved: HashMap<Text, u64>,
}

impl InMemoryTokenBudget {
    /// Creates a budget of this many tokens, input and output together, for each window.
    pub fn new(tokens: u64, window: Duration) -> Self {
        Self { tokens, window, windows: Mutex::default(), account: None }
    }

    /// Sets the principal whose tokens a run uses, such as one that represents the tenant of its user. Default: the
    /// principal of the run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use omniassist_server::Principal;
    /// use omniassist_server::throttle::{InMemoryTokenBudget, Attempt};
    ///
    /// /// Inserted into the request's extensions by a middleware.
    /// #[derive(Clone)]
    /// struct Tenant(String);
    ///
    /// let budget = InMemoryTokenBudget::new(5_000_000, Duration::from_secs(24 * 60 * 60)).per(
    ///     |attempt: &Attempt<'_>| match attempt.extensions().get::<Tenant>() {
    ///         Some(Tenant(name)) => Principal::new(format!("tenant:{name}")),
    ///         None => attempt.principal().clone(),
    ///     },
    /// );
    /// # let _ = budget;
    /// ```
    pub fn per(mut self, account: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.account = Some(Box::new(account));
        self
    }

    /// Returns the number of principals with a window that was not removed yet.
    #[must_use]
    pub fn principals(&self) -> usize {
        self.lock().of.len()
    }

    /// Returns the tokens that a principal has left, without those that are reserved, and the time until its window is
    /// renewed.
    #[must_use]
    pub fn left(&self, principal: &Principal) -> (u64, Duration) {
        let windows = self.lock();
        let Some(window) = windows.of.get(principal) else { return (self.tokens, self.window) };
        let reserved = window.reserved.values().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
        let age = window.began.elapsed();
        let (spent, renewed_in) =
            if age < self.window { (window.spent, self.window - age) } else { (0, self.window) };
        (self.tokens.saturating_sub(spent).saturating_sub(reserved), renewed_in)
    }

    fn reserve_now(&self, of: &Reservation, tokens: RangeInclusive<u64>) -> Grant {
        let mut windows = self.lock();
        let window = windows.open(of.account(), self.window);
        let others = window.reserved.iter().filter(|(id, _)| *id != of.id());
        let others = others.fold(0, |sum: u64, (_, tokens)| sum.saturating_add(*tokens));
        let left = self.tokens.saturating_sub(window.spent);
        let room = left.saturating_sub(others);
        let (least, most) = tokens.into_inner();
        if room < least {
            let renewed_in = self.window.saturating_sub(window.began.elapsed());
            let is_lent = left >= least;
            return Grant::Exceeded {
                retry_after: if is_lent { renewed_in.min(RETRY_LENT) } else { renewed_in },
            };
        }
        let granted = room.min(most);
        window.reserved.insert(of.id().into(), granted);
        Grant::Tokens(granted)
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        crate::sync::lock(&self.windows)
    }
}

impl TokenBudget for InMemoryTokenBudget {
    fn account(&self, attempt: &Attempt<'_>) -> Principal {
        self.account.as_ref().map_or_else(|| attempt.principal().clone(), |account| account(attempt))
    }

    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        let grant = self.reserve_now(of, tokens);
        Box::pin(std::future::ready(Ok(grant)))
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        let mut windows = self.lock();
        let window = windows.open(of.account(), self.window);
        window.reserved.remove(of.id());
        window.spent = window.spent.saturating_add(spent.tokens());
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Windows {
    /// Returns the window of a principal, renewed if it has passed.
    fn open(&mut self, principal: &Principal, length: Duration) -> &mut Window {
        self.sweep(length);
        let window = self.of.entry(principal.clone()).or_insert_with(|| Window {
            began: Instant::now(),
            spent: 0,
            reserved: HashMap::new(),
        });
        if window.began.elapsed() >= length {
            (window.began, window.spent) = (Instant::now(), 0);
        }
        window
    }

    /// Removes expired windows after as many calls as there were windows after the last removal.
    fn sweep(&mut self, window: Duration) {
        self.calls += 1;
        if self.calls >= self.remembered.max(SWEEP) {
            self.of.retain(|_, of| of.began.elapsed() < window || !of.reserved.is_empty());
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
