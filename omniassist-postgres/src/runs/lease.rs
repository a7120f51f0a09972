use std::time::Duration;

use futures_util::try_join;
use omniassist_server::store::{
    Beat, Claim, Claimed, Durability, InstanceId, Received, RunId, RunLease, SegmentKind, Writer,
};
use tokio_postgres::Row;

use super::head::by_id;
use crate::database::Transaction;
use crate::failure::Failure;
use crate::values::{id, int, limit, values};
use crate::{rows, time};

/// Instances that beat at once do not wait for each other.
const FORGET: &str = "delete from omniassist.instance where id in (
       select id from omniassist.instance where expires_at <= now() for update skip locked)";

const BEAT: &str =
    "insert into omniassist.instance (id, expires_at) values ($1, now() + $2 * interval '1 second')
     on conflict (id) do update set expires_at = excluded.expires_at";

const SIGNALS_OF_INSTANCE: &str = "select r.id, s.key, s.number, s.data, s.sender, s.received_at
     from omniassist.run r join omniassist.signal s on s.run = r.id
     where r.state = 2 and r.instance = $1 and r.signals > 0 order by r.number, s.number";

const SIGNALS_OF_RUN: &str = "select s.run, s.key, s.number, s.data, s.sender, s.received_at
     from omniassist.signal s where s.run = $1 order by s.number";

/// The runs that nobody drives. A claim decides who gets one, so they are not locked here.
const FREE: &str = "select id from (
       select r.id, r.number from omniassist.run r where r.state = 2 and not exists (
         select 1 from omniassist.instance i where i.id = r.instance and i.expires_at > now())
       union all
       select r.id, r.number from omniassist.run r where r.state = 3 and r.due_at <= now()
       union all
       select r.id, r.number from omniassist.run r where r.state = 1 and not exists (
         select 1 from omniassist.run o where o.conversation = r.conversation and o.state in (2, 3))
         and not exists (
         select 1 from omniassist.run o where o.conversation = r.conversation and o.state = 1 and o.number < r.number)
     ) free order by number limit $1";

/// Extends a lease in one round trip.
pub(crate) async fn beat(
    transaction: Transaction,
    me: InstanceId,
    lease: Duration,
    room: usize,
) -> Result<Beat, Failure> {
    let me = id(me.as_bytes());
    // A crash of the database that loses a beat ends the lease earlier.
    let (_, _, _, signals, free, ()) = try_join!(
        transaction.begin(Durability::Soft),
        transaction.query(FORGET, values![]),
        transaction.query(BEAT, values![me, time::seconds(lease)]),
        transaction.query(SIGNALS_OF_INSTANCE, values![me]),
        transaction.query(FREE, values![limit(room)]),
        transaction.commit(),
    )?;
    transaction.end();
    let mut beat = Beat::default();
    beat.signals = received(&signals)?;
    beat.free = free.iter().map(|row| rows::run(row, 0)).collect::<Result<_, _>>()?;
    Ok(beat)
}

/// Reads the columns `run, key, number, data, sender, received_at`.
fn received(rows: &[Row]) -> Result<Vec<Received>, Failure> {
    let read = rows.iter().map(|row| rows::received(rows::run(row, 0)?, row, 1));
    read.filter_map(Result::transpose).collect()
}

const LOCK: &str = "select 1 from omniassist.run where id = $1 for no key update";

/// A statement of its own, since one that has waited for the lock sees the other rows as they were before.
const WANTED: &str = "select r.state, r.epoch, r.instance,
     exists (select 1 from omniassist.instance i where i.id = r.instance and i.expires_at > now()),
     r.state = 1 and (
       exists (select 1 from omniassist.run o where o.conversation = r.conversation and o.state in (2, 3))
       or exists (select 1 from omniassist.run o
         where o.conversation = r.conversation and o.state = 1 and o.number < r.number)), r.input
     from omniassist.run r where r.id = $1";

/// Inserts the mark of a claim and raises the epoch, or does nothing if another writer has taken the position meanwhile.
const CLAIM: &str = "with last as (
       select coalesce(max(pos), 0) as pos,
         coalesce((select events from omniassist.segment where run = $1 order by pos desc limit 1), 0) as events
       from omniassist.segment where run = $1),
     mark as (
       insert into omniassist.segment (run, pos, epoch, writer, kind, events, data)
       select $1, pos + 1, $2, $3, $4, events, '' from last on conflict do nothing returning run)
     update omniassist.run set state = 2, epoch = $2, instance = $3, due_at = null
     where id = $1 and exists (select 1 from mark) returning 1";

/// The number of take-overs since the last consequence.
const TAKEOVERS: &str = "select count(*)::int4 from omniassist.segment where run = $1 and kind = 2
     and pos > coalesce((select max(pos) from omniassist.segment where run = $1 and kind = 1), 0)";

/// A run that somebody wants to claim.
struct Wanted {
    lease: RunLease,
    epoch: u32,
    input: Option<bytes::Bytes>,
}

impl Wanted {
    fn read(row: &Row) -> Result<Self, Failure> {
        Ok(Self {
            lease: RunLease {
                state: rows::state(row, 0)?,
                instance: rows::some_instance(row, 2)?,
                is_driven: rows::get(row, 3)?,
                is_behind: rows::get(row, 4)?,
            },
            epoch: rows::int(row, 1)?,
            input: rows::some_bytes(row, 5)?,
        })
    }
}

/// The result of a try to claim a run.
pub(crate) enum Try {
    Done(Option<Box<Claimed>>),
    /// The earlier writer has appended meanwhile. Another try sees its segment.
    Again,
}

/// Claims a run in two round trips: one that locks it and finds what decides, and one that writes.
pub(crate) async fn claim(
    transaction: Transaction,
    run: RunId,
    me: InstanceId,
    condition: Claim,
) -> Result<Try, Failure> {
    let id_of_run = id(run.as_bytes());
    let (_, _, wanted) = try_join!(
        transaction.begin(Durability::Hard),
        transaction.query(LOCK, values![id_of_run]),
        transaction.query(WANTED, values![id_of_run]),
    )?;
    let wanted = wanted.first().map(Wanted::read).transpose()?;
    let Some(wanted) = wanted.filter(|wanted| wanted.lease.admits(me, condition)) else {
        transaction.undo().await?;
        return Ok(Try::Done(None));
    };
    let writer = Writer { run, epoch: wanted.epoch.saturating_add(1), instance: me };
    let mark = if wanted.lease.instance.is_some() { SegmentKind::Takeover } else { SegmentKind::Handover };
    let claim = values![id_of_run, int(writer.epoch), id(me.as_bytes()), i16::from(mark.number())];
    let (claimed, head, signals, takeovers, ()) = try_join!(
        transaction.query(CLAIM, claim),
        by_id(&transaction, run),
        transaction.query(SIGNALS_OF_RUN, values![id_of_run]),
        transaction.query_one(TAKEOVERS, values![id_of_run]),
        transaction.commit(),
    )?;
    transaction.end();
    if claimed.is_empty() {
        return Ok(Try::Again);
    }
    let mut claimed = Claimed::new(writer, head, wanted.input.unwrap_or_default());
    claimed.signals = received(&signals)?;
    claimed.takeovers = rows::int(&takeovers, 0)?;
    Ok(Try::Done(Some(Box::new(claimed))))
}
