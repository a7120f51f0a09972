use std::collections::VecDeque;
use std::fmt;

use omniassist_core::Text;
use serde_json::{Value, json};

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
}

impl Conversations {
    /// Exports all conversations of a principal, one line of JSON each, with all branches. [`Assistant::usage`](crate::Assistant::usage) has its
    /// usage.
    #[must_use]
    pub fn export(&self, principal: &Principal) -> Export {
        let (conversations, scope) = (self.clone(), Scope::of(principal));
        Export { conversations, scope, page: VecDeque::new(), next: Some(None) }
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
    /// Returns an error if the conversation cannot be read. The next call tries again.
    pub async fn next(&mut self) -> Result<Option<String>, StoreError> {
        let Some(scope) = self.scope.clone() else { return Ok(None) };
        loop {
            if let Some(info) = self.page.front() {
                let window = Window { branch: Branch::All, ..Window::default() };
                let loaded = self.conversations.load_of(&scope, &info.chat, &window).await?;
                self.page.pop_front();
                match loaded {
                    Some(loaded) => return line(&loaded).map(Some),
                    // It was deleted meanwhile.
                    None => continue,
                }
            }
            let Some(cursor) = self.next.clone() else { return Ok(None) };
            let page = Page { cursor, at_most: PAGE };
            let listing = self.conversations.stores.conversations.list(&scope, &page).await?;
            self.page = listing.conversations.into();
            self.next = listing.next.map(Some);
        }
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export").finish_non_exhaustive()
    }
}

fn line(loaded: &LoadedConversation) -> Result<String, StoreError> {
    let mut messages = Vec::new();
    for one in &loaded.messages {
        let mut message = serde_json::to_value(&one.message).map_err(StoreError::other)?;
        if let Value::Object(message) = &mut message {
            message.insert("parentId".to_owned(), json!(one.parent));
            message.insert("createdAt".to_owned(), one.created_ms.into());
        }
        messages.push(message);
    }
    let info = &loaded.info;
    let meta: Option<Value> = info.meta.as_ref().map(|meta| {
        serde_json::from_slice(meta).unwrap_or_else(|_| String::from_utf8_lossy(meta).into_owned().into())
    });
    let conversation = json!({
        "id": info.chat,
        "title": info.title,
        "head": info.head,
        "createdAt": info.created_ms,
        "updatedAt": info.updated_ms,
        "meta": meta,
        "messages": messages,
    });
    Ok(conversation.to_string())
}
