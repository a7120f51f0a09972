//! Token budgets in the database.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use futures_util::try_join;
use omniassist_server::Principal;
use omniassist_server::store::Durability;
use omniassist_server::throttle::{Attempt, Grant, LimitFuture, Reservation, Spent, TokenBudget};

use crate::PostgresStore;
use crate::database::Transaction;
use crate::failure::Failure;
use crate::text::stored;
use crate::values::{bigint, values};
use crate::{rows, time};

/// The delay after which another run may have settled its reservation.
const RETRY_LENT: Duration = Duration::from_secs(1);

/// One reservation of an account at a time. The second number tells this lock from other uses of the hash.
const LOCK: &str = "select pg_advisory_xact_lock(hashtextextended($1, 7306075))";

/// Counts the reservations of servers that were killed as spent.
const EXPIRE: &str = "with expired as (
       delete from omniassist.reservation where account = $1 and expires_at <= now() and id <> $2 returning tokens)
     insert into omniassist.budget as b (account, day, spent)
     select $1, floor(extract(epoch from now()) / 86400)::int4, least(sum(tokens), 9223372036854775807)::int8
     from expired having count(*) > 0
     on conflict (account, day) do update
       set spent = least(b.spent::numeric + excluded.spent, 9223372036854775807)::int8";

const RESERVE: &str = "with room as (select $3
       - coalesce((select spent from omniassist.budget
         where account = $1 and day = floor(extract(epoch from now()) / 86400)), 0)
       - coalesce((select sum(tokens) from omniassist.reservation where account = $1 and id <> $2), 0) as tokens)
     insert into omniassist.reservation (id, account, tokens, expires_at)
     select $2, $1, least(tokens, $5)::int8, now() + $6 * interval '1 second' from room where tokens >= $4
     on conflict (id) do update set tokens = excluded.tokens, expires_at = excluded.expires_at
     returning tokens";

/// The tokens that were spent today, and the seconds until tomorrow.
const SPENT: &str = "select coalesce((select spent from omniassist.budget
       where account = $1 and day = floor(extract(epoch from now()) / 86400)), 0),
       (86400 - extract(epoch from now())::numeric % 86400)::float8";

const SETTLE: &str = "delete from omniassist.reservation where id = $1";

/// Adds tokens to those of today, and forgets earlier days.
const SPEND: &str = "with earlier as (
       delete from omniassist.budget where account = $1 and day < floor(extract(epoch from now()) / 86400))
     insert into omniassist.budget as b (account, day, spent)
     select $1, floor(extract(epoch from now()) / 86400)::int4, $2 where $2 > 0
     on conflict (account, day) do update
       set spent = least(b.spent::numeric + excluded.spent, 9223372036854775807)::int8";

/// A [`TokenBudget`] that gives each principal a number of tokens a day, and that all servers of the database share. See
/// [`PostgresStore::token_budget`].
#[must_use = "a budget does nothing until it is given to a builder"]
pub struct PostgresTokenBudget {
    store: PostgresStore,
    tokens: u64,
    account: Option<Account>,
}

type Account = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

impl PostgresStore {
    /// Returns a budget of this many tokens, input and output together, for each principal and day. Days are those of UTC, by
    /// the clock of the database.
    ///
    /// The reservations of a principal are made one after the other, so concurrent runs cannot reserve more than is left, on
    /// any server. A reservation whose server was killed counts as spent when it has expired, since it has the tokens that its
    /// model call had used until then, and at most 64 more. A crash of the database may lose the reservations and the tokens
    /// of the last moments.
    ///
    /// ```no_run
    /// # use omniassist_server::Assistant;
    /// # use omniassist_server::testing::ScriptedProvider;
    /// # async fn example(store: omniassist_postgres::PostgresStore) -> omniassist_server::Result<()> {
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .token_budget(store.token_budget(200_000))
    ///     .store(store)
    ///     .build()?;
    /// # let _ = assistant;
    /// # Ok(())
    /// # }
    /// ```
    pub fn token_budget(&self, tokens: u64) -> PostgresTokenBudget {
        PostgresTokenBudget { store: self.clone(), tokens, account: None }
    }
}

impl PostgresTokenBudget {
    /// Sets the principal whose tokens a run uses, such as one that represents the tenant of its user. Default: the
    /// principal of the run. All anonymous callers are one principal here.
    pub fn per(mut self, account: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.account = Some(Box::new(account));
        self
    }
}

impl TokenBudget for PostgresTokenBudget {
    fn account(&self, attempt: &Attempt<'_>) -> Principal {
        self.account.as_ref().map_or_else(|| attempt.principal().clone(), |account| account(attempt))
    }

    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        let reserve =
            async move { reserve(self.store.writers().transaction().await?, of, tokens, self.tokens).await };
        let reserve = self.store.within(reserve);
        Box::pin(async move { Ok(reserve.await?) })
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        let settle = async move { settle(self.store.writers().transaction().await?, of, spent).await };
        let settle = self.store.within(settle);
        Box::pin(async move { Ok(settle.await?) })
    }
}

impl fmt::Debug for PostgresTokenBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTokenBudget").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

/// Reserves tokens in one round trip.
async fn reserve(
    transaction: Transaction,
    of: &Reservation,
    tokens: RangeInclusive<u64>,
    limit: u64,
) -> Result<Grant, Failure> {
    let (account, id) = (stored(of.account().id()), stored(of.id()));
    let (least, most) = tokens.into_inner();
    let (least, most, limit) = (bigint(least), bigint(most), bigint(limit));
    let reserve = values![account.clone(), id.clone(), limit, least, most, time::seconds(of.lifetime())];
    let (_, _, _, granted, spent, ()) = try_join!(
        transaction.begin(Durability::Soft),
        transaction.query(LOCK, values![account.clone()]),
        transaction.query(EXPIRE, values![account.clone(), id.clone()]),
        transaction.query(RESERVE, reserve),
        transaction.query_one(SPENT, values![account.clone()]),
        transaction.commit(),
    )?;
    transaction.end();
    if let Some(granted) = granted.first() {
        return Ok(Grant::Tokens(rows::bigint(granted, 0)?));
    }
    let renewed_in = Duration::try_from_secs_f64(rows::get(&spent, 1)?).unwrap_or_default();
    let is_lent = limit.saturating_sub(rows::get(&spent, 0)?) >= least;
    Ok(Grant::Exceeded { retry_after: if is_lent { renewed_in.min(RETRY_LENT) } else { renewed_in } })
}

/// Ends a reservation in one round trip.
async fn settle(transaction: Transaction, of: &Reservation, spent: &Spent) -> Result<(), Failure> {
    try_join!(
        transaction.begin(Durability::Soft),
        transaction.query(SETTLE, values![stored(of.id())]),
        transaction.query(SPEND, values![stored(of.account().id()), bigint(spent.tokens())]),
        transaction.commit(),
    )?;
    transaction.end();
    Ok(())
}
