//! Conversations and their messages.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::try_join;
use omniassist_server::store::{
    Branch, Change, Conversation, ConversationInfo, Deleted, Durability, Listing, NotSaved, Page, Scope,
    StoredMessage, Window,
};
use tokio_postgres::Row;

use crate::change;
use crate::database::{Pool, Transaction};
use crate::failure::Failure;
use crate::text::stored;
use crate::values::{limit, value, values};
use crate::{rows, time};

/// The condition that a conversation has a run that goes on or is queued, or one that waits and whose user did something
/// within a number of seconds.
macro_rules! is_busy {
    ($conversation:literal, $seconds:literal) => {
        concat!(
            "exists (select 1 from omniassist.run r where r.conversation = ",
            $conversation,
            " and (r.state in (1, 2) or r.state = 3 and (r.due_at is not null
               or r.created_at > now() - ",
            $seconds,
            " * interval '1 second'
               or exists (select 1 from omniassist.signal s where s.run = r.id
                 and s.received_at > now() - ",
            $seconds,
            " * interval '1 second'))))"
        )
    };
}
pub(crate) use is_busy;

/// Turns the conversations of a list into tombstones, unless one is busy and busy ones are to stay (`$2` is not null). Their
/// messages and runs are deleted. One snapshot serves all of it.
pub(crate) const DELETE_CONVERSATIONS: &str = concat!(
    "with deleted as (
       update omniassist.conversation c set title = null, head = null, meta = null, key = null, version = 0,
         deleted_at = now()
       where id = any($1) and ($2 is null or not ",
    is_busy!("c.id", "$2"),
    ") returning id),
     runs as (delete from omniassist.run where conversation in (select id from deleted)),
     messages as (delete from omniassist.message where conversation in (select id from deleted))
     select count(*) from deleted"
);

/// Saves a change, and returns the new version.
pub(crate) async fn save(
    transaction: Transaction,
    scope: &Scope,
    chat: &str,
    change: &Change,
) -> Result<Result<u32, NotSaved>, Failure> {
    let (_, locked) = try_join!(
        transaction.begin(Durability::Hard),
        change::lock(&transaction, scope, chat, change.key.as_ref(), Some(change)),
    )?;
    if let Err(refused) = locked.check(change) {
        transaction.undo().await?;
        return Ok(Err(refused));
    }
    let (version, ()) = try_join!(locked.apply(&transaction, change), transaction.commit())?;
    transaction.end();
    Ok(Ok(version))
}

/// The columns that [`info`] reads.
macro_rules! info_columns {
    () => {
        "id, chat, title, head, version, meta, created_at, updated_at, key"
    };
}

pub(crate) async fn load(
    readers: &Pool,
    scope: &Scope,
    chat: &str,
    window: &Window,
) -> Result<Option<Conversation>, Failure> {
    let (leaf, all) = match &window.branch {
        Branch::All => (None, true),
        Branch::Head => (None, false),
        Branch::Leaf(leaf) => (Some(stored(leaf)), false),
        _ => return Err(Failure::Invalid("an unknown kind of branch".to_owned())),
    };
    // The conversation and its messages come from one snapshot. Each message is found by its key: with a join, which reads all
    // messages of the conversation for each of them, a plan can take minutes. Without `before`, the branch is followed as far
    // as it is returned.
    let branch = concat!(
        "with recursive c as (select ",
        info_columns!(),
        " from omniassist.conversation
           where owner = $1 and chat = $2 and deleted_at is null),
         branch (id, parent, depth) as (
           select m.id, m.parent, 1 from c join omniassist.message m on m.conversation = c.id
           where m.id = coalesce($5, c.head)
           union all
           select m.id, m.parent, b.depth + 1 from branch b cross join c cross join lateral (
             select id, parent from omniassist.message where conversation = c.id and id = b.parent limit 1) m
           where $3 is not null or b.depth < $4)
         select c.*, m.id, m.parent, m.body, m.created_at from c left join (
           select id, depth from branch
           where depth > case when $3 is null then 0 else (select depth from branch where id = $3) end
           order by depth limit $4) b on true
         left join lateral (
           select id, parent, body, created_at from omniassist.message
           where conversation = c.id and id = b.id limit 1) m on true order by b.depth"
    );
    let every = concat!(
        "with c as (select ",
        info_columns!(),
        " from omniassist.conversation
           where owner = $1 and chat = $2 and deleted_at is null)
         select c.*, m.id, m.parent, m.body, m.created_at from c left join lateral (
           select m.id, m.parent, m.body, m.created_at, m.number from omniassist.message m
           where m.conversation = c.id and ($3 is null or m.number < (
             select number from omniassist.message where conversation = c.id and id = $3))
           order by m.number desc limit $4) m on true order by m.number desc"
    );
    let at_most = limit(window.at_most).saturating_add(1);
    let before = window.before.as_deref().map(stored);
    let mut values = values![stored(scope.owner()), stored(chat), before, at_most];
    if !all {
        values.push(value(leaf));
    }
    let found = readers.read(if all { every } else { branch }, values).await?;
    let Some(first) = found.first() else { return Ok(None) };
    let (_, info) = info(first)?;
    let messages = found.iter().map(|row| message(row, 9));
    let mut messages: Vec<StoredMessage> =
        messages.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let more = messages.len() > window.at_most;
    messages.truncate(window.at_most);
    messages.reverse();
    Ok(Some(Conversation::new(info, messages, more)))
}

