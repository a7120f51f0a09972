use std::time::Duration;

use bytes::Bytes;
use omniassist_server::failpoint;
use omniassist_server::store::{
    Beat, Claim, Claimed, InstanceId, Received, RunId, RunLease, SegmentKind, Writer,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::append::insert;
use super::head::by_number;
use crate::failure::Failure;
use crate::{rows, time};

pub(crate) fn beat(
    connection: &Connection,
    me: InstanceId,
    lease: Duration,
    room: usize,
) -> Result<Beat, Failure> {
    let now = time::now();
    connection.prepare_cached("delete from instance where expires_at <= ?1")?.execute([now])?;
    let mut statement = connection.prepare_cached(
        "insert into instance (id, expires_at) values (?1, ?2)
         on conflict (id) do update set expires_at = excluded.expires_at",
    )?;
    statement.execute(params![me.as_bytes(), now.saturating_add(time::millis(lease))])?;
    failpoint::hit("beat.extended");
    let mut beat = Beat::default();
    beat.signals = signals(connection, "where r.state = 2 and r.instance = ?1", me.as_bytes())?;
    beat.free = free(connection, now, room)?;
    Ok(beat)
}

/// Returns the signals of the runs that meet a condition on an id.
fn signals(connection: &Connection, condition: &str, id: &[u8; 16]) -> Result<Vec<Received>, Failure> {
    let mut query = connection.prepare_cached(&format!(
        "select r.id, s.key, s.number, s.data, s.sender, s.received_at
         from run r join signal s on s.run = r.number {condition} order by r.number, s.number"
    ))?;
    let found = query.query_map([id], |row| rows::received(rows::run(row, 0)?, row, 1))?;
    Ok(found.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

/// Returns runs that nobody drives.
fn free(connection: &Connection, now: i64, room: usize) -> Result<Vec<RunId>, Failure> {
    let mut query = connection.prepare_cached(
        "select id from (
           select r.id, r.number from run r where r.state = 2 and (r.instance is null
             or not exists (select 1 from instance i where i.id = r.instance and i.expires_at > ?1))
           union all
           select r.id, r.number from run r where r.state = 3 and r.due_at <= ?1
           union all
           select r.id, r.number from run r where r.state = 1
             and not exists (select 1 from run o where o.conversation = r.conversation and o.state in (2, 3))
             and not exists (
               select 1 from run o where o.conversation = r.conversation and o.state = 1 and o.number < r.number)
         ) order by number limit ?2",
    )?;
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    let found = query.query_map([now, room], |row| rows::run(row, 0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// A run that somebody wants to claim.
struct Wanted {
    number: i64,
    lease: RunLease,
    epoch: u32,
    input: Option<Bytes>,
}

impl Wanted {
    fn find(connection: &Connection, run: RunId) -> Result<Option<Self>, Failure> {
        let mut query = connection.prepare_cached(
            "select r.number, r.state, r.epoch, r.instance,
             exists (select 1 from instance i where i.id = r.instance and i.expires_at > ?2),
             r.state = 1 and (
               exists (select 1 from run o where o.conversation = r.conversation and o.state in (2, 3))
               or exists (
                 select 1 from run o where o.conversation = r.conversation and o.state = 1 and o.number < r.number)),
             r.input
             from run r where r.id = ?1",
        )?;
        let found = query.query_row(params![run.as_bytes(), time::now()], |row| {
            Ok(Self {
                number: row.get(0)?,
                lease: RunLease {
                    state: rows::state(row, 1)?,
                    instance: rows::instance(row, 3)?,
                    is_driven: row.get(4)?,
                    is_behind: row.get(5)?,
                },
                epoch: row.get(2)?,
                input: rows::some_bytes(row, 6)?,
            })
        });
        Ok(found.optional()?)
    }
}

pub(crate) fn claim(
    connection: &Connection,
    run: RunId,
    me: InstanceId,
    condition: Claim,
) -> Result<Option<Claimed>, Failure> {
    let Some(wanted) = Wanted::find(connection, run)?.filter(|wanted| wanted.lease.admits(me, condition))
    else {
        return Ok(None);
    };
    let number = wanted.number;
    let writer = Writer { run, epoch: wanted.epoch.saturating_add(1), instance: me };
    let mut statement = connection.prepare_cached(
        "update run set state = 2, epoch = ?2, instance = ?3, due_at = null where number = ?1",
    )?;
    statement.execute(params![number, writer.epoch, me.as_bytes()])?;
    failpoint::hit("claim.raised");
    let mut query = connection
        .prepare_cached("select pos, events from segment where run = ?1 order by pos desc limit 1")?;
    let last = query.query_row([number], |row| Ok((row.get::<_, u32>(0)?, row.get(1)?)));
    let (pos, events) = last.optional()?.unwrap_or_default();
    let mark = if wanted.lease.instance.is_some() { SegmentKind::Takeover } else { SegmentKind::Handover };
    insert(connection, number, writer, pos.saturating_add(1), mark, events, &[])?;
    failpoint::hit("claim.marked");
    let head = by_number(connection, number)?;
    let mut claimed = Claimed::new(writer, head, wanted.input.unwrap_or_default());
    claimed.signals = signals(connection, "where r.id = ?1", run.as_bytes())?;
    claimed.takeovers = takeovers(connection, number)?;
    Ok(Some(claimed))
}

/// Returns the number of take-overs since the last consequence.
fn takeovers(connection: &Connection, run: i64) -> Result<u32, Failure> {
    let mut query = connection.prepare_cached(
        "select count(*) from segment where run = ?1 and kind = 2
         and pos > coalesce((select max(pos) from segment where run = ?1 and kind = 1), 0)",
    )?;
    Ok(query.query_row([run], |row| row.get(0))?)
}
