use std::collections::HashSet;
use std::fmt;
use std::mem;
use std::sync::Arc;

use omniassist_core::message::{Message, Role};
use omniassist_core::{Error, Text};

use super::message::{message, message_id};
use crate::Principal;
use crate::engine::Assistant;
use crate::engine::stores::journal;
use crate::engine::stores::refused;
use crate::engine::stores::{DELETED, Stores};
use crate::store::{
    Branch, Change, ConversationInfo, Delete, Deleted, Hint, Listing, NotSaved, OpenRun, Page, RunHead,
    RunState, Saved, Scope, Signal, SignalKind, StoreError, StoredMessage, Which, Window,
};

/// The conversations whose runs are looked for at once.
const PAGE: usize = 100;

/// The number of times that a change is made again after the conversation has changed.
const TRIES: usize = 8;

impl Assistant {
    /// Returns the stored conversations, or `None` without a [store](crate::AssistantBuilder::store).
    #[must_use]
    pub fn conversations(&self) -> Option<Conversations> {
        self.stores().map(|stores| Conversations { stores: Arc::clone(stores) })
    }
}

/// The stored conversations of an [`Assistant`], for handlers and jobs of the application. A clone is another handle to
/// them.
///
/// A principal has only its own conversations. An anonymous one has none, since its chats are not stored.
///
/// ```
/// use omniassist_server::core::RunRequest;
/// use omniassist_server::store::{MemoryStore, Page};
/// use omniassist_server::testing::ScriptedProvider;
/// use omniassist_server::{Assistant, Principal};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let assistant = Assistant::builder(ScriptedProvider::new()).store(MemoryStore::new()).build()?;
/// let conversations = assistant.conversations().ok_or("the assistant has no store")?;
///
/// let ada = Principal::new("ada");
/// let page = conversations.list(&ada, &Page::first(20)).await?;
/// assert!(page.conversations.is_empty());
/// assert!(!conversations.rename(&ada, "chat-1", "Order 17").await?);
///
/// // Before the account of a user is deleted:
/// conversations.forget(&ada).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Conversations {
    pub(in crate::engine::stored) stores: Arc<Stores>,
}

/// A part of a stored conversation, with its messages.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedConversation {
    /// The conversation.
    pub info: ConversationInfo,
    /// Its messages, the oldest first.
    pub messages: Vec<LoadedMessage>,
    /// `true` if the branch has messages before these.
    pub more: bool,
}

/// A message of a stored conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadedMessage {
    /// The message.
    pub message: Message,
    /// The message before it; `None` for a first message.
    pub parent: Option<Text>,
    /// The time of the first save, in milliseconds since 1970.
    pub created_ms: u64,
}

impl LoadedMessage {
    fn read(stored: StoredMessage) -> Result<Self, StoreError> {
        Ok(Self { message: message(&stored)?, parent: stored.parent, created_ms: stored.created_ms })
    }
}

impl Conversations {
    /// Returns the conversations of a principal, the one that changed last first.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read, and an [invalid](StoreError::is_invalid) one if the page's cursor is not one
    /// of the store.
    pub async fn list(&self, principal: &Principal, page: &Page) -> Result<Listing, StoreError> {
        match Scope::of(principal) {
            Some(scope) => self.stores.conversations.list(&scope, page).await,
            None => Ok(Listing::default()),
        }
    }

