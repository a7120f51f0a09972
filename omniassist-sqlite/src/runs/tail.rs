use omniassist_server::store::{Segment, Tail, TailOf};
use rusqlite::{Connection, OptionalExtension, params};

use crate::failure::Failure;
use crate::rows;

/// Returns the segments of a run after a position, or `None` if the owner has no such run.
pub(crate) fn tail(connection: &Connection, of: &TailOf, max_bytes: usize) -> Result<Option<Tail>, Failure> {
    let mut query = connection.prepare_cached(
        "select r.number, r.state, r.epoch, coalesce((select max(pos) from segment where run = r.number), 0)
         from run r join conversation c on c.id = r.conversation where r.id = ?1 and c.owner = ?2",
    )?;
    let found = query.query_row(params![of.run.as_bytes(), of.scope.owner()], |row| {
        Ok((row.get::<_, i64>(0)?, rows::state(row, 1)?, row.get(2)?, row.get(3)?))
    });
    let Some((number, state, epoch, head)) = found.optional()? else { return Ok(None) };
    // Most polls find nothing new.
    let segments = if head > of.after { segments(connection, number, of, max_bytes)? } else { Vec::new() };
    Ok(Some(Tail::new(segments, head, state, epoch)))
}

fn segments(
    connection: &Connection,
    number: i64,
    of: &TailOf,
    max_bytes: usize,
) -> Result<Vec<Segment>, Failure> {
    let mut query = connection.prepare_cached(
        "select pos, epoch, writer, kind, events, data from segment where run = ?1 and pos > ?2 order by pos",
    )?;
    let mut found = query.query(params![number, of.after])?;
    let (mut segments, mut left) = (Vec::new(), max_bytes);
    while let Some(row) = found.next()? {
        let segment = rows::segment(of.run, row)?;
        if !segments.is_empty() && segment.data.len() > left {
            break;
        }
        left = left.saturating_sub(segment.data.len());
        segments.push(segment);
    }
    Ok(segments)
}
