use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Text;
use serde_json::{Map, Value, json};
use tokio::time::sleep;
use uuid::Uuid;

use super::turns::Turns;
use super::{AfsEntry, AfsEntryKind, AfsModule, StoredInstance, UpdateError, iso};
use crate::clock;
use crate::store::{
    Branch, Change, Conversation, ConversationStore, ENTRY, MemoryStore, NotSaved, Saved, Scope, StoreError,
    StoreFuture, StoredMessage, Window,
};

const SESSIONS: &str = "by-session/";

/// The number of times that a change is made again after the conversation has changed.
const TRIES: u32 = 64;

/// The longest time before a change is made again.
const MAX_PAUSE: Duration = Duration::from_millis(32);

/// The history of components, in a store of conversations: the module `/modules/history/`.
///
/// Give it the store of the assistant, so that the entries of a chat are part of the stored conversation. A session is a
/// chat. A clone is another handle to the same history.
///
/// An instance has one entry for its state, which each write replaces. The entries of renders are kept.
#[derive(Clone)]
pub struct AfsHistory {
    store: Arc<dyn ConversationStore>,
    turns: Turns,
}

impl AfsHistory {
    /// Creates the history of a store.
    #[must_use]
    pub fn new(store: Arc<dyn ConversationStore>) -> Self {
        Self { store, turns: Turns::new() }
    }

