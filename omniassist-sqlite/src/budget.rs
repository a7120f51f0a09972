//! Token budgets in the file.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use omniassist_server::Principal;
use omniassist_server::core::Day;
use omniassist_server::store::Durability;
use omniassist_server::throttle::{Attempt, Grant, LimitFuture, Reservation, Spent, TokenBudget};
use rusqlite::{Connection, OptionalExtension, params};

use crate::failure::Failure;
use crate::{SqliteStore, time};

/// The delay after which another run may have settled its reservation.
const RETRY_LENT: Duration = Duration::from_secs(1);

const MS_OF_DAY: u64 = 24 * 60 * 60 * 1000;

/// A [`TokenBudget`] that gives each principal a number of tokens a day, and that all processes with the file share. See
/// [`SqliteStore::token_budget`].
#[must_use = "a budget does nothing until it is given to a builder"]
pub struct SqliteTokenBudget {
    store: SqliteStore,
    tokens: u64,
    account: Option<Account>,
}

type Account = Box<dyn Fn(&Attempt<'_>) -> Principal + Send + Sync>;

impl SqliteStore {
    /// Returns a budget of this many tokens, input and output together, for each principal and day. Days are those of UTC.
    ///
    /// Each reservation is one statement, so concurrent runs cannot reserve more than is left, also in several processes.
    /// A reservation whose process was killed counts as spent when it has expired, since it has the tokens that its model
    /// call had used until then, and at most 64 more. A restart renews nothing. A power failure may lose the reservations and
    /// the tokens of the last moments.
    ///
    /// ```
    /// use omniassist_server::Assistant;
    /// use omniassist_server::testing::ScriptedProvider;
    /// use omniassist_sqlite::SqliteStore;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("assistant.db");
    /// let store = SqliteStore::open(path)?;
    /// let assistant = Assistant::builder(ScriptedProvider::new())
    ///     .token_budget(store.token_budget(200_000))
    ///     .store(store)
    ///     .build()?;
    /// # let _ = assistant;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn token_budget(&self, tokens: u64) -> SqliteTokenBudget {
        SqliteTokenBudget { store: self.clone(), tokens, account: None }
    }
}

impl SqliteTokenBudget {
    /// Sets the principal whose tokens a run uses, such as one that represents the tenant of its user. Default: the
    /// principal of the run. All anonymous callers are one principal here.
    pub fn per(mut self, account: impl Fn(&Attempt<'_>) -> Principal + Send + Sync + 'static) -> Self {
        self.account = Some(Box::new(account));
        self
    }
}

impl TokenBudget for SqliteTokenBudget {
    fn account(&self, attempt: &Attempt<'_>) -> Principal {
        self.account.as_ref().map_or_else(|| attempt.principal().clone(), |account| account(attempt))
    }

    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        let (of, limit) = (of.clone(), self.tokens);
        Box::pin(async move {
            let granted = self
                .store
                .on_writer(Durability::Soft, move |connection| reserve(connection, &of, &tokens, limit));
            Ok(granted.await?)
        })
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        let (of, tokens) = (of.clone(), spent.tokens());
        Box::pin(async move {
            let settled =
                self.store.on_writer(Durability::Soft, move |connection| settle(connection, &of, tokens));
            settled.await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        })
    }
}

impl fmt::Debug for SqliteTokenBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTokenBudget").field("tokens", &self.tokens).finish_non_exhaustive()
    }
}

fn reserve(
    connection: &Connection,
    of: &Reservation,
    tokens: &RangeInclusive<u64>,
    limit: u64,
) -> Result<Grant, Failure> {
    let (account, now) = (of.account().id(), time::now());
    let today = Day::of_ms(time::loaded(now)).number();
    // Reservations of processes that were killed.
    let mut expired = connection.prepare_cached(
        "delete from reservation where account = ?1 and expires_at <= ?2 and id <> ?3 returning tokens",
    )?;
    let expired = expired.query_map(params![account, now, of.id()], |row| row.get::<_, i64>(0))?;
    let expired = expired.sum::<Result<i64, _>>()?;
    if expired > 0 {
        spend(connection, account, today, expired)?;
    }
    let mut reserve = connection.prepare_cached(
        "with room (tokens) as (select ?4
           - coalesce((select spent from budget where account = ?2 and day = ?3), 0)
           - coalesce((select sum(tokens) from reservation where account = ?2 and id <> ?1), 0))
         insert into reservation (id, account, tokens, expires_at)
         select ?1, ?2, min(tokens, ?6), ?7 from room where tokens >= ?5
         on conflict (id) do update set tokens = excluded.tokens, expires_at = excluded.expires_at
         returning tokens",
    )?;
    let (least, most) = (time::stored(*tokens.start()), time::stored(*tokens.end()));
    let (limit, expires_at) = (time::stored(limit), now.saturating_add(time::millis(of.lifetime())));
    let parameters = params![of.id(), account, today, limit, least, most, expires_at];
    let granted = reserve.query_row(parameters, |row| row.get(0)).optional()?;
    if let Some(granted) = granted {
        return Ok(Grant::Tokens(time::loaded(granted)));
    }
    let mut spent = connection.prepare_cached("select spent from budget where account = ?1 and day = ?2")?;
    let spent = spent.query_row(params![account, today], |row| row.get::<_, i64>(0)).optional()?;
    let renewed_in = Duration::from_millis(MS_OF_DAY - time::loaded(now) % MS_OF_DAY);
    let is_lent = limit.saturating_sub(spent.unwrap_or(0)) >= least;
    Ok(Grant::Exceeded { retry_after: if is_lent { renewed_in.min(RETRY_LENT) } else { renewed_in } })
}

fn settle(connection: &Connection, of: &Reservation, tokens: u64) -> Result<(), Failure> {
    connection.prepare_cached("delete from reservation where id = ?1")?.execute([of.id()])?;
    if tokens == 0 {
        return Ok(());
    }
    let today = Day::of_ms(time::loaded(time::now())).number();
    spend(connection, of.account().id(), today, time::stored(tokens))
}

/// Adds tokens to those of a day, and forgets earlier days.
fn spend(connection: &Connection, account: &str, today: u32, tokens: i64) -> Result<(), Failure> {
    let mut earlier = connection.prepare_cached("delete from budget where account = ?1 and day < ?2")?;
    earlier.execute(params![account, today])?;
    // A sum beyond the range of integers would be a float.
    let mut statement = connection.prepare_cached(
        "insert into budget (account, day, spent) values (?1, ?2, ?3)
         on conflict do update set spent = min(spent + excluded.spent, 9223372036854775807)",
    )?;
    statement.execute(params![account, today, tokens])?;
    Ok(())
}
