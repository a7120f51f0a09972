use std::fmt;
use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::throttle::{Attempt, LimitFuture, RateDecision, RateLimit, WhenUnavailable};
use redis::Script;

use crate::Redis;

/// A [`RateLimit`] for the runs of each principal, or for its calls of a tool, on all servers together.
///
/// An idle principal may begin as many runs at once as its burst allows (default: all of the rate), and then one run for each
/// elapsed fraction of the period. `per_minute(&redis, "runs", 20)` allows 20 at once and one more every 3 s. All anonymous
/// callers are one principal here.
///
/// A check is one script (GCRA) on the clock of Redis, so servers with wrong clocks count right. A principal's key expires
/// when its burst is full again. A restart of an empty Redis gives each principal a full burst.
///
/// ```
/// use omniassist_redis::{Redis, RedisRateLimit};
/// use omniassist_server::Assistant;
/// # use omniassist_server::testing::ScriptedProvider;
///
/// let redis = Redis::connect("redis://127.0.0.1:6379")?;
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .rate_limit(RedisRateLimit::per_minute(&redis, "runs", 20).burst(5))
///     .build()?;
/// # let _ = assistant;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a rate limit does nothing until it is given to a builder"]
pub struct RedisRateLimit {
    redis: Redis,
    name: String,
    attempts: u32,
    period: Duration,
    burst: u32,
    key: Option<Key>,
    when_unavailable: WhenUnavailable,
    script: Script,
}

type Key = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

impl RedisRateLimit {
    /// Creates a limit of this many runs a second; 0 refuses every run. Limits with the same name share their counts.
    pub fn per_second(redis: &Redis, name: &str, runs: u32) -> Self {
        Self::new(redis, name, runs, Duration::from_secs(1))
    }

    /// Creates a limit of this many runs a minute; 0 refuses every run. Limits with the same name share their counts.
    pub fn per_minute(redis: &Redis, name: &str, runs: u32) -> Self {
        Self::new(redis, name, runs, Duration::from_secs(60))
    }

    /// Creates a limit of this many runs an hour; 0 refuses every run. Limits with the same name share their counts.
    pub fn per_hour(redis: &Redis, name: &str, runs: u32) -> Self {
        Self::new(redis, name, runs, Duration::from_secs(3600))
    }

    fn new(redis: &Redis, name: &str, attempts: u32, period: Duration) -> Self {
        Self {
            redis: redis.clone(),
            name: name.to_owned(),
            attempts,
            period,
            burst: attempts,
            key: None,
            when_unavailable: WhenUnavailable::default(),
            script: Script::new(include_str!("scripts/rate.lua")),
        }
    }

    /// Sets the number of runs that an idle principal may begin at once. Default: the rate's number; 0 refuses every run.
    pub fn burst(mut self, runs: u32) -> Self {
        self.burst = runs;
        self
    }

    /// Sets the principal that an attempt counts for, such as one that represents the tenant of its user. Default: the
    /// principal of the attempt.
    pub fn per(mut self, key: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.key = Some(Box::new(key));
        self
    }

    /// Sets the decision about attempts while Redis does not work. Default: [`WhenUnavailable::Refuse`].
    pub fn if_unavailable(mut self, decision: WhenUnavailable) -> Self {
        self.when_unavailable = decision;
        self
    }
}

impl RateLimit for RedisRateLimit {
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        Box::pin(async move {
            if self.attempts == 0 || self.burst == 0 {
                return Ok(RateDecision::Wait(self.period));
            }
            let principal = self.key.as_ref().map_or_else(|| attempt.principal().clone(), |key| key(attempt));
            let interval = self.period.as_secs_f64() * 1e6 / f64::from(self.attempts);
            let mut call = self.script.prepare_invoke();
            call.key(self.redis.key_of("rate", &self.name, &principal));
            call.arg(interval).arg(self.burst);
            let wait: u64 = self
                .redis
                .link()
                .send(async |mut connection| call.invoke_async(&mut connection).await)
                .await?;
            Ok(match wait {
                0 => RateDecision::Allow,
                wait => RateDecision::Wait(Duration::from_micros(wait)),
            })
        })
    }

    fn when_unavailable(&self) -> WhenUnavailable {
        self.when_unavailable
    }
}

impl fmt::Debug for RedisRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimit")
            .field("name", &self.name)
            .field("attempts", &self.attempts)
            .field("period", &self.period)
            .field("burst", &self.burst)
            .finish_non_exhaustive()
    }
}