    /// Creates a history in the memory of this process, for tests.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(Arc::new(MemoryStore::new()))
    }

    pub(super) async fn load_instance(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
    ) -> Result<Option<StoredInstance>, StoreError> {
        Ok(self.instance(scope, session, instance).await?.1)
    }

    /// Returns the version of the conversation, and the stored instance.
    async fn instance(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
    ) -> Result<(u32, Option<StoredInstance>), StoreError> {
        let Some(found) = self.one(scope, session, state_id(instance)).await? else { return Ok((0, None)) };
        let stored = match found.messages.last() {
            Some(stored) => {
                let entry = AfsEntry::from_body(Text::default(), &stored.body)?;
                Some(StoredInstance::from_entry(&entry)?)
            }
            None => None,
        };
        Ok((found.info.version, stored))
    }

    async fn one(&self, scope: &Scope, session: &str, id: Text) -> Result<Option<Conversation>, StoreError> {
        let window = Window { branch: Branch::Leaf(id), at_most: 1, ..Window::default() };
        self.store.load(scope, session, &window).await
    }

    pub(super) async fn update_instance<E>(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
        change: &mut (dyn FnMut(Option<StoredInstance>) -> Result<StoredInstance, E> + Send),
    ) -> Result<StoredInstance, UpdateError<E>> {
        self.update(scope, session, instance, change).await.map(|(stored, _)| stored)
    }

    /// Changes an instance. Returns it, and the entry as it was written.
    async fn update<E>(
        &self,
        scope: &Scope,
        session: &str,
        instance: &str,
        change: &mut (dyn FnMut(Option<StoredInstance>) -> Result<StoredInstance, E> + Send),
    ) -> Result<(StoredInstance, AfsEntry), UpdateError<E>> {
        let _turn = self.turns.wait(scope, session).await;
        for attempt in 0..TRIES {
            let (version, before) =
                self.instance(scope, session, instance).await.map_err(UpdateError::Store)?;
            let after = change(before).map_err(UpdateError::Refused)?;
            let entry = after.clone().into_entry(scope, session, instance);
            let body = entry.to_body().map_err(UpdateError::Store)?;
            let message = StoredMessage::new(state_id(instance), None, body);
            let save = Change { messages: vec![message], version: Some(version), ..Change::default() };
            match self.store.save(scope, session, &save).await.map_err(UpdateError::Store)? {
                Saved::Version(_) => return Ok((after, entry)),
                Saved::Refused(NotSaved::Conflict(_)) => sleep(pause(attempt)).await,
                Saved::Refused(NotSaved::Deleted) => return Err(UpdateError::Deleted),
                Saved::Refused(refusal) => return Err(UpdateError::Store(refused(&refusal))),
            }
        }
        Err(UpdateError::Store(StoreError::unavailable("the conversation changed during each try")))
    }

    /// Writes an entry of the application, which replaces the user's state of an instance or records a render.
    async fn write_new(
        &self,
        scope: &Scope,
        session: &str,
        mut entry: AfsEntry,
    ) -> Result<AfsEntry, StoreError> {
        let Some(instance) = entry.instance_id().map(ToOwned::to_owned) else {
            return Err(StoreError::invalid("an entry of a component needs `instanceId` in its metadata"));
        };
        match entry.kind() {
            AfsEntryKind::ComponentState => {
                let Some(state) = entry.state().cloned() else {
                    return Err(StoreError::invalid("the entry of a state needs an object as `state`"));
                };
                let component = entry.metadata.get("componentName").and_then(Value::as_str).map(Text::from);
                let mut replace = |before: Option<StoredInstance>| {
                    let mut next = before.unwrap_or_else(|| StoredInstance::new(&instance, Map::new()));
                    next.rev += 1;
                    next.state.clone_from(&state);
                    if let Some(component) = &component {
                        next.component.clone_from(component);
                    }
                    Ok::<_, Infallible>(next)
                };
                let written = self.update(scope, session, &instance, &mut replace).await;
                let (_, mut entry) = written.map_err(|error| match error {
                    UpdateError::Refused(never) => match never {},
                    UpdateError::Deleted => refused(&NotSaved::Deleted),
                    UpdateError::Store(error) => error,
                })?;
                entry.path = state_path(session, &instance);
                Ok(entry)
            }
            AfsEntryKind::ComponentRender => {
                let id = Uuid::now_v7().simple().to_string();
                let mut set = |key: &str, value: String| entry.metadata.insert(key.to_owned(), value.into());
                set("timestamp", iso(clock::now_ms()));
                set("userId", scope.owner().to_owned());
                set("sessionId", session.to_owned());
                let message = StoredMessage::new(render_id(&id), None, entry.to_body()?);
                let save = Change { messages: vec![message], ..Change::default() };
                match self.store.save(scope, session, &save).await? {
                    Saved::Version(_) => {}
                    Saved::Refused(refusal) => return Err(refused(&refusal)),
                }
                entry.path = message_path(session, &id);
                Ok(entry)
            }
            _ => Err(StoreError::invalid("only the assistant writes messages")),
        }
    }

    /// Returns the messages of the branch that is shown, and the entries of components, in the order of their first save.
    async fn session(&self, scope: &Scope, session: &str) -> Result<Vec<AfsEntry>, StoreError> {
        let window = Window { branch: Branch::All, ..Window::default() };
        let Some(found) = self.store.load(scope, session, &window).await? else { return Ok(Vec::new()) };
        let shown = shown(&found);
        let found = found.messages.iter().filter(|stored| stored.is_entry() || shown.contains(&stored.id));
        found.map(|stored| read_stored(scope, session, stored)).collect()
    }

    async fn read_one(&self, scope: &Scope, session: &str, id: Text) -> Result<Option<AfsEntry>, StoreError> {
        let found = self.one(scope, session, id).await?;
        let stored = found.and_then(|found| found.messages.into_iter().next_back());
        stored.map(|stored| read_stored(scope, session, &stored)).transpose()
    }
}

impl AfsModule for AfsHistory {
    fn name(&self) -> &str {
        "history"
    }

