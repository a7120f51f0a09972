use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::content::ContentKey;
use super::keys::EncryptionKeys;
use super::run_keys::RunKeys;
use crate::store::{KeyOf, KeyStore, RunHead, RunId, Scope, StoreError};

/// The number of keys that are wrapped anew at once.
const PAGE: usize = 256;

/// A store whose content is encrypted. [The module](super) describes what is, and how keys are rotated.
///
/// It is a [`RunStore`](crate::store::RunStore) and a [`ConversationStore`](crate::store::ConversationStore) if the store
/// below is one.
#[derive(Clone)]
pub struct Encrypted<S> {
    pub(super) store: S,
    pub(super) keys: EncryptionKeys,
    pub(super) run_keys: Arc<RunKeys>,
}

impl<S> Encrypted<S> {
    /// Encrypts what is written to a store.
    #[must_use]
    pub fn new(store: S, keys: EncryptionKeys) -> Self {
        Self { store, keys, run_keys: Arc::default() }
    }

    /// Returns the store below, whose content is encrypted.
    pub const fn inner(&self) -> &S {
        &self.store
    }
}

impl<S: KeyStore> Encrypted<S> {
    /// Wraps the data keys of all conversations with the current key, and returns the number of those that another key
    /// wrapped. Content is not written again, and servers can use the store meanwhile.
    ///
    /// After it, previous keys are needed no more, except for backups.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, and a [missing key](StoreError::is_missing_key) error if a data key cannot be
    /// unwrapped. All others are wrapped then. The call can be repeated.
    pub async fn rewrap(&self) -> Result<usize, StoreError> {
        let (mut last, mut count, mut failed) = (None, 0, None);
        loop {
            let page = self.store.keys(last.as_ref(), PAGE).await?;
            let Some(end) = page.last().cloned() else { return failed.map_or(Ok(count), Err) };
            for known in &page {
                match self.keys.rewrap(known) {
                    Ok(Some(new)) => count += usize::from(self.store.replace_key(known, &new).await?),
                    Ok(None) => {}
                    Err(error) => failed = Some(error),
                }
            }
            last = Some(end);
        }
    }

    /// Returns the wrapped key of a conversation and the data key, new ones if there is no such conversation.
    pub(super) async fn key_of_chat(
        &self,
        scope: &Scope,
        chat: &str,
    ) -> Result<(Option<Bytes>, ContentKey), StoreError> {
        match self.store.key(KeyOf::Chat(scope, chat)).await? {
            Some(found) => {
                let key = self.keys.open(scope, chat, found.key.as_ref())?;
                Ok((found.key, key))
            }
            None => {
                let (wrapped, key) = self.keys.create(scope, chat)?;
                Ok((Some(wrapped), key))
            }
        }
    }

    /// Returns the data key of a run's conversation, or `None` if there is no such run.
    pub(super) async fn key_of_run(&self, run: RunId) -> Result<Option<ContentKey>, StoreError> {
        if let Some(key) = self.run_keys.get(run) {
            return Ok(Some(key));
        }
        let Some(found) = self.store.key(KeyOf::Run(run)).await? else { return Ok(None) };
        let key = self.keys.open(&found.scope, &found.chat, found.key.as_ref())?;
        self.run_keys.insert(run, &key);
        Ok(Some(key))
    }

    /// Decrypts the questions of a run.
    pub(super) async fn open_head(&self, mut head: RunHead) -> Result<RunHead, StoreError> {
        if head.obligations.is_empty() {
            return Ok(head);
        }
        match self.key_of_run(head.run).await? {
            Some(key) => {
                for question in &mut head.obligations {
                    key.open_question(head.run, question);
                }
            }
            // The run was deleted meanwhile.
            None => head.obligations.clear(),
        }
        Ok(head)
    }
}

impl<S: fmt::Debug> fmt::Debug for Encrypted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted")
            .field("store", &self.store)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

/// Returns the error of a conversation whose key changed during each try.
pub(super) fn key_changed() -> StoreError {
    StoreError::unavailable("the key of the conversation changed during each try")
}

/// The number of tries of a write, while other servers create the conversation or change its key.
pub(super) const TRIES: usize = 4;