    /// Returns a part of a conversation, or `None` if the principal has none of this name. The message of a run in progress
    /// is part of it once the run has ended or waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversation cannot be read.
    pub async fn load(
        &self,
        principal: &Principal,
        chat: &str,
        window: &Window,
    ) -> Result<Option<LoadedConversation>, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(None) };
        self.load_of(&scope, chat, window).await
    }

    pub(super) async fn load_of(
        &self,
        scope: &Scope,
        chat: &str,
        window: &Window,
    ) -> Result<Option<LoadedConversation>, StoreError> {
        let Some(mut found) = self.stores.conversations.load(scope, chat, window).await? else {
            return Ok(None);
        };
        let mut stored = mem::take(&mut found.messages);
        let mut first = stored.first().map(|first| first.id.clone());
        stored.retain(|stored| !stored.is_entry());
        // Entries of components took places of the window.
        while found.more && stored.len() < window.at_most && first.is_some() {
            let at_most = window.at_most - stored.len();
            let rest = Window { branch: window.branch.clone(), before: first, at_most };
            let Some(earlier) = self.stores.conversations.load(scope, chat, &rest).await? else {
                return Ok(None);
            };
            first = earlier.messages.first().map(|first| first.id.clone());
            found.more = earlier.more;
            stored.splice(0..0, earlier.messages.into_iter().filter(|stored| !stored.is_entry()));
        }
        let messages = stored.into_iter().map(LoadedMessage::read).collect::<Result<_, _>>()?;
        Ok(Some(LoadedConversation { info: found.info, messages, more: found.more }))
    }

    /// Sets the title of a conversation. Returns `false` if the principal has none of this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the title cannot be saved.
    pub async fn rename(
        &self,
        principal: &Principal,
        chat: &str,
        title: impl Into<Text> + Send,
    ) -> Result<bool, StoreError> {
        let change = Change { title: Some(title.into()), ..Change::default() };
        Ok(matches!(self.change(principal, chat, change).await?, Some(Saved::Version(_))))
    }

    /// Changes a conversation: its title, its head, its [`meta`](Change::meta), its messages. Returns `None` if the principal
    /// has none of this name. A run that ends afterwards shows the branch of its own message.
    ///
    /// # Errors
    ///
    /// Returns an error if the change cannot be saved.
    pub async fn change(
        &self,
        principal: &Principal,
        chat: &str,
        mut change: Change,
    ) -> Result<Option<Saved>, StoreError> {
        let expected = change.version;
        for _ in 0..TRIES {
            let Some(info) = self.info(principal, chat).await? else { return Ok(None) };
            let Some(scope) = Scope::of(principal) else { return Ok(None) };
            // Without the version, a conversation that was deleted meanwhile would be created again.
            change.version = Some(expected.unwrap_or(info.version));
            match self.stores.conversations.save(&scope, chat, &change).await? {
                Saved::Refused(NotSaved::Conflict(_)) if expected.is_none() => {}
                Saved::Refused(NotSaved::Deleted) => return Ok(None),
                saved => return Ok(Some(saved)),
            }
        }
        Err(StoreError::unavailable("the conversation changed during each try"))
    }

    /// Deletes a conversation with its messages, runs and journals. Its run in progress ends. Returns `false` if the
    /// principal has none of this name.
    ///
    /// With [`conversations`](crate::AssistantBuilder::conversations) in tables of the application, its runs are stopped, and
    /// their journals are deleted after the time of [`Retention::journals`](crate::store::Retention::journals).
    ///
    /// The name is kept for the time of [`Retention::tombstones`](crate::store::Retention::tombstones). A post of a page that
    /// still shows the conversation is answered with 410 `chat_deleted`.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversation cannot be deleted.
    pub async fn delete(&self, principal: &Principal, chat: &str) -> Result<bool, StoreError> {
        Ok(self.delete_what(principal, Delete::Chat(chat)).await?.conversations > 0)
    }

    /// Deletes all conversations of a principal, as [`delete`](Self::delete) does, and its [usage](Assistant::usage).
    /// Returns the number of conversations.
    ///
    /// Other data under the principal's id is not deleted: the names of the conversations until the end of
    /// [`Retention::tombstones`](crate::store::Retention::tombstones), the tokens of a budget in the store until the day
    /// after, stored files, and the application's logs and audit log.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be deleted.
    pub async fn forget(&self, principal: &Principal) -> Result<usize, StoreError> {
        let deleted = self.delete_what(principal, Delete::Everything).await?;
        if let Some(scope) = Scope::of(principal) {
            self.stores.runs.delete_usage(&scope).await?;
        }
        Ok(deleted.conversations)
    }

    async fn delete_what(&self, principal: &Principal, what: Delete<'_>) -> Result<Deleted, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(Deleted::default()) };
        if !self.stores.is_one {
            self.stop_runs(&scope, what).await?;
        }
        let deleted = self.stores.conversations.delete(&scope, what).await?;
        // Their journals are gone, so they can do nothing more. To wait for that costs tokens.
        for run in &deleted.runs {
            self.stores.abort(*run, DELETED);
            self.stores.hint(Hint::Signalled(*run));
        }
        Ok(deleted)
    }

    /// Stops the runs of conversations that are about to be deleted in a store that does not have the runs.
    async fn stop_runs(&self, scope: &Scope, what: Delete<'_>) -> Result<(), StoreError> {
        let Stores { runs, conversations, .. } = &*self.stores;
        let (mut page, mut stopped, mut has_found) = (Page::first(PAGE), HashSet::new(), false);
        loop {
            let (chats, next) = match what {
                Delete::Chat(chat) => (vec![chat.into()], None),
                Delete::Everything => {
                    let listing = conversations.list(scope, &page).await?;
                    (listing.conversations.into_iter().map(|info| info.chat).collect(), listing.next)
                }
            };
            for open in runs.open_runs(scope, &chats).await? {
                if stopped.insert(open.run) {
                    has_found = true;
                    runs.signal(scope, open.run, &Signal::new(SignalKind::Stop, scope.owner())).await?;
                    self.stores.abort(open.run, DELETED);
                    self.stores.hint(Hint::Signalled(open.run));
                }
            }
            page.cursor = next;
            // A conversation that changes moves to the first page, so the list is read until it has no other run.
            if page.cursor.is_none() && !mem::take(&mut has_found) {
                return Ok(());
            }
        }
    }

    /// Returns a conversation without its messages.
    pub(crate) async fn info(
        &self,
        principal: &Principal,
        chat: &str,
    ) -> Result<Option<ConversationInfo>, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(None) };
        let window = Window { at_most: 0, ..Window::default() };
        let found = self.stores.conversations.load(&scope, chat, &window).await?;
        Ok(found.map(|conversation| conversation.info))
    }

    /// Returns the runs of chats that have not ended.
    pub(crate) async fn open_runs(
        &self,
        principal: &Principal,
        chats: &[Text],
    ) -> Result<Vec<OpenRun>, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(Vec::new()) };
        self.stores.runs.open_runs(&scope, chats).await
    }

    /// Returns the run of a chat that has not ended.
    pub(crate) async fn live_run(
        &self,
        principal: &Principal,
        chat: &str,
    ) -> Result<Option<RunHead>, StoreError> {
        let Some(scope) = Scope::of(principal) else { return Ok(None) };
        let head = self.stores.runs.find(&scope, Which::Chat(chat)).await?;
        Ok(head.filter(|head| !head.state.is_ended()))
    }

    /// Loads the part of a conversation that a page shows before it resumes the stream of its run: without the message that
    /// the run writes, which the stream has from its start.
    pub(crate) async fn before_stream(
        &self,
        principal: &Principal,
        chat: &str,
        window: &Window,
    ) -> Result<Option<LoadedConversation>, StoreError> {
        let run = self.live_run(principal, chat).await?;
        let Some(mut loaded) = self.load(principal, chat, window).await? else { return Ok(None) };
        if window.before.is_none()
            && window.branch != Branch::All
            && let Some(run) = run.filter(|run| run.state == RunState::Running)
            && let Some(last) = loaded.messages.last().filter(|last| last.message.role == Role::Assistant)
            && self.is_written(&run, &last.message.id).await?
        {
            loaded.messages.pop();
        }
        Ok(Some(loaded))
    }

    /// Returns `true` if the branch that is shown is that of a run.
    pub(crate) async fn shows(&self, run: &RunHead) -> Result<bool, StoreError> {
        let window = Window { at_most: 1, ..Window::default() };
        let loaded = self.load_of(&run.scope, &run.chat, &window).await?;
        let last = loaded.and_then(|mut loaded| loaded.messages.pop());
        self.is_branch_of(run, last.map(|last| last.message).as_ref()).await
    }

    /// Returns `true` if the branch that ends with this message is that of a run: it has the message of the run, or its
    /// question. Without messages, it is that of each run.
    pub(in crate::engine::stored) async fn is_branch_of(
        &self,
        run: &RunHead,
        last: Option<&Message>,
    ) -> Result<bool, StoreError> {
        let id = message_id(run.run);
        let Some(last) = last.filter(|last| last.id != id) else { return Ok(true) };
        if let Some(question) = self.stores.live_in(run).and_then(|leg| leg.shown.parent) {
            return Ok(last.id == question);
        }
        if last.role == Role::Assistant {
            return self.is_written(run, &last.id).await;
        }
        // Where another instance drives the run, its question is not known. No message of the run follows it yet.
        let window = Window { branch: Branch::Leaf(id), at_most: 1, ..Window::default() };
        let written = self.stores.conversations.load(&run.scope, &run.chat, &window).await?;
        Ok(written.is_none_or(|written| written.messages.is_empty()))
    }

    /// Returns `true` if a run that goes on writes this message.
    async fn is_written(&self, run: &RunHead, id: &Text) -> Result<bool, StoreError> {
        if *id == message_id(run.run) {
            return Ok(true);
        }
        // A run can continue the last message of an imported conversation.
        let continued = match self.stores.live_in(run) {
            Some(leg) => leg.shown.earlier.as_ref().map(|earlier| earlier.id.clone()),
            None => match journal::message_of(&*self.stores.runs, &run.scope, run.run).await {
                Err(error) if error.is_gone() => None,
                found => found?,
            },
        };
        Ok(continued.as_ref() == Some(id))
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations").finish_non_exhaustive()
    }
}

/// Logs the error of a store, and returns the one for the client.
pub(crate) fn store_failed(error: &StoreError) -> Error {
    refused::by_store(error)
}
