use bytes::Bytes;
use omniassist_core::Text;

use super::{RunId, Scope, StoreFuture};

/// A store that keeps a wrapped key with each conversation, so that its content can be encrypted.
///
/// The store does not read the keys. It gets them with [`NewRun::key`](super::NewRun::key) and
/// [`Change::key`](super::Change::key), and returns them with [`ConversationInfo::key`](super::ConversationInfo::key). When
/// a conversation is deleted, so is its key.
///
/// `testing::store::keys` checks an implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep the keys of conversations",
    note = "implement `KeyStore`, or encrypt a `MemoryStore`, `SqliteStore` or `PostgresStore`"
)]
pub trait KeyStore: Send + Sync + 'static {
    /// Returns a conversation with its key, or `None` if there is no such conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversation cannot be read.
    fn key<'a>(&'a self, of: KeyOf<'a>) -> StoreFuture<'a, Option<ConversationKey>>;

    /// Returns at most this many conversations of all owners that have a key, in the order of owners and names, from the
    /// one after `after`.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversations cannot be read.
    fn keys<'a>(
        &'a self,
        after: Option<&'a ConversationKey>,
        at_most: usize,
    ) -> StoreFuture<'a, Vec<ConversationKey>>;

    /// Replaces the key of a conversation, or returns `false` if the conversation no longer has the known key. Nothing else
    /// changes, neither the version nor the time of the last save.
    ///
    /// # Errors
    ///
    /// Returns an error if the key cannot be stored.
    fn replace_key<'a>(&'a self, known: &'a ConversationKey, new: &'a Bytes) -> StoreFuture<'a, bool>;
}

/// The conversation whose key is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyOf<'a> {
    /// The conversation of an owner with this name.
    Chat(&'a Scope, &'a str),
    /// The conversation of this run.
    Run(RunId),
}

/// A conversation and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationKey {
    /// The owner.
    pub scope: Scope,
    /// The client's name of the conversation.
    pub chat: Text,
    /// The wrapped key; `None` if the content is not encrypted.
    pub key: Option<Bytes>,
}

impl ConversationKey {
    /// Creates a conversation and its key.
    #[must_use]
    pub fn new(scope: Scope, chat: impl Into<Text>, key: Option<Bytes>) -> Self {
        Self { scope, chat: chat.into(), key }
    }
}
