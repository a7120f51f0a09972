//! Changes of conversations, within transactions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use futures_util::try_join;
use omniassist_server::core::Text;
use omniassist_server::store::{Change, NotSaved, RunId, Scope, StoredMessage};
use tokio_postgres::Row;

use crate::database::Transaction;
use crate::failure::Failure;
use crate::rows;
use crate::text::stored;
use crate::values::{id, values};

/// The row of a conversation, or of a tombstone, which the transaction has locked.
pub(crate) struct Locked {
    pub(crate) id: i64,
    pub(crate) is_deleted: bool,
    version: u32,
    key: Option<Bytes>,
    /// The messages of the conversation that a change names.
    known: HashSet<Text>,
}

/// Locks the row of a conversation, which is created if there is none, and finds the messages that a change names.
pub(crate) async fn lock(
    transaction: &Transaction,
    scope: &Scope,
    chat: &str,
    key: Option<&Bytes>,
    change: Option<&Change>,
) -> Result<Locked, Failure> {
    let create = "insert into omniassist.conversation (owner, chat, key) values ($1, $2, $3)
         on conflict (owner, chat) do nothing";
    let lock = "select id, deleted_at is not null, version, key from omniassist.conversation
         where owner = $1 and chat = $2 for no key update";
    let known =
        "select m.id from omniassist.message m join omniassist.conversation c on c.id = m.conversation
         where c.owner = $1 and c.chat = $2 and m.id = any($3)";
    let (owner, chat) = (stored(scope.owner()), stored(chat));
    let (_, locked, known) = try_join!(
        transaction.query(create, values![owner.clone(), chat.clone(), key.map(|key| &**key)]),
        transaction.query_one(lock, values![owner.clone(), chat.clone()]),
        transaction.query(known, values![owner.clone(), chat.clone(), named(change)]),
    )?;
    Locked::read(&locked, &known)
}

/// Locks the rows of a run and of its conversation, and finds the messages that a change names. `None`: there is no such run.
pub(crate) async fn lock_of_run(
    transaction: &Transaction,
    run: RunId,
    change: Option<&Change>,
) -> Result<Option<Locked>, Failure> {
    // In the order of a deletion.
    let conversation =
        "select c.id, c.deleted_at is not null, c.version, c.key from omniassist.conversation c
         join omniassist.run r on r.conversation = c.id where r.id = $1 for no key update of c";
    let lock = "select 1 from omniassist.run where id = $1 for no key update";
    let known =
        "select m.id from omniassist.run r join omniassist.message m on m.conversation = r.conversation
         where r.id = $1 and m.id = any($2)";
    let run = id(run.as_bytes());
    let (locked, _, known) = try_join!(
        transaction.query(conversation, values![run]),
        transaction.query(lock, values![run]),
        transaction.query(known, values![run, named(change)]),
    )?;
    locked.first().map(|locked| Locked::read(locked, &known)).transpose()
}

/// Returns the messages that a change names.
fn named(change: Option<&Change>) -> Vec<Cow<'_, str>> {
    let Some(change) = change else { return Vec::new() };
    let messages = change.messages.iter().flat_map(|message| [Some(&message.id), message.parent.as_ref()]);
    messages.flatten().chain(&change.head).map(|id| stored(id)).collect()
}

impl Locked {
    fn read(row: &Row, known: &[Row]) -> Result<Self, Failure> {
        Ok(Self {
            id: rows::get(row, 0)?,
            is_deleted: rows::get(row, 1)?,
            version: rows::int(row, 2)?,
            key: rows::some_bytes(row, 3)?,
            known: known.iter().map(|row| rows::text(row, 0)).collect::<Result<_, _>>()?,
        })
    }

    /// Returns `true` if a key is given and the conversation has another one, or none.
    pub(crate) fn has_other_key(&self, key: Option<&Bytes>) -> bool {
        key.is_some_and(|key| self.key.as_ref() != Some(key))
    }

    /// Judges a change, whose messages were looked for when the row was locked.
    pub(crate) fn check(&self, change: &Change) -> Result<(), NotSaved> {
        if self.is_deleted {
            return Err(NotSaved::Deleted);
        }
        if self.has_other_key(change.key.as_ref()) {
            return Err(NotSaved::OtherKey);
        }
        if change.version.is_some_and(|expected| expected != self.version) {
            return Err(NotSaved::Conflict(self.version));
        }
        let mut new = HashSet::new();
        for message in &change.messages {
            let is_known = |id: &Text| self.known.contains(id) || new.contains(id);
            if !is_known(&message.id)
                && let Some(parent) = message.parent.as_ref().filter(|parent| !is_known(parent))
            {
                return Err(NotSaved::UnknownMessage(parent.clone()));
            }
            new.insert(message.id.clone());
        }
        match &change.head {
            Some(head) if !self.known.contains(head) && !new.contains(head) => {
                Err(NotSaved::UnknownMessage(head.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Writes a change that was judged, and returns the new version.
    pub(crate) async fn apply(&self, transaction: &Transaction, change: &Change) -> Result<u32, Failure> {
        let update = "update omniassist.conversation set head = coalesce($2, head), title = coalesce($3, title),
             meta = coalesce($4, meta), version = version + 1, updated_at = now() where id = $1 returning version";
        let (head, title) = (change.head.as_deref().map(stored), change.title.as_deref().map(stored));
        let (_, version) = try_join!(
            insert(transaction, self.id, &change.messages),
            transaction.query_one(update, values![self.id, head, title, change.meta.as_deref()]),
        )?;
        rows::int(&version, 0)
    }
}

async fn insert(
    transaction: &Transaction,
    conversation: i64,
    messages: &[StoredMessage],
) -> Result<(), Failure> {
    // A statement can change a row once: of two messages with one id, the first gives the parent and the last the body.
    let mut places = HashMap::new();
    let (mut ids, mut parents, mut bodies) = (Vec::new(), Vec::new(), Vec::<&[u8]>::new());
    for message in messages {
        let place = *places.entry(&message.id).or_insert(ids.len());
        if let Some(body) = bodies.get_mut(place) {
            *body = &message.body;
            continue;
        }
        ids.push(stored(&message.id));
        parents.push(message.parent.as_deref().map(stored));
        bodies.push(&message.body);
    }
    if ids.is_empty() {
        return Ok(());
    }
    let insert = "insert into omniassist.message (conversation, id, parent, body)
         select $1, m.id, m.parent, m.body
         from unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as m (id, parent, body, place)
         order by m.place on conflict (conversation, id) do update set body = excluded.body";
    transaction.query(insert, values![conversation, ids, parents, bodies]).await?;
    Ok(())
}