    fn read<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Option<AfsEntry>> {
        Box::pin(async move {
            let Some((session, rest)) = path.split_once('/') else { return Ok(None) };
            if let Some(instance) = rest.strip_prefix("component-state/") {
                return self.read_one(scope, session, state_id(instance)).await;
            }
            let Some(id) = rest.strip_prefix("messages/") else { return Ok(None) };
            match self.read_one(scope, session, render_id(id)).await? {
                Some(render) => Ok(Some(render)),
                None if is_entry(id) => Ok(None),
                None => self.read_one(scope, session, id.into()).await,
            }
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, path: &'a str) -> StoreFuture<'a, Vec<AfsEntry>> {
        Box::pin(async move {
            match path.strip_prefix(SESSIONS) {
                Some(session) if !session.is_empty() && !session.contains('/') => {
                    self.session(scope, session).await
                }
                _ => Err(StoreError::invalid("the path of a list is by-session/{chat}")),
            }
        })
    }

    fn write<'a>(&'a self, scope: &'a Scope, path: &'a str, entry: AfsEntry) -> StoreFuture<'a, AfsEntry> {
        Box::pin(async move {
            let session = path.strip_prefix(SESSIONS).and_then(|rest| rest.strip_suffix("/new"));
            match session {
                Some(session) if !session.is_empty() && !session.contains('/') => {
                    self.write_new(scope, session, entry).await
                }
                _ => Err(StoreError::invalid("the path of a write is by-session/{chat}/new")),
            }
        })
    }
}

impl fmt::Debug for AfsHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfsHistory").finish_non_exhaustive()
    }
}

fn is_entry(id: &str) -> bool {
    id.starts_with(ENTRY)
}

fn state_id(instance: &str) -> Text {
    format!("{ENTRY}state/{instance}").into()
}

fn render_id(id: &str) -> Text {
    format!("{ENTRY}render/{id}").into()
}

fn state_path(session: &str, instance: &str) -> Text {
    format!("{session}/component-state/{instance}").into()
}

fn message_path(session: &str, id: &str) -> Text {
    format!("{session}/messages/{id}").into()
}

fn refused(refusal: &NotSaved) -> StoreError {
    StoreError::invalid(format!("the conversation was not changed: {refusal:?}"))
}

/// Returns a random time, which grows with the attempts.
fn pause(attempt: u32) -> Duration {
    let longest = MAX_PAUSE.min(Duration::from_millis(1 << attempt.min(16)));
    longest.mul_f64(f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX))
}

/// Returns the ids of the messages on the branch that is shown.
fn shown(conversation: &Conversation) -> HashSet<Text> {
    let mut next = conversation.info.head.clone();
    let mut shown = HashSet::new();
    // A message is saved after its parent.
    for message in conversation.messages.iter().rev() {
        if next.as_ref() == Some(&message.id) {
            next.clone_from(&message.parent);
            shown.insert(message.id.clone());
        }
    }
    shown
}

fn read_stored(scope: &Scope, session: &str, stored: &StoredMessage) -> Result<AfsEntry, StoreError> {
    match stored.id.strip_prefix(ENTRY) {
        Some(entry) => {
            let path = match entry.split_once('/') {
                Some(("state", instance)) => state_path(session, instance),
                Some((_, id)) => message_path(session, id),
                None => message_path(session, entry),
            };
            AfsEntry::from_body(path, &stored.body)
        }
        None => read_message(scope, session, stored),
    }
}

/// Reads a message of the chat, with its text as `content`.
fn read_message(scope: &Scope, session: &str, stored: &StoredMessage) -> Result<AfsEntry, StoreError> {
    let message: Value = serde_json::from_slice(&stored.body).map_err(StoreError::corrupt)?;
    let parts = message.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = parts.iter().filter(|part| part.get("type").and_then(Value::as_str) == Some("text"));
    let text: String = text.filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    let content = json!({ "role": message.get("role"), "content": text, "parts": parts });
    let mut entry = AfsEntry::new(content)
        .with("type", "message")
        .with("timestamp", iso(stored.created_ms))
        .with("userId", scope.owner())
        .with("sessionId", session);
    entry.path = message_path(session, &stored.id);
    Ok(entry)
}
