//! The wrapped keys of conversations.

use omniassist_server::store::{ConversationKey, KeyOf, Scope};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::failure::Failure;
use crate::rows;

pub(crate) fn key(connection: &Connection, of: KeyOf<'_>) -> Result<Option<ConversationKey>, Failure> {
    let found = match of {
        KeyOf::Chat(scope, chat) => connection
            .prepare_cached(
                "select owner, chat, key from conversation where owner = ?1 and chat = ?2 and deleted_at is null",
            )?
            .query_row([scope.owner(), chat], read),
        KeyOf::Run(run) => connection
            .prepare_cached(
                "select c.owner, c.chat, c.key from run r join conversation c on c.id = r.conversation
                 where r.id = ?1",
            )?
            .query_row([run.as_bytes()], read),
        _ => return Err(Failure::Invalid("an unknown kind of question for a key")),
    };
    Ok(found.optional()?)
}

pub(crate) fn keys(
    connection: &Connection,
    after: Option<&ConversationKey>,
    at_most: usize,
) -> Result<Vec<ConversationKey>, Failure> {
    let mut query = connection.prepare_cached(
        "select owner, chat, key from conversation where key is not null
         and (?1 is null or (owner, chat) > (?1, ?2)) order by owner, chat limit ?3",
    )?;
    let (owner, chat) = (after.map(|last| last.scope.owner()), after.map(|last| last.chat.as_str()));
    let limit = i64::try_from(at_most).unwrap_or(i64::MAX);
    let found = query.query_map(params![owner, chat, limit], read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(crate) fn replace(connection: &Connection, known: &ConversationKey, new: &[u8]) -> Result<bool, Failure> {
    let mut statement = connection.prepare_cached(
        "update conversation set key = ?4 where owner = ?1 and chat = ?2 and key is ?3 and deleted_at is null",
    )?;
    let (owner, chat, key) = (known.scope.owner(), known.chat.as_str(), known.key.as_deref());
    Ok(statement.execute(params![owner, chat, key, new])? > 0)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ConversationKey> {
    Ok(ConversationKey::new(Scope::new(rows::text(row, 0)?), rows::text(row, 1)?, rows::some_bytes(row, 2)?))
}
