use std::collections::{HashSet, VecDeque};
use std::{fmt, mem};

use omniassist_core::{Message, Text};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::conversations::{Conversations, LoadedConversation};
use crate::Principal;
use crate::store::{Branch, ConversationInfo, Page, Scope, StoreError, Window};

/// The number of conversations that are listed at once.
const PAGE: usize = 100;

/// The stored data of a principal, from [`Conversations::export`]. At most one conversation is in memory.
///
/// A conversation that changes during the export may be missing or occur twice.
///
/// ```
/// use omniassist_server::store::StoreError;
/// use omniassist_server::{Conversations, Principal};
///
/// async fn write_out(conversations: Conversations, user: &Principal) -> Result<String, StoreError> {
///     let mut file = String::new();
///     let mut export = conversations.export(user);
///     while let Some(line) = export.next().await? {
///         file.push_str(&line);
///         file.push('\n');
///     }
///     Ok(file)
/// }
/// ```
pub struct Export {
    conversations: Conversations,
    scope: Option<Scope>,
    page: VecDeque<ConversationInfo>,
    /// The cursor of the next page; `None` after the last one.
    next: Option<Option<Text>>,
    exported: HashSet<Text>,
    /// `true` if all pages were read once.
    is_second: bool,
}

impl Conversations {
    /// Exports all conversations of a principal, one line of JSON each, with all branches.
    /// [`Assistant::usage`](crate::Assistant::usage) has its usage.
    #[must_use]
    pub fn export(&self, principal: &Principal) -> Export {
        let (conversations, scope) = (self.clone(), Scope::of(principal));
        let (page, exported) = (VecDeque::new(), HashSet::new());
        Export { conversations, scope, page, next: Some(None), exported, is_second: false }
    }
}

impl Export {
    /// Returns the next conversation as a line of JSON, without a line break. `None` after the last one.
    ///
    /// The object has `id`, `title`, `head`, `createdAt`, `updatedAt`, the application's `meta` and the `messages` of all
    /// branches. A message has the form of the AI SDK, with its `parentId` and `createdAt`. Its `metadata.usage` is the
    /// usage of the run that wrote it. Times are in milliseconds since 1970.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversation cannot be read. The next call tries again, or goes on with the next conversation if
    /// the content is [corrupt](StoreError::is_corrupt) or its [key is missing](StoreError::is_missing_key).
    pub async fn next(&mut self) -> Result<Option<String>, StoreError> {
        let Some(scope) = self.scope.clone() else { return Ok(None) };
        loop {
            if let Some(info) = self.page.front() {
                let window = Window { branch: Branch::All, ..Window::default() };
                let loaded = match self.conversations.load_of(&scope, &info.chat, &window).await {
                    Err(error) if !error.is_corrupt() && !error.is_missing_key() => return Err(error),
                    loaded => loaded,
                };
                self.exported.extend(self.page.pop_front().map(|info| info.chat));
                match loaded? {
                    Some(loaded) => return line(&loaded).map(Some),
                    // It was deleted meanwhile.
                    None => continue,
                }
            }
            let Some(cursor) = self.next.clone() else { return Ok(None) };
            let page = Page { cursor, at_most: PAGE };
            let listing = self.conversations.stores.conversations.list(&scope, &page).await?;
            self.page = listing.conversations.into();
            self.page.retain(|info| !self.exported.contains(&info.chat));
            // A conversation that changes meanwhile moves before the pages that were read, so they are read twice.
            let again = (listing.next.is_none() && !mem::replace(&mut self.is_second, true)).then_some(None);
            self.next = listing.next.map(Some).or(again);
        }
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").finish_non_exhaustive()
    }
}

/// A line. The messages are not trees of values, which cannot hold all numbers of their JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    id: &'a Text,
    title: &'a Option<Text>,
    head: &'a Option<Text>,
    created_at: u64,
    updated_at: u64,
    meta: Option<Box<RawValue>>,
    messages: Vec<LineMessage<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LineMessage<'a> {
    #[serde(flatten)]
    message: &'a Message,
    parent_id: &'a Option<Text>,
    created_at: u64,
}

fn line(loaded: &LoadedConversation) -> Result<String, StoreError> {
    let info = &loaded.info;
    let meta = info
        .meta
        .as_ref()
        .map(|meta| serde_json::from_slice(meta).or_else(|_| to_raw_value(&String::from_utf8_lossy(meta))));
    let messages = loaded.messages.iter().map(|one| LineMessage {
        message: &one.message,
        parent_id: &one.parent,
        created_at: one.created_ms,
    });
    let line = Line {
        id: &info.chat,
        title: &info.title,
        head: &info.head,
        created_at: info.created_ms,
        updated_at: info.updated_ms,
        meta: meta.transpose().map_err(StoreError::other)?,
        messages: messages.collect(),
    };
    serde_json::to_string(&line).map_err(StoreError::other)
}
