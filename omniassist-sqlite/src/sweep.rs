use std::time::Duration;

use omniassist_server::core::Day;
use omniassist_server::store::{Retention, Swept};
use rusqlite::{Connection, Params, params};

use crate::failure::Failure;
use crate::{conversations, time, usage};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn sweep(connection: &Connection, policy: &Retention, at_most: usize) -> Result<Swept, Failure> {
    let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
    let before = |age: Duration| time::now().saturating_sub(time::millis(age));
    let mut swept = Swept::default();
    if let Some(age) = policy.conversations {
        let idle = ids(
            connection,
            // Runs that go on or are queued, and those whose user did something meanwhile.
            "select id from conversation c where deleted_at is null and updated_at <= ?1 and not exists (
               select 1 from run r where r.conversation = c.id and (r.state in (1, 2) or r.state = 3 and (
                 r.due_at is not null or r.created_at > ?1
                 or exists (select 1 from signal s where s.run = r.number and s.received_at > ?1))))
             limit ?2",
            [before(age), at_most],
        )?;
        swept.conversations = conversations::bury_all(connection, &idle)?.conversations;
    }
    let runs = ids(
        connection,
        "select number from run where ended_at <= ?1 and input is not null limit ?2",
        [before(policy.journals), at_most],
    )?;
    for run in &runs {
        connection.prepare_cached("delete from segment where run = ?1")?.execute([run])?;
        connection.prepare_cached("delete from signal where run = ?1")?.execute([run])?;
        connection.prepare_cached("update run set input = null where number = ?1")?.execute([run])?;
    }
    swept.journals = runs.len();
    let first_day = Day::of_ms(time::loaded(before(policy.usage)));
    swept.usage = usage::sweep(connection, first_day, at_most)? + budgets(connection, at_most)?;
    let mut statement = connection.prepare_cached(
        "delete from conversation where id in (select id from conversation where deleted_at <= ?1 limit ?2)",
    )?;
    swept.tombstones = statement.execute([before(policy.tombstones), at_most])?;
    Ok(swept)
}

/// Deletes what earlier days have spent and reserved, and returns the number of entries.
fn budgets(connection: &Connection, at_most: i64) -> Result<usize, Failure> {
    let now = time::now();
    let today = Day::of_ms(time::loaded(now)).number();
    let mut spent = connection.prepare_cached(
        "delete from budget where (account, day) in (select account, day from budget where day < ?1 limit ?2)",
    )?;
    let mut reserved = connection.prepare_cached(
        "delete from reservation where id in (select id from reservation where expires_at <= ?1 limit ?2)",
    )?;
    let yesterday = now.saturating_sub(time::millis(DAY));
    Ok(spent.execute(params![today, at_most])? + reserved.execute(params![yesterday, at_most])?)
}

fn ids(connection: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<i64>, Failure> {
    let mut query = connection.prepare_cached(sql)?;
    let found = query.query_map(parameters, |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
