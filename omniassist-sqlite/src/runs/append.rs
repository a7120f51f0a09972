use omniassist_server::failpoint;
use omniassist_server::store::{Appended, Segment, SegmentKind, Writer};
use rusqlite::{Connection, OptionalExtension, params};

use super::head::notice;
use crate::failure::Failure;
use crate::usage;

/// Appends a segment, if its writer drives the run and its position is the next one.
pub(crate) fn append(connection: &Connection, segment: &Segment) -> Result<Appended, Failure> {
    let writer = segment.writer;
    let mut statement = connection.prepare_cached(
        "insert into segment (run, pos, epoch, writer, kind, events, data)
         select number, ?2, ?3, ?4, ?5, ?6, ?7 from run
         where id = ?1 and state = 2 and epoch = ?3 and instance = ?4
         and coalesce((select max(pos) from segment where run = number), 0) + 1 = ?2
         on conflict do nothing",
    )?;
    let (run, instance, kind) = (writer.run.as_bytes(), writer.instance.as_bytes(), segment.kind.number());
    let data: &[u8] = &segment.data;
    let added =
        statement.execute(params![run, segment.pos, writer.epoch, instance, kind, segment.events, data])?;
    failpoint::hit("append.inserted");
    if added == 1 {
        usage::count(connection, writer, &segment.used)?;
        return taken(connection, writer);
    }
    if is_own(connection, segment)? {
        return taken(connection, writer);
    }
    let mut query = connection.prepare_cached("select 1 from run where id = ?1")?;
    Ok(if query.exists([run])? { Appended::Fenced } else { Appended::Gone })
}

/// Returns `true` if the position of a segment has one of the same writer.
pub(super) fn is_own(connection: &Connection, segment: &Segment) -> Result<bool, Failure> {
    let writer = segment.writer;
    let mut query = connection.prepare_cached(
        "select 1 from segment s join run r on r.number = s.run
         where r.id = ?1 and s.pos = ?2 and s.epoch = ?3 and s.writer = ?4",
    )?;
    let (run, instance) = (writer.run.as_bytes(), writer.instance.as_bytes());
    Ok(query.exists(params![run, segment.pos, writer.epoch, instance])?)
}

/// Returns the answer for a segment that is in the journal.
pub(super) fn taken(connection: &Connection, writer: Writer) -> Result<Appended, Failure> {
    let mut query =
        connection.prepare_cached("select stop, signals, watched_until from run where id = ?1")?;
    let found = query.query_row([writer.run.as_bytes()], |row| notice(row, 0)).optional()?;
    Ok(found.map_or(Appended::Gone, Appended::Taken))
}

/// Inserts a segment without a judgement.
pub(super) fn insert(
    connection: &Connection,
    run: i64,
    writer: Writer,
    pos: u32,
    kind: SegmentKind,
    events: u32,
    data: &[u8],
) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(
        "insert into segment (run, pos, epoch, writer, kind, events, data) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let instance = writer.instance.as_bytes();
    statement.execute(params![run, pos, writer.epoch, instance, kind.number(), events, data])?;
    Ok(())
}
