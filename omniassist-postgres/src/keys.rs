//! The wrapped keys of conversations.

use omniassist_server::store::{ConversationKey, Durability, KeyOf, Scope};
use tokio_postgres::Row;

use futures_util::try_join;

use crate::database::{Pool, Transaction};
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{id, limit, values};

pub(crate) async fn key(readers: &Pool, of: KeyOf<'_>) -> Result<Option<ConversationKey>, Failure> {
    let of_chat = "select owner, chat, key from omniassist.conversation
         where owner = $1 and chat = $2 and deleted_at is null";
    let of_run = "select c.owner, c.chat, c.key from omniassist.run r
         join omniassist.conversation c on c.id = r.conversation where r.id = $1";
    let found = match of {
        KeyOf::Chat(scope, chat) => {
            readers.read(of_chat, values![stored(scope.owner()), stored(chat)]).await?
        }
        KeyOf::Run(run) => readers.read(of_run, values![id(run.as_bytes())]).await?,
        _ => return Err(Failure::Invalid("an unknown kind of question for a key".to_owned())),
    };
    found.first().map(read).transpose()
}

pub(crate) async fn keys(
    readers: &Pool,
    after: Option<&ConversationKey>,
    at_most: usize,
) -> Result<Vec<ConversationKey>, Failure> {
    let list = "select owner, chat, key from omniassist.conversation where key is not null
         and ($1 is null or (owner, chat) > ($1, $2)) order by owner, chat limit $3";
    let owner = after.map(|last| stored(last.scope.owner()));
    let chat = after.map(|last| stored(&last.chat));
    let found = readers.read(list, values![owner, chat, limit(at_most)]).await?;
    found.iter().map(read).collect()
}

pub(crate) async fn replace(
    transaction: Transaction,
    known: &ConversationKey,
    new: &[u8],
) -> Result<bool, Failure> {
    let replace = "update omniassist.conversation set key = $4
         where owner = $1 and chat = $2 and key is not distinct from $3 and deleted_at is null returning 1";
    let (owner, chat) = (stored(known.scope.owner()), stored(&known.chat));
    let (_, replaced, ()) = try_join!(
        transaction.begin(Durability::Hard),
        transaction.query(replace, values![owner, chat, known.key.as_deref(), new]),
        transaction.commit(),
    )?;
    transaction.end();
    Ok(!replaced.is_empty())
}

fn read(row: &Row) -> Result<ConversationKey, Failure> {
    Ok(ConversationKey::new(Scope::new(rows::text(row, 0)?), rows::text(row, 1)?, rows::some_bytes(row, 2)?))
}
