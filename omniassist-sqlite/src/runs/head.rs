use omniassist_server::core::Text;
use omniassist_server::store::{Notice, Obligation, OpenRun, RunHead, Scope, Which};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};

use crate::failure::Failure;
use crate::{rows, time};

const COLUMNS: &str = "select r.number, r.id, c.owner, c.chat, r.state, r.epoch, r.instance,
    coalesce((select max(pos) from segment where run = r.number), 0),
    r.stop, r.signals, r.watched_until, r.usage, r.created_at, r.ended_at
    from run r join conversation c on c.id = r.conversation";

/// The condition of a run with an id, of an owner.
const OF_RUN: &str = "where r.id = ?1 and c.owner = ?2";

/// The condition of a run with a number.
const OF_NUMBER: &str = "where r.number = ?1";

/// The condition of the run that counts for a chat: the live one, else the first in the queue, else the last. Each is found
/// by an index, since a chat keeps a row for each of its runs.
const OF_CHAT: &str = "where r.number = (select coalesce(
        (select number from run where conversation = chat.id and state in (2, 3)),
        (select number from run where conversation = chat.id and state = 1 order by number limit 1),
        (select number from run where conversation = chat.id and state > 3 order by number desc limit 1))
    from conversation chat where chat.owner = ?1 and chat.chat = ?2)";

/// The condition of the latest run that a post began.
const OF_POST: &str = "where c.owner = ?1 and c.chat = ?2 and r.post = ?3 order by r.number desc limit 1";

/// The run of a chat that has not ended. Each part has an index.
const OPEN: &str = "select r.id, r.state from conversation c join run r on r.number = coalesce(
        (select number from run where conversation = c.id and state in (2, 3)),
        (select number from run where conversation = c.id and state = 1 order by number limit 1))
    where c.owner = ?1 and c.chat = ?2";

/// Returns the runs of chats that have not ended.
pub(crate) fn open_of(
    connection: &Connection,
    scope: &Scope,
    chats: &[Text],
) -> Result<Vec<OpenRun>, Failure> {
    let mut query = connection.prepare_cached(OPEN)?;
    let mut open = Vec::new();
    for chat in chats {
        let read = |row: &Row<'_>| Ok(OpenRun::new(chat.clone(), rows::run(row, 0)?, rows::state(row, 1)?));
        open.extend(query.query_row([scope.owner(), chat], read).optional()?);
    }
    Ok(open)
}

pub(crate) fn find(
    connection: &Connection,
    scope: &Scope,
    which: Which<'_>,
) -> Result<Option<RunHead>, Failure> {
    match which {
        Which::Run(run) => one(connection, OF_RUN, &[run.as_bytes(), &scope.owner()]),
        Which::Chat(chat) => one(connection, OF_CHAT, &[&scope.owner(), &chat]),
        Which::Post { chat, key } => one(connection, OF_POST, &[&scope.owner(), &chat, &key]),
        _ => Err(Failure::Invalid("an unknown kind of question for a run")),
    }
}

/// Returns the run with a number.
pub(super) fn by_number(connection: &Connection, number: i64) -> Result<RunHead, Failure> {
    let head = one(connection, OF_NUMBER, &[&number])?;
    head.ok_or(Failure::Sqlite(rusqlite::Error::QueryReturnedNoRows))
}

fn one(
    connection: &Connection,
    condition: &str,
    parameters: &[&dyn ToSql],
) -> Result<Option<RunHead>, Failure> {
    let mut query = connection.prepare_cached(&format!("{COLUMNS} {condition}"))?;
    let Some((number, mut head)) = query.query_row(parameters, read).optional()? else { return Ok(None) };
    head.obligations = obligations(connection, number, &head)?;
    Ok(Some(head))
}

fn read(row: &Row<'_>) -> rusqlite::Result<(i64, RunHead)> {
    let scope = Scope::new(rows::text(row, 2)?);
    let mut head = RunHead::new(rows::run(row, 1)?, scope, rows::text(row, 3)?, rows::state(row, 4)?);
    head.epoch = row.get(5)?;
    head.instance = rows::instance(row, 6)?;
    head.head = row.get(7)?;
    head.notice = notice(row, 8)?;
    head.usage = rows::some_bytes(row, 11)?;
    head.created_ms = rows::time(row, 12)?;
    head.ended_ms = row.get::<_, Option<i64>>(13)?.map(time::loaded);
    Ok((row.get(0)?, head))
}

/// Reads the columns `stop, signals, watched_until`, of which this is the first.
pub(super) fn notice(row: &Row<'_>, first: usize) -> rusqlite::Result<Notice> {
    let mut notice = Notice::default();
    notice.stop = row.get(first)?;
    notice.signals = row.get(first + 1)?;
    notice.watched = row.get::<_, i64>(first + 2)? > time::now();
    Ok(notice)
}

fn obligations(connection: &Connection, number: i64, head: &RunHead) -> Result<Vec<Obligation>, Failure> {
    let mut query = connection.prepare_cached(
        "select o.call, o.data, o.expires_at, s.key, s.number, s.data, s.sender, s.received_at
         from obligation o left join signal s on s.run = o.run and s.key = 'answer:' || o.call
         where o.run = ?1 order by o.place",
    )?;
    let rows = query.query_map([number], |row| {
        let mut obligation = Obligation::new(rows::text(row, 0)?, rows::bytes(row, 1)?);
        obligation.expires_ms = row.get::<_, Option<i64>>(2)?.map(time::loaded);
        if row.get::<_, Option<String>>(3)?.is_some() {
            obligation.answer = rows::received(head.run, row, 3)?;
        }
        Ok(obligation)
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
