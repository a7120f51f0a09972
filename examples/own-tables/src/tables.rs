//! The tables of the help desk.

use omniassist_axum::core::Text;
use omniassist_axum::store::{
    Branch, Change, Conversation, ConversationInfo, Deleted, Listing, NotSaved, Saved, StoredMessage, Window,
};
use rusqlite::{Connection, OptionalExtension, Result, Row, Transaction, params};

/// `deleted` tickets keep their name, so that no open page creates them again. Times are milliseconds since 1970.
pub(crate) const SCHEMA: &str = "
    create table if not exists ticket (
        number integer primary key, customer text not null, chat text not null, title text, head text, meta blob,
        version integer not null default 0, deleted integer not null default 0,
        opened integer not null default (cast(unixepoch('subsec') * 1000 as integer)), changed integer,
        unique (customer, chat));
    create table if not exists note (
        number integer primary key, ticket integer not null references ticket, id text not null, parent text,
        body blob not null, written integer not null default (cast(unixepoch('subsec') * 1000 as integer)),
        unique (ticket, id));";

const INFO: &str = "select number, chat, title, head, version, meta, opened, changed from ticket";

pub(crate) fn load(
    database: &Connection,
    customer: &str,
    chat: &str,
    window: &Window,
) -> Result<Option<Conversation>> {
    let mut query = database.prepare(&format!("{INFO} where customer = ?1 and chat = ?2 and not deleted"))?;
    let Some((ticket, info)) = query.query_row([customer, chat], info).optional()? else { return Ok(None) };
    let mut query =
        database.prepare("select id, parent, body, written from note where ticket = ?1 order by number")?;
    let notes = query.query_map([ticket], note)?.collect::<Result<Vec<_>>>()?;
    let (messages, more) = select(notes, info.head.as_ref(), window);
    Ok(Some(Conversation::new(info, messages, more)))
}

/// Returns the part of a conversation that a window shows. A message is stored after its parent.
fn select(notes: Vec<StoredMessage>, head: Option<&Text>, window: &Window) -> (Vec<StoredMessage>, bool) {
    let mut next = match &window.branch {
        Branch::Leaf(leaf) => Some(leaf.clone()),
        _ => head.cloned(),
    };
    let mut shown: Vec<_> = notes.into_iter().rev().collect();
    if window.branch != Branch::All {
        shown.retain(|note| {
            next.as_ref() == Some(&note.id) && {
                next.clone_from(&note.parent);
                true
            }
        });
    }
    shown.reverse();
    if let Some(before) = &window.before {
        shown.truncate(shown.iter().position(|note| note.id == *before).unwrap_or(0));
    }
    let hidden = shown.len().saturating_sub(window.at_most);
    (shown.split_off(hidden), hidden > 0)
}

pub(crate) fn save(database: Transaction<'_>, customer: &str, chat: &str, change: &Change) -> Result<Saved> {
    database.execute("insert or ignore into ticket (customer, chat) values (?1, ?2)", [customer, chat])?;
    let find = "select number, version, deleted from ticket where customer = ?1 and chat = ?2";
    let found = database.query_row(find, [customer, chat], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let (ticket, version, deleted): (i64, u32, bool) = found?;
    if deleted {
        return Ok(Saved::Refused(NotSaved::Deleted));
    }
    if change.version.is_some_and(|expected| expected != version) {
        return Ok(Saved::Refused(NotSaved::Conflict(version)));
    }
    let is_known = |id: &str| {
        let mut query = database.prepare_cached("select 1 from note where ticket = ?1 and id = ?2")?;
        query.exists(params![ticket, id])
    };
    for message in &change.messages {
        let (id, parent, body): (&str, _, &[u8]) = (&message.id, message.parent.as_ref(), &message.body);
        if let Some(parent) = parent
            && !is_known(id)?
            && !is_known(parent)?
        {
            return Ok(Saved::Refused(NotSaved::UnknownMessage(parent.clone())));
        }
        let upsert = "insert into note (ticket, id, parent, body) values (?1, ?2, ?3, ?4)
            on conflict (ticket, id) do update set body = excluded.body";
        database.execute(upsert, params![ticket, id, parent.map(|id| &**id), body])?;
    }
    if let Some(head) = &change.head
        && !is_known(head)?
    {
        return Ok(Saved::Refused(NotSaved::UnknownMessage(head.clone())));
    }
    let update = "update ticket set head = coalesce(?2, head), title = coalesce(?3, title),
        meta = coalesce(?4, meta), version = version + 1, changed = cast(unixepoch('subsec') * 1000 as integer) where number = ?1";
    let (head, title, meta) = (change.head.as_deref(), change.title.as_deref(), change.meta.as_deref());
    database.execute(update, params![ticket, head, title, meta])?;
    database.commit()?;
    Ok(Saved::Version(version + 1))
}

/// Returns a page of tickets, which begins after this many.
pub(crate) fn list(database: &Connection, customer: &str, start: usize, at_most: usize) -> Result<Listing> {
    let mut query = database
        .prepare(&format!("{INFO} where customer = ?1 and not deleted order by changed desc, number desc"))?;
    let mut found = query.query_map([customer], info)?.skip(start);
    let page = found.by_ref().take(at_most).map(|row| Ok(row?.1)).collect::<Result<Vec<_>>>()?;
    let next = found.next().map(|_| (start + page.len()).to_string().into());
    Ok(Listing::new(page, next))
}

/// Deletes a ticket, or all of them. Their runs are in another store.
pub(crate) fn delete(database: Transaction<'_>, customer: &str, chat: Option<&str>) -> Result<Deleted> {
    let which = "where customer = ?1 and chat = coalesce(?2, chat) and not deleted";
    let notes = format!("delete from note where ticket in (select number from ticket {which})");
    database.execute(&notes, params![customer, chat])?;
    let tickets = format!("update ticket set title = null, head = null, meta = null, deleted = 1 {which}");
    let deleted = database.execute(&tickets, params![customer, chat])?;
    database.commit()?;
    Ok(Deleted::new(deleted, Vec::new()))
}

fn info(row: &Row<'_>) -> Result<(i64, ConversationInfo)> {
    let mut info = ConversationInfo::new(row.get::<_, String>(1)?, millis(row, 6)?);
    info.title = row.get::<_, Option<String>>(2)?.map(Text::from);
    info.head = row.get::<_, Option<String>>(3)?.map(Text::from);
    info.version = row.get(4)?;
    info.meta = row.get::<_, Option<Vec<u8>>>(5)?.map(Into::into);
    info.updated_ms = millis(row, 7)?;
    Ok((row.get(0)?, info))
}

fn note(row: &Row<'_>) -> Result<StoredMessage> {
    let parent = row.get::<_, Option<String>>(1)?.map(Text::from);
    let mut message = StoredMessage::new(row.get::<_, String>(0)?, parent, row.get::<_, Vec<u8>>(2)?);
    message.created_ms = millis(row, 3)?;
    Ok(message)
}

fn millis(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
