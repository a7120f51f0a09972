//! The tokens and the cost of each day.

use futures_util::try_join;
use omniassist_server::Cost;
use omniassist_server::core::Day;
use omniassist_server::store::{Durability, ModelUsage, Page, Scope, UsageDay, UsageListing, UsageQuery};
use tokio_postgres::Row;

use crate::database::{Pool, Transaction};
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{limit, values};

pub(crate) async fn list(readers: &Pool, query: &UsageQuery, page: &Page) -> Result<UsageListing, Failure> {
    let unknown = || Failure::Invalid("unknown cursor".to_owned());
    let cursor = page.cursor.as_deref().map(|cursor| UsageListing::parse_cursor(cursor).ok_or_else(unknown));
    let (day, owner, model) = cursor.transpose()?.unwrap_or((Day::MIN, "", ""));
    let list = "select day, owner, model, runs, calls, unpriced_calls, input_tokens, cached_input_tokens,
         cache_write_input_tokens, output_tokens, reasoning_tokens, cost_nano from omniassist.usage_day
         where ($7 is null or owner = $7) and day between $1 and $2
         and (not $8 or (day, owner, model) > ($3, $4, $5)) order by day, owner, model limit $6";
    let at_most = limit(page.at_most).saturating_add(1);
    let (from, to) = (number(*query.days.start()), number(*query.days.end()));
    let scope = query.scope.as_ref().map(|scope| stored(scope.owner()));
    let (day, owner, model) = (number(day), stored(owner), stored(model));
    let values = values![from, to, day, owner, model, at_most, scope, page.cursor.is_some()];
    let found = readers.read(list, values).await?;
    let found = found.iter().map(usage_day).collect::<Result<_, _>>()?;
    Ok(UsageListing::first_of(found, page.at_most))
}

/// Returns the number of a day as the database stores it.
pub(crate) fn number(day: Day) -> i32 {
    i32::try_from(day.number()).unwrap_or(i32::MAX)
}

fn usage_day(row: &Row) -> Result<UsageDay, Failure> {
    let mut usage = ModelUsage::new(rows::text(row, 2)?);
    usage.runs = rows::bigint(row, 3)?;
    usage.calls = rows::bigint(row, 4)?;
    usage.unpriced_calls = rows::bigint(row, 5)?;
    usage.input_tokens = rows::bigint(row, 6)?;
    usage.cached_input_tokens = rows::bigint(row, 7)?;
    usage.cache_write_input_tokens = rows::bigint(row, 8)?;
    usage.output_tokens = rows::bigint(row, 9)?;
    usage.reasoning_tokens = rows::bigint(row, 10)?;
    usage.cost = Cost::from_nanos(rows::bigint(row, 11)?);
    Ok(UsageDay::new(Day::from_number(rows::int(row, 0)?), rows::text(row, 1)?, usage))
}

/// Deletes the usage of an owner.
pub(crate) async fn delete(transaction: Transaction, scope: &Scope) -> Result<(), Failure> {
    let delete = "delete from omniassist.usage_day where owner = $1";
    try_join!(
        transaction.begin(Durability::Hard),
        transaction.query(delete, values![stored(scope.owner())]),
        transaction.commit(),
    )?;
    transaction.end();
    Ok(())
}