/// Reads the columns `id, parent, body, created_at`, of which this is the first. `None`: the conversation has no message.
fn message(row: &Row, first: usize) -> Result<Option<StoredMessage>, Failure> {
    let Some(id) = rows::some_text(row, first)? else { return Ok(None) };
    let mut message = StoredMessage::new(id, rows::some_text(row, first + 1)?, rows::bytes(row, first + 2)?);
    message.created_ms = rows::time(row, first + 3)?;
    Ok(Some(message))
}

/// Returns the number of a conversation, and its description.
fn info(row: &Row) -> Result<(i64, ConversationInfo), Failure> {
    let mut info = ConversationInfo::new(rows::text(row, 1)?, rows::time(row, 6)?);
    info.title = rows::some_text(row, 2)?;
    info.head = rows::some_text(row, 3)?;
    info.version = rows::int(row, 4)?;
    info.meta = rows::some_bytes(row, 5)?;
    info.updated_ms = rows::time(row, 7)?;
    info.key = rows::some_bytes(row, 8)?;
    Ok((rows::get(row, 0)?, info))
}

pub(crate) async fn list(readers: &Pool, scope: &Scope, page: &Page) -> Result<Listing, Failure> {
    let cursor = page.cursor.as_deref().map(parse_cursor).transpose()?;
    let list = concat!(
        "select ",
        info_columns!(),
        " from omniassist.conversation
         where owner = $1 and deleted_at is null and ($2 is null or (updated_at, id) < ($2, $3))
         order by updated_at desc, id desc limit $4"
    );
    let at_most = limit(page.at_most).saturating_add(1);
    let (updated, id) = cursor.unzip();
    let found = readers.read(list, values![stored(scope.owner()), updated, id, at_most]).await?;
    let last = found.get(page.at_most).and(page.at_most.checked_sub(1)).and_then(|last| found.get(last));
    let next =
        last.map(|row| Ok::<_, Failure>(cursor_of(rows::get(row, 7)?, rows::get(row, 0)?))).transpose()?;
    let found = found.iter().take(page.at_most).map(|row| Ok(info(row)?.1));
    Ok(Listing::new(found.collect::<Result<_, Failure>>()?, next.map(Into::into)))
}

/// Returns the cursor after a conversation. The database has times of microseconds.
fn cursor_of(updated: SystemTime, id: i64) -> String {
    format!("{}.{id}", updated.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros())
}

fn parse_cursor(cursor: &str) -> Result<(SystemTime, i64), Failure> {
    let parse = || {
        let (updated, id) = cursor.split_once('.')?;
        let updated = UNIX_EPOCH.checked_add(Duration::from_micros(updated.parse().ok()?))?;
        (updated <= time::stored(u64::MAX)).then_some(())?;
        Some((updated, id.parse().ok()?))
    };
    parse().ok_or_else(|| Failure::Invalid("unknown cursor".to_owned()))
}

/// Deletes a conversation of an owner, or at most this many of all.
pub(crate) async fn delete(
    transaction: Transaction,
    scope: &Scope,
    chat: Option<&str>,
    at_most: usize,
) -> Result<Deleted, Failure> {
    let lock = "select id from omniassist.conversation
         where owner = $1 and ($2 is null or chat = $2) and deleted_at is null
         order by id limit $3 for no key update";
    let (_, found) = try_join!(
        transaction.begin(Durability::Hard),
        transaction.query(lock, values![stored(scope.owner()), chat.map(stored), limit(at_most)]),
    )?;
    let found: Vec<i64> = found.iter().map(|row| rows::get(row, 0)).collect::<Result<_, _>>()?;
    if found.is_empty() {
        transaction.undo().await?;
        return Ok(Deleted::default());
    }
    let live =
        "select id from omniassist.run where conversation = any($1) and state in (1, 2, 3) order by number";
    let (live, _, ()) = try_join!(
        transaction.query(live, values![found.clone()]),
        transaction.query(DELETE_CONVERSATIONS, values![found.clone(), None::<f64>]),
        transaction.commit(),
    )?;
    transaction.end();
    let live = live.iter().map(|row| rows::run(row, 0)).collect::<Result<_, _>>()?;
    Ok(Deleted::new(found.len(), live))
}
