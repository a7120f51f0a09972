use std::time::Duration;

use futures_util::try_join;
use omniassist_server::store::{Durability, Retention, Swept};

use crate::conversations::{DELETE_CONVERSATIONS, is_busy};
use crate::database::Transaction;
use crate::failure::Failure;
use crate::values::{limit, values};
use crate::{rows, time};

/// Servers that sweep at once do not wait for each other, nor for a conversation in use. The order makes the plan use an index
/// that has no deleted conversations.
const IDLE: &str = concat!(
    "select id from omniassist.conversation c
     where deleted_at is null and updated_at <= now() - $1 * interval '1 second' and not ",
    is_busy!("c.id", "$1"),
    " order by updated_at limit $2 for no key update skip locked"
);

/// Locks the runs that wait, since an answer locks its run alone. The deletion then sees the answer.
const WAITING: &str = "select 1 from omniassist.run where conversation = any($1) and state = 3
     order by id for no key update";

const JOURNALS: &str = "with swept as (
       update omniassist.run set input = null where id in (
         select id from omniassist.run where ended_at <= now() - $1 * interval '1 second' and input is not null
         limit $2 for no key update skip locked) returning id),
     segments as (delete from omniassist.segment where run in (select id from swept)),
     signals as (delete from omniassist.signal where run in (select id from swept))
     select count(*) from swept";

const USAGE: &str = "with swept as (
       delete from omniassist.usage_day where (day, owner, model) in (
         select day, owner, model from omniassist.usage_day
         where day < floor(extract(epoch from now() - $1 * interval '1 second') / 86400)
         order by day limit $2 for update skip locked) returning 1)
     select count(*) from swept";

/// The spendings of earlier days, and the reservations of servers that were killed yesterday.
const BUDGETS: &str = "with spent as (
       delete from omniassist.budget where (account, day) in (
         select account, day from omniassist.budget where day < floor(extract(epoch from now()) / 86400)
         limit $1 for update skip locked) returning 1),
     reserved as (
       delete from omniassist.reservation where id in (
         select id from omniassist.reservation where expires_at <= now() - interval '1 day'
         limit $1 for update skip locked) returning 1)
     select (select count(*) from spent) + (select count(*) from reserved)";

/// Rates that are as if they had not been used, and approvals that no longer count.
const THROTTLES: &str = "with rates as (
       delete from omniassist.rate where key in (
         select key from omniassist.rate where full_at <= now() limit $1 for update skip locked) returning 1),
     approvals as (
       delete from omniassist.used_approval where key in (
         select key from omniassist.used_approval where expires_at <= now() limit $1 for update skip locked)
       returning 1)
     select (select count(*) from rates) + (select count(*) from approvals)";

const TOMBSTONES: &str = "with swept as (
       delete from omniassist.conversation where id in (
         select id from omniassist.conversation where deleted_at <= now() - $1 * interval '1 second'
         limit $2 for update skip locked) returning 1)
     select count(*) from swept";

/// Deletes all but conversations. A conversation that takes too long then keeps nothing else.
pub(crate) async fn sweep(
    transaction: Transaction,
    policy: &Retention,
    at_most: usize,
) -> Result<Swept, Failure> {
    let at_most = limit(at_most);
    let age = |age: Duration| values![time::seconds(age), at_most];
    let ((), journals, usage, budgets, throttles, tombstones, ()) = try_join!(
        transaction.begin(Durability::Hard),
        transaction.query_one(JOURNALS, age(policy.journals)),
        transaction.query_one(USAGE, age(policy.usage)),
        transaction.query_one(BUDGETS, values![at_most]),
        transaction.query_one(THROTTLES, values![at_most]),
        transaction.query_one(TOMBSTONES, age(policy.tombstones)),
        transaction.commit(),
    )?;
    transaction.end();
    let mut swept = Swept::default();
    swept.journals = count(&journals)?;
    swept.usage = count(&usage)?.saturating_add(count(&budgets)?).saturating_add(count(&throttles)?);
    swept.tombstones = count(&tombstones)?;
    Ok(swept)
}

/// Turns conversations that were idle for so long into tombstones, and returns their number.
pub(crate) async fn sweep_conversations(
    transaction: Transaction,
    idle: Duration,
    at_most: usize,
) -> Result<usize, Failure> {
    let seconds = time::seconds(idle);
    transaction.begin(Durability::Hard).await?;
    let found = transaction.query(IDLE, values![seconds, limit(at_most)]).await?;
    let found: Vec<i64> = found.iter().map(|row| rows::get(row, 0)).collect::<Result<_, _>>()?;
    let (_, deleted, ()) = try_join!(
        transaction.query(WAITING, values![found.clone()]),
        transaction.query_one(DELETE_CONVERSATIONS, values![found, Some(seconds)]),
        transaction.commit(),
    )?;
    transaction.end();
    count(&deleted)
}

fn count(row: &tokio_postgres::Row) -> Result<usize, Failure> {
    Ok(usize::try_from(rows::bigint(row, 0)?).unwrap_or(usize::MAX))
}
