//! Rate limits in the database.

use std::fmt;
use std::time::Duration;

use futures_util::try_join;
use omniassist_server::Principal;
use omniassist_server::store::Durability;
use omniassist_server::throttle::{Attempt, LimitFuture, RateDecision, RateLimit};

use crate::PostgresStore;
use crate::database::Transaction;
use crate::failure::Failure;
use crate::text::stored;
use crate::values::values;
use crate::{rows, time};

/// Counts an attempt, unless the burst is used up. The row is the lock, so the time is that at which it was got.
const COUNT: &str = "insert into omniassist.rate as r (key, full_at)
     values ($1, clock_timestamp() + $2 * interval '1 second')
     on conflict (key) do update set full_at = greatest(r.full_at, clock_timestamp()) + $2 * interval '1 second'
     where r.full_at <= clock_timestamp() + $3 * interval '1 second' returning 1";

/// The seconds until an attempt is allowed.
const WAIT: &str = "select extract(epoch from full_at - $2 * interval '1 second' - clock_timestamp())::float8
     from omniassist.rate where key = $1";

/// A [`RateLimit`] for the runs of each principal, or for its calls of a tool, that all servers of the database share. See
/// [`PostgresStore::rate_limit`].
#[must_use = "a rate limit does nothing until it is given to a builder"]
pub struct PostgresRateLimit {
    store: PostgresStore,
    name: String,
    runs: u32,
    burst: u32,
    period: Duration,
    key: Option<Key>,
}

type Key = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

impl PostgresStore {
    /// Returns a limit of this many runs, or calls of a tool, in a period for each principal; 0 refuses every one. Limits with
    /// one name count together.
    ///
    /// An idle principal may begin as many runs at once as its burst allows (default: all of the rate), and then one run for
    /// each elapsed fraction of the period, by the clock of the database (GCRA). The `governor` crate does the same in the
    /// memory of one server: `throttle::InMemoryRateLimit`.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use omniassist_server::Assistant;
    /// # use omniassist_server::testing::ScriptedProvider;
    /// # async fn example(store: omniassist_postgres::PostgresStore) -> omniassist_server::Result<()> {
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .rate_limit(store.rate_limit("runs", 20, Duration::from_secs(60)).burst(5))
    ///     .store(store)
    ///     .build()?;
    /// # let _ = assistant;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rate_limit(&self, name: impl Into<String>, runs: u32, period: Duration) -> PostgresRateLimit {
        PostgresRateLimit { store: self.clone(), name: name.into(), runs, burst: runs, period, key: None }
    }
}

impl PostgresRateLimit {
    /// Sets the number of runs that an idle principal may begin at once. Default: the rate's number; 0 refuses every run.
    pub fn burst(mut self, runs: u32) -> Self {
        self.burst = runs;
        self
    }

    /// Sets the principal whose rate a run uses, such as one that represents the tenant of its user. Default: the principal of
    /// the run. All anonymous callers are one principal here.
    pub fn per(mut self, key: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.key = Some(Box::new(key));
        self
    }
}

impl RateLimit for PostgresRateLimit {
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        let check = self.store.within(async move {
            if self.runs == 0 || self.burst == 0 {
                return Ok(RateDecision::Wait(self.period));
            }
            let principal = self.key.as_ref().map_or_else(|| attempt.principal().clone(), |key| key(attempt));
            let key = format!("{}\0{}", self.name, principal.id());
            let each = self.period / self.runs;
            check(self.store.writers().transaction().await?, &key, each, each * (self.burst - 1)).await
        });
        Box::pin(async move { Ok(check.await?) })
    }
}

impl fmt::Debug for PostgresRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresRateLimit")
            .field("name", &self.name)
            .field("runs", &self.runs)
            .field("period", &self.period)
            .finish_non_exhaustive()
    }
}

/// Counts an attempt in one round trip.
async fn check(
    transaction: Transaction,
    key: &str,
    each: Duration,
    burst: Duration,
) -> Result<RateDecision, Failure> {
    let (each, burst) = (time::seconds(each), time::seconds(burst));
    let (_, counted, wait, ()) = try_join!(
        transaction.begin(Durability::Soft),
        transaction.query(COUNT, values![stored(key), each, burst]),
        transaction.query_one(WAIT, values![stored(key), burst]),
        transaction.commit(),
    )?;
    transaction.end();
    if !counted.is_empty() {
        return Ok(RateDecision::Allow);
    }
    Ok(RateDecision::Wait(Duration::try_from_secs_f64(rows::get(&wait, 0)?).unwrap_or_default()))
}
