use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::throttle::{
    Attempt, Grant, LimitFuture, Reservation, Spent, TokenBudget, WhenUnavailable,
};
use redis::{FromRedisValue, RedisResult, Script};

use crate::Redis;

/// The most tokens that a script counts exactly.
const MAX: u64 = 1 << 53;

/// A [`TokenBudget`] that gives each principal a number of tokens in a window of time, on all servers together.
///
/// A principal's window begins with its first use, and the whole budget is renewed when the window has passed. All anonymous
/// callers are one principal here.
///
/// Each reservation is one script on the clock of Redis, so the reservations of all servers never exceed what is left. A
/// reservation whose server was killed counts as spent when it expires. Redis may lose the tokens of the last second in a
/// crash, or all without persistence: the budget is then renewed.
///
/// ```
/// use std::time::Duration;
///
/// use omniassist_redis::{Redis, RedisTokenBudget};
/// use omniassist_server::Assistant;
/// # use omniassist_server::testing::ScriptedProvider;
///
/// let redis = Redis::connect("redis://127.0.0.1:6379")?;
/// let day = Duration::from_secs(24 * 60 * 60);
/// let assistant = Assistant::builder(ScriptedProvider::new())
///     .token_budget(RedisTokenBudget::new(&redis, "tokens", 200_000, day))
///     .build()?;
/// # let _ = assistant;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a budget does nothing until it is given to a builder"]
pub struct RedisTokenBudget {
    redis: Redis,
    name: String,
    tokens: u64,
    window: Duration,
    account: Option<Account>,
    when_unavailable: WhenUnavailable,
    reserve: Script,
    settle: Script,
}

type Account = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

impl RedisTokenBudget {
    /// Creates a budget of this many tokens, input and output together, for each window. Budgets with the same name share
    /// what is spent.
    pub fn new(redis: &Redis, name: &str, tokens: u64, window: Duration) -> Self {
        Self {
            redis: redis.clone(),
            name: name.to_owned(),
            tokens,
            window,
            account: None,
            when_unavailable: WhenUnavailable::default(),
            reserve: Script::new(concat!(
                include_str!("scripts/account.lua"),
                include_str!("scripts/reserve.lua")
            )),
            settle: Script::new(concat!(
                include_str!("scripts/account.lua"),
                include_str!("scripts/settle.lua")
            )),
        }
    }

    /// Sets the principal whose tokens a run uses, such as one that represents the tenant of its user. Default: the
    /// principal of the run.
    pub fn per(mut self, account: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.account = Some(Box::new(account));
        self
    }

    /// Sets the decision about tokens while Redis does not work. Default: [`WhenUnavailable::Refuse`].
    pub fn if_unavailable(mut self, decision: WhenUnavailable) -> Self {
        self.when_unavailable = decision;
        self
    }

    /// Runs a script for a reservation.
    async fn call<T: FromRedisValue>(
        &self,
        script: &Script,
        of: &Reservation,
        numbers: &[u64],
    ) -> RedisResult<T> {
        let key = self.redis.key_of("budget", &self.name, of.account());
        let mut call = script.prepare_invoke();
        call.key(format!("{key}:expiry")).key(key);
        call.arg(of.id()).arg(millis(of.lifetime())).arg(millis(self.window)).arg(numbers);
        self.redis.link().send(async |mut connection| call.invoke_async(&mut connection).await).await
    }
}

impl TokenBudget for RedisTokenBudget {
    fn account(&self, attempt: &Attempt<'_>) -> Principal {
        self.account.as_ref().map_or_else(|| attempt.principal().clone(), |account| account(attempt))
    }

    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        Box::pin(async move {
            let numbers = [*tokens.start(), *tokens.end(), self.tokens].map(|number| number.min(MAX));
            let (is_granted, number): (bool, u64) = self.call(&self.reserve, of, &numbers).await?;
            Ok(match is_granted {
                true => Grant::Tokens(number),
                false => Grant::Exceeded { retry_after: Duration::from_millis(number) },
            })
        })
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        Box::pin(async move {
            let () = self.call(&self.settle, of, &[spent.tokens().min(MAX)]).await?;
            Ok(())
        })
    }

    fn when_unavailable(&self) -> WhenUnavailable {
        self.when_unavailable
    }
}

impl fmt::Debug for RedisTokenBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisTokenBudget")
            .field("name", &self.name)
            .field("tokens", &self.tokens)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

/// Returns milliseconds, at least one.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(MAX).clamp(1, MAX)
}
