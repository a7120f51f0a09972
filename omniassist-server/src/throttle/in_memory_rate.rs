use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

use super::{Attempt, LimitFuture, RateDecision, RateLimit};
use crate::Principal;

/// Idle principals are removed after at least this many attempts.
const SWEEP: usize = 1_024;

/// A [`RateLimit`] for the runs of each principal, or for its calls of a tool (GCRA, by the `governor` crate).
///
/// An idle principal may begin as many runs at once as its burst allows (default: all of the rate), and then one run
/// for each elapsed fraction of the period. `per_minute(20)` allows 20 at once and one more every 3 s. All anonymous
/// callers are one principal here; give each a [`Principal`] by session or address if that is too coarse.
///
/// The rate is kept in memory: behind a load balancer with three instances, a principal may get three times as much.
/// Principals with a full burst are removed from time to time, so that memory depends on the active ones only.
///
/// ```
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::throttle::InMemoryRateLimit;
/// use omniassist_server::Assistant;
///
/// # fn main() -> omniassist_server::Result<()> {
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .rate_limit(InMemoryRateLimit::per_minute(20).burst(5))
///     .build()?;
/// # let _ = assistant;
/// # Ok(())
/// # }
/// ```
#[must_use = "a rate limit does nothing until it is given to a builder"]
pub struct InMemoryRateLimit {
    /// `None` refuses every run.
    limiter: Option<Limiter>,
    period: Duration,
    quota: Option<Quota>,
    key: Option<Key>,
    /// The number of attempts since the last removal.
    attempts: AtomicUsize,
    /// The number of principals after the last removal.
    remembered: AtomicUsize,
}

type Key = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

type Limiter = RateLimiter<Principal, HashMapStateStore<Principal>, SinceStart, NoOpMiddleware<Nanos>>;

impl InMemoryRateLimit {
    /// Creates a limit of this many runs a second; 0 refuses every run.
    pub fn per_second(runs: u32) -> Self {
        Self::new(runs, Duration::from_secs(1), Quota::per_second)
    }

    /// Creates a limit of this many runs a minute; 0 refuses every run.
    pub fn per_minute(runs: u32) -> Self {
        Self::new(runs, Duration::from_secs(60), Quota::per_minute)
    }

    /// Creates a limit of this many runs an hour; 0 refuses every run.
    pub fn per_hour(runs: u32) -> Self {
        Self::new(runs, Duration::from_secs(3600), Quota::per_hour)
    }

    fn new(runs: u32, period: Duration, quota: fn(NonZeroU32) -> Quota) -> Self {
        Self::of(NonZeroU32::new(runs).map(quota), period)
    }

    fn of(quota: Option<Quota>, period: Duration) -> Self {
        let limiter = quota
            .map(|quota| RateLimiter::new(quota, HashMapStateStore::default(), SinceStart(Instant::now())));
        let (attempts, remembered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { limiter, period, quota, key: None, attempts, remembered }
    }

    /// Sets the number of runs that an idle principal may begin at once. Default: the rate's number; 0 refuses every run.
    pub fn burst(self, runs: u32) -> Self {
        let burst = NonZeroU32::new(runs);
        let quota = self.quota.zip(burst).map(|(quota, burst)| quota.allow_burst(burst));
        Self { key: self.key, ..Self::of(quota, self.period) }
    }

    /// Sets the principal that an attempt counts for, such as one that represents the tenant of its user. Default: the
    /// principal of the attempt.
    ///
    /// ```
    /// use omniassist_server::Principal;
    /// use omniassist_server::throttle::{InMemoryRateLimit, Attempt};
    ///
    /// /// Inserted into the request's extensions by a middleware.
    /// #[derive(Clone)]
    /// struct Tenant(String);
    ///
    /// let rate = InMemoryRateLimit::per_minute(600).per(|attempt: &Attempt<'_>| {
    ///     let tenant = attempt.extensions().get::<Tenant>();
    ///     Principal::new(tenant.map_or("none", |Tenant(name)| name))
    /// });
    /// # let _ = rate;
    /// ```
    pub fn per(mut self, key: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.key = Some(Box::new(key));
        self
    }

    /// Returns the number of principals that are kept in memory.
    #[must_use]
    pub fn principals(&self) -> usize {
        self.limiter.as_ref().map_or(0, RateLimiter::len)
    }

    /// Removes idle principals after as many attempts as there were principals after the last removal. This bounds the
    /// cost of an attempt to two checks on average.
    fn sweep(&self, limiter: &Limiter) {
        let attempts = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        if attempts >= self.remembered.load(Ordering::Relaxed).max(SWEEP) {
            self.attempts.store(0, Ordering::Relaxed);
            limiter.retain_recent();
            limiter.shrink_to_fit();
            self.remembered.store(limiter.len(), Ordering::Relaxed);
        }
    }
}

impl RateLimit for InMemoryRateLimit {
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        let decision = self.decide(attempt).map_or_else(RateDecision::Wait, |()| RateDecision::Allow);
        Box::pin(std::future::ready(Ok(decision)))
    }
}

impl InMemoryRateLimit {
    fn decide(&self, attempt: &Attempt<'_>) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else { return Err(self.period) };
        let checked = match &self.key {
            Some(key) => limiter.check_key(&key(attempt)),
            None => limiter.check_key(attempt.principal()),
        };
        self.sweep(limiter);
        checked.map_err(|refused| refused.wait_time_from(limiter.clock().now()))
    }
}

impl fmt::Debug for InMemoryRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryRateLimit").field("quota", &self.quota).finish_non_exhaustive()
    }
}

/// Tokio's clock, which tests can pause.
#[derive(Debug, Clone)]
struct SinceStart(Instant);

impl Clock for SinceStart {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}
