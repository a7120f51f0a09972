//! The tokens and the cost of each day.

use omniassist_server::Cost;
use omniassist_server::core::Day;
use omniassist_server::store::{ModelUsage, Page, Scope, UsageDay, UsageListing, UsageQuery, Writer};
use rusqlite::{Connection, Row, params};

use crate::failure::Failure;
use crate::{rows, time};

/// Adds the model calls of a segment that was stored now.
pub(crate) fn count(connection: &Connection, writer: Writer, used: &[ModelUsage]) -> Result<(), Failure> {
    if used.is_empty() {
        return Ok(());
    }
    // A sum beyond the range of integers would be a float.
    let mut statement = connection.prepare_cached(
        "insert into usage_day (day, owner, model, runs, calls, unpriced_calls, input_tokens, cached_input_tokens,
           cache_write_input_tokens, output_tokens, reasoning_tokens, cost_nano)
         select ?2, c.owner, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
         from run r join conversation c on c.id = r.conversation where r.id = ?1
         on conflict do update set runs = runs + excluded.runs, calls = calls + excluded.calls,
           unpriced_calls = unpriced_calls + excluded.unpriced_calls,
           input_tokens = min(input_tokens + excluded.input_tokens, 9223372036854775807),
           cached_input_tokens = min(cached_input_tokens + excluded.cached_input_tokens, 9223372036854775807),
           cache_write_input_tokens
             = min(cache_write_input_tokens + excluded.cache_write_input_tokens, 9223372036854775807),
           output_tokens = min(output_tokens + excluded.output_tokens, 9223372036854775807),
           reasoning_tokens = min(reasoning_tokens + excluded.reasoning_tokens, 9223372036854775807),
           cost_nano = min(cost_nano + excluded.cost_nano, 9223372036854775807)",
    )?;
    let day = Day::of_ms(time::loaded(time::now())).number();
    for usage in used {
        statement.execute(params![
            writer.run.as_bytes(),
            day,
            usage.model.as_str(),
            time::stored(usage.runs),
            time::stored(usage.calls),
            time::stored(usage.unpriced_calls),
            time::stored(usage.input_tokens),
            time::stored(usage.cached_input_tokens),
            time::stored(usage.cache_write_input_tokens),
            time::stored(usage.output_tokens),
            time::stored(usage.reasoning_tokens),
            i64::try_from(usage.cost.nanos()).unwrap_or(i64::MAX),
        ])?;
    }
    Ok(())
}

pub(crate) fn list(
    connection: &Connection,
    query: &UsageQuery,
    page: &Page,
) -> Result<UsageListing, Failure> {
    let cursor = page
        .cursor
        .as_deref()
        .map(|cursor| UsageListing::parse_cursor(cursor).ok_or(Failure::Invalid("unknown cursor")));
    let (day, owner, model) = cursor.transpose()?.unwrap_or((Day::MIN, "", ""));
    let of_owner = if query.scope.is_some() { "owner = ?7" } else { "?7 is null" };
    let mut statement = connection.prepare_cached(&format!(
        "select day, owner, model, runs, calls, unpriced_calls, input_tokens, cached_input_tokens,
         cache_write_input_tokens, output_tokens, reasoning_tokens, cost_nano from usage_day
         where {of_owner} and day between ?1 and ?2 and (not ?8 or (day, owner, model) > (?3, ?4, ?5))
         order by day, owner, model limit ?6"
    ))?;
    let limit = i64::try_from(page.at_most).unwrap_or(i64::MAX).saturating_add(1);
    let (from, to) = (query.days.start().number(), query.days.end().number());
    let scope = query.scope.as_ref().map(Scope::owner);
    let is_later = page.cursor.is_some();
    let found = statement
        .query_map(params![from, to, day.number(), owner, model, limit, scope, is_later], usage_day)?;
    Ok(UsageListing::first_of(found.collect::<Result<_, _>>()?, page.at_most))
}

fn usage_day(row: &Row<'_>) -> rusqlite::Result<UsageDay> {
    let mut usage = ModelUsage::new(rows::text(row, 2)?);
    let number = |column| row.get(column).map(time::loaded);
    usage.runs = number(3)?;
    usage.calls = number(4)?;
    usage.unpriced_calls = number(5)?;
    usage.input_tokens = number(6)?;
    usage.cached_input_tokens = number(7)?;
    usage.cache_write_input_tokens = number(8)?;
    usage.output_tokens = number(9)?;
    usage.reasoning_tokens = number(10)?;
    usage.cost = Cost::from_nanos(number(11)?);
    Ok(UsageDay::new(Day::from_number(row.get(0)?), rows::text(row, 1)?, usage))
}

/// Deletes the usage of an owner.
pub(crate) fn delete(connection: &Connection, scope: &Scope) -> Result<(), Failure> {
    connection.prepare_cached("delete from usage_day where owner = ?1")?.execute([scope.owner()])?;
    Ok(())
}

/// Deletes entries of the days before one, and returns their number.
pub(crate) fn sweep(connection: &Connection, before: Day, at_most: i64) -> Result<usize, Failure> {
    let mut statement = connection.prepare_cached(
        "delete from usage_day where (day, owner, model) in
         (select day, owner, model from usage_day where day < ?1 order by day limit ?2)",
    )?;
    Ok(statement.execute([i64::from(before.number()), at_most])?)
}
