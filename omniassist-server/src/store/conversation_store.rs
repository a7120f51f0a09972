use super::{Change, Conversation, Delete, Deleted, Listing, Page, Saved, Scope, StoreFuture, Window};

/// A store of conversations.
///
/// A conversation belongs to a scope and has a name that its client chose. It is a tree of messages with a head: the end of
/// the branch that is shown. The store keeps what it is given; the assistant decides which posted messages are new.
///
/// An application can implement the trait over its own tables, beside a [`RunStore`](super::RunStore) of another database.
/// The messages of a run are then saved first, at least once, and the run is settled afterwards. Therefore a save repeats
/// without harm: a message is known by its id. The message of a run that goes on or waits belongs to the run, and each save
/// replaces what the application has changed in it.
///
/// The functions of `testing::store` check an implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a store of conversations",
    note = "implement `ConversationStore`, or use a `MemoryStore`"
)]
pub trait ConversationStore: Send + Sync + 'static {
    /// Returns a part of a conversation, or `None` if the owner has none of this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the conversation cannot be read.
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>>;

    /// Saves a change. A conversation that does not exist is created, and one that was deleted is not.
    ///
    /// # Errors
    ///
    /// Returns an error if the change cannot be saved.
    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved>;

    /// Returns the conversations of an owner, the one that changed last first.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be read, or if the page's cursor is not one of this store.
    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing>;

    /// Deletes conversations with all that belongs to them: messages, runs, journals, signals. Their names stay as
    /// tombstones, so that no open page creates them again.
    ///
    /// A store may delete many conversations in several transactions. After an error, some of them may be deleted, and the call
    /// can be repeated.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be deleted.
    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted>;
}
