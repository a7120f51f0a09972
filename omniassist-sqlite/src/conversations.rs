//! Conversations and their messages.

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::store::{
    Branch, Change, Conversation, ConversationInfo, Deleted, Listing, NotSaved, Page, Scope, StoredMessage,
    Window,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use crate::failure::Failure;
use crate::{rows, time};

/// The number of rows of conversations after which a transaction deletes no further one, since other writes wait for it.
const MAX_ROWS: usize = 2000;

/// The row of a conversation, or of a tombstone.
pub(crate) struct ConversationRow {
    pub(crate) id: i64,
    pub(crate) is_deleted: bool,
    version: u32,
    key: Option<Vec<u8>>,
}

impl ConversationRow {
    /// Returns `true` if a key is given and the conversation has another one, or none.
    pub(crate) fn has_other_key(&self, key: Option<&Bytes>) -> bool {
        key.is_some_and(|key| self.key.as_deref() != Some(&**key))
    }
}

/// Finds the row of a conversation.
pub(crate) fn row(
    connection: &Connection,
    scope: &Scope,
    chat: &str,
) -> Result<Option<ConversationRow>, Failure> {
    let mut query = connection.prepare_cached(
        "select id, deleted_at is not null, version, key from conversation where owner = ?1 and chat = ?2",
    )?;
    let found = query.query_row([scope.owner(), chat], |row| {
        Ok(ConversationRow {
            id: row.get(0)?,
            is_deleted: row.get(1)?,
            version: row.get(2)?,
            key: row.get(3)?,
        })
    });
    Ok(found.optional()?)
}

/// Sets the time of the last use of a conversation.
pub(crate) fn touch(connection: &Connection, id: i64, now: i64) -> Result<(), Failure> {
    connection.prepare_cached("update conversation set updated_at = ?2 where id = ?1")?.execute([id, now])?;
    Ok(())
}

/// Inserts the row of a conversation.
pub(crate) fn create(
    connection: &Connection,
    scope: &Scope,
    chat: &str,
    key: Option<&Bytes>,
    now: i64,
) -> Result<i64, Failure> {
    let mut statement = connection.prepare_cached(
        "insert into conversation (owner, chat, key, created_at, updated_at) values (?1, ?2, ?3, ?4, ?4)",
    )?;
    Ok(statement.insert(params![scope.owner(), chat, key.map(|key| &**key), now])?)
}

/// Saves a change, and returns the new version. A refusal is an error, so that the transaction is undone.
pub(crate) fn save(
    connection: &Connection,
    scope: &Scope,
    chat: &str,
    change: &Change,
) -> Result<u32, Failure> {
    let now = time::now();
    let row = row(connection, scope, chat)?;
    if row.as_ref().is_some_and(|row| row.is_deleted) {
        return Err(Failure::Refused(NotSaved::Deleted));
    }
    if row.as_ref().is_some_and(|row| row.has_other_key(change.key.as_ref())) {
        return Err(Failure::Refused(NotSaved::OtherKey));
    }
    let version = row.as_ref().map_or(0, |row| row.version);
    if change.version.is_some_and(|expected| expected != version) {
        return Err(Failure::Refused(NotSaved::Conflict(version)));
    }
    let conversation = match row {
        Some(row) => row.id,
        None => create(connection, scope, chat, change.key.as_ref(), now)?,
    };
    for message in &change.messages {
        save_message(connection, conversation, message, now)?;
    }
    if let Some(head) = &change.head
        && !has_message(connection, conversation, head)?
    {
        return Err(Failure::Refused(NotSaved::UnknownMessage(head.clone())));
    }
    let mut statement = connection.prepare_cached(
        "update conversation set head = coalesce(?2, head), title = coalesce(?3, title), meta = coalesce(?4, meta),
         version = version + 1, updated_at = ?5 where id = ?1 returning version",
    )?;
    let (head, title, meta) = (change.head.as_deref(), change.title.as_deref(), change.meta.as_deref());
    Ok(statement.query_row(params![conversation, head, title, meta, now], |row| row.get(0))?)
}

fn save_message(
    connection: &Connection,
    conversation: i64,
    message: &StoredMessage,
    now: i64,
) -> Result<(), Failure> {
    let (id, body): (&str, &[u8]) = (&message.id, &message.body);
    let mut statement =
        connection.prepare_cached("update message set body = ?3 where conversation = ?1 and id = ?2")?;
    if statement.execute(params![conversation, id, body])? > 0 {
        return Ok(());
    }
    if let Some(parent) = &message.parent
        && !has_message(connection, conversation, parent)?
    {
        return Err(Failure::Refused(NotSaved::UnknownMessage(parent.clone())));
    }
    let mut statement = connection.prepare_cached(
        "insert into message (conversation, id, parent, body, created_at) values (?1, ?2, ?3, ?4, ?5)",
    )?;
    statement.execute(params![conversation, id, message.parent.as_deref(), body, now])?;
    Ok(())
}

fn has_message(connection: &Connection, conversation: i64, id: &Text) -> Result<bool, Failure> {
    let mut query = connection.prepare_cached("select 1 from message where conversation = ?1 and id = ?2")?;
    Ok(query.exists(params![conversation, id.as_str()])?)
}

pub(crate) fn load(
    connection: &Connection,
    scope: &Scope,
    chat: &str,
    window: &Window,
) -> Result<Option<Conversation>, Failure> {
    let mut query = connection.prepare_cached(
        "select id, chat, title, head, version, meta, created_at, updated_at, key from conversation
         where owner = ?1 and chat = ?2 and deleted_at is null",
    )?;
    let Some((id, info)) = query.query_row([scope.owner(), chat], info).optional()? else { return Ok(None) };
    let limit = i64::try_from(window.at_most).unwrap_or(i64::MAX).saturating_add(1);
    let before = window.before.as_deref();
    let mut messages = match &window.branch {
        Branch::All => all(connection, id, before, limit)?,
        Branch::Head => branch(connection, id, info.head.as_deref(), before, limit)?,
        Branch::Leaf(leaf) => branch(connection, id, Some(leaf), before, limit)?,
        _ => return Err(Failure::Invalid("an unknown kind of branch")),
    };
    let more = messages.len() > window.at_most;
    messages.truncate(window.at_most);
    messages.reverse();
    Ok(Some(Conversation::new(info, messages, more)))
}

/// Returns the messages of a branch, the last one first. Without `before`, the branch is followed as far as it is returned.
fn branch(
    connection: &Connection,
    conversation: i64,
    leaf: Option<&str>,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<StoredMessage>, Failure> {
    let mut query = connection.prepare_cached(
        "with recursive branch (id, parent, depth) as (
           select id, parent, 1 from message where conversation = ?1 and id = ?2
           union all
           select m.id, m.parent, b.depth + 1 from branch b
           join message m on m.conversation = ?1 and m.id = b.parent
           where ?3 is not null or b.depth < ?4)
         select m.id, m.parent, m.body, m.created_at from branch b
         join message m on m.conversation = ?1 and m.id = b.id
         where b.depth > case when ?3 is null then 0 else (select depth from branch where id = ?3) end
         order by b.depth limit ?4",
    )?;
    messages(&mut query, params![conversation, leaf, before, limit])
}

/// Returns the messages of all branches, the last one first.
fn all(
    connection: &Connection,
    conversation: i64,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<StoredMessage>, Failure> {
    let mut query = connection.prepare_cached(
        "select id, parent, body, created_at from message where conversation = ?1
         and (?2 is null or number < (select number from message where conversation = ?1 and id = ?2))
         order by number desc limit ?3",
    )?;
    messages(&mut query, params![conversation, before, limit])
}

fn messages(query: &mut CachedStatement<'_>, parameters: impl Params) -> Result<Vec<StoredMessage>, Failure> {
    let found = query.query_map(parameters, |row| {
        let mut message =
            StoredMessage::new(rows::text(row, 0)?, rows::some_text(row, 1)?, rows::bytes(row, 2)?);
        message.created_ms = rows::time(row, 3)?;
        Ok(message)
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Reads the columns `id, chat, title, head, version, meta, created_at, updated_at, key`.
fn info(row: &Row<'_>) -> rusqlite::Result<(i64, ConversationInfo)> {
    let mut info = ConversationInfo::new(rows::text(row, 1)?, rows::time(row, 6)?);
    info.title = rows::some_text(row, 2)?;
    info.head = rows::some_text(row, 3)?;
    info.version = row.get(4)?;
    info.meta = rows::some_bytes(row, 5)?;
    info.updated_ms = rows::time(row, 7)?;
    info.key = rows::some_bytes(row, 8)?;
    Ok((row.get(0)?, info))
}

pub(crate) fn list(connection: &Connection, scope: &Scope, page: &Page) -> Result<Listing, Failure> {
    let (updated, id) = page.cursor.as_deref().map_or(Ok((i64::MAX, i64::MAX)), parse_cursor)?;
    let mut query = connection.prepare_cached(
        "select id, chat, title, head, version, meta, created_at, updated_at, key from conversation
         where owner = ?1 and deleted_at is null and (updated_at, id) < (?2, ?3)
         order by updated_at desc, id desc limit ?4",
    )?;
    let limit = i64::try_from(page.at_most).unwrap_or(i64::MAX).saturating_add(1);
    let found = query.query_map(params![scope.owner(), updated, id, limit], info)?;
    let mut found: Vec<(i64, ConversationInfo)> = found.collect::<Result<_, _>>()?;
    let has_more = found.len() > page.at_most;
    found.truncate(page.at_most);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|(id, info)| format!("{}.{id}", info.updated_ms).into());
    Ok(Listing::new(found.into_iter().map(|(_, info)| info).collect(), next))
}

fn parse_cursor(cursor: &str) -> Result<(i64, i64), Failure> {
    let numbers = cursor.split_once('.');
    numbers
        .and_then(|(updated, id)| Some((updated.parse().ok()?, id.parse().ok()?)))
        .ok_or(Failure::Invalid("unknown cursor"))
}

/// Deletes a conversation.
pub(crate) fn delete(connection: &Connection, scope: &Scope, chat: &str) -> Result<Deleted, Failure> {
    let found = row(connection, scope, chat)?.filter(|row| !row.is_deleted);
    bury_all(connection, found.map(|row| row.id).as_slice())
}

/// Deletes at most this many conversations of an owner, and fewer if they are long.
pub(crate) fn delete_batch(
    connection: &Connection,
    scope: &Scope,
    at_most: usize,
) -> Result<Deleted, Failure> {
    let mut query = connection
        .prepare_cached("select id from conversation where owner = ?1 and deleted_at is null limit ?2")?;
    let found = query
        .query_map(params![scope.owner(), i64::try_from(at_most).unwrap_or(i64::MAX)], |row| row.get(0))?;
    bury_all(connection, &found.collect::<Result<Vec<_>, _>>()?)
}

/// Turns conversations into tombstones until many rows are deleted.
pub(crate) fn bury_all(connection: &Connection, conversations: &[i64]) -> Result<Deleted, Failure> {
    let (mut deleted, mut rows) = (Deleted::default(), 0);
    for conversation in conversations {
        if rows >= MAX_ROWS {
            break;
        }
        let mut query = connection.prepare_cached(
            "select id from run where conversation = ?1 and state in (1, 2, 3) order by number",
        )?;
        let live = query.query_map([conversation], |row| rows::run(row, 0))?;
        deleted.runs.extend(live.collect::<Result<Vec<_>, _>>()?);
        rows += bury(connection, *conversation)?;
        deleted.conversations += 1;
    }
    Ok(deleted)
}

/// Turns a conversation into a tombstone. Its messages and runs are deleted. Returns their number.
fn bury(connection: &Connection, conversation: i64) -> Result<usize, Failure> {
    let runs =
        connection.prepare_cached("delete from run where conversation = ?1")?.execute([conversation])?;
    let messages =
        connection.prepare_cached("delete from message where conversation = ?1")?.execute([conversation])?;
    let mut statement = connection.prepare_cached(
        "update conversation set title = null, head = null, meta = null, key = null, version = 0,
         deleted_at = ?2 where id = ?1",
    )?;
    statement.execute([conversation, time::now()])?;
    Ok(runs + messages)
}
