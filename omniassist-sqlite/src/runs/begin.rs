use omniassist_server::failpoint;
use omniassist_server::store::{Begun, NewRun, NotSaved, RunState, SegmentKind, Writer};
use rusqlite::{Connection, OptionalExtension, params};

use super::append::insert;
use super::head::by_number;
use crate::failure::Failure;
use crate::{conversations, rows, time};

pub(crate) fn begin(connection: &Connection, new: &NewRun) -> Result<Begun, Failure> {
    let now = time::now();
    let conversation = match conversations::row(connection, &new.scope, &new.chat)? {
        Some(row) if row.is_deleted => return Ok(Begun::Refused(NotSaved::Deleted)),
        Some(row) if row.has_other_key(new.key.as_ref()) => return Ok(Begun::Refused(NotSaved::OtherKey)),
        Some(row) => row.id,
        None => conversations::create(connection, &new.scope, &new.chat, new.key.as_ref(), now)?,
    };
    if let Some(begun) = begun(connection, new, conversation)? {
        return Ok(begun);
    }
    failpoint::hit("begin.conversation");
    let (open, queued, first) = open_runs(connection, conversation)?;
    let is_queued = open > 0;
    if let Some(first) = first.filter(|_| queued >= new.queue) {
        return Ok(Begun::Busy(Box::new(by_number(connection, first)?)));
    }
    match new.change.as_ref().filter(|_| !is_queued) {
        Some(change) => {
            conversations::save(connection, &new.scope, &new.chat, change)?;
        }
        // The sweep keeps a conversation whose messages are in another store, too.
        None => conversations::touch(connection, conversation, now)?,
    }
    failpoint::hit("begin.saved");
    let (state, epoch) = if is_queued { (RunState::Queued, 0) } else { (RunState::Running, 1) };
    let instance = (!is_queued).then(|| new.instance.as_bytes());
    let post: Option<&[u8]> = new.post.as_ref().map(|post| &*post.key);
    let mut statement = connection.prepare_cached(
        "insert into run (id, conversation, state, epoch, instance, post, input, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let input: &[u8] = &new.input;
    let run = new.run.as_bytes();
    let number =
        statement.insert(params![run, conversation, state.number(), epoch, instance, post, input, now])?;
    failpoint::hit("begin.run");
    let writer = Writer { run: new.run, epoch, instance: new.instance };
    insert(connection, number, writer, 1, SegmentKind::Consequence, new.events, &new.first)?;
    Ok(if is_queued { Begun::Queued(open) } else { Begun::Started(writer) })
}

/// Returns the answer to a repeated `begin`, or to a post that began a run before.
fn begun(connection: &Connection, new: &NewRun, conversation: i64) -> Result<Option<Begun>, Failure> {
    let mut own = connection
        .prepare_cached("select number, conversation, state, epoch, instance from run where id = ?1")?;
    let own = own.query_row([new.run.as_bytes()], |row| {
        let place: (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok((place, rows::state(row, 2)?, row.get::<_, u32>(3)?, rows::instance(row, 4)?))
    });
    if let Some(((number, its_conversation), state, epoch, instance)) = own.optional()? {
        if its_conversation != conversation {
            return Err(Failure::Invalid("the id belongs to another run"));
        }
        let writer = Writer { run: new.run, epoch, instance: new.instance };
        return Ok(Some(match state {
            RunState::Queued => Begun::Queued(ahead(connection, conversation, number)?),
            RunState::Running if epoch == 1 && instance == Some(new.instance) => Begun::Started(writer),
            _ => Begun::Repeats(Box::new(by_number(connection, number)?)),
        }));
    }
    let Some(post) = &new.post else { return Ok(None) };
    let mut earlier = connection.prepare_cached(
        "select number from run where conversation = ?1 and post = ?2 and (?3 or state in (1, 2, 3)) limit 1",
    )?;
    let key: &[u8] = &post.key;
    let earlier = earlier.query_row(params![conversation, key, post.lasting], |row| row.get(0));
    let Some(number) = earlier.optional()? else { return Ok(None) };
    Ok(Some(Begun::Repeats(Box::new(by_number(connection, number)?))))
}

/// Returns the number of runs of a conversation that have not ended, and of those that are queued, and the first of them.
fn open_runs(connection: &Connection, conversation: i64) -> Result<(u32, u32, Option<i64>), Failure> {
    let mut query = connection.prepare_cached(
        "select state, number from (
           select state, number from run where conversation = ?1 and state in (2, 3)
           union all
           select state, number from run where conversation = ?1 and state = 1)
         order by state = 1, number",
    )?;
    let mut found = query.query([conversation])?;
    let (mut open, mut queued, mut first) = (0, 0, None);
    while let Some(row) = found.next()? {
        open += 1;
        queued += u32::from(rows::state(row, 0)? == RunState::Queued);
        first = first.or(Some(row.get(1)?));
    }
    Ok((open, queued, first))
}

/// Returns the number of runs before a queued one.
fn ahead(connection: &Connection, conversation: i64, number: i64) -> Result<u32, Failure> {
    let mut query = connection.prepare_cached(
        "select (select count(*) from run where conversation = ?1 and state in (2, 3))
           + (select count(*) from run where conversation = ?1 and state = 1 and number < ?2)",
    )?;
    Ok(query.query_row([conversation, number], |row| row.get(0))?)
}
