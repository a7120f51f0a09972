use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use omniassist_axum::store::{
    Change, Conversation, ConversationStore, Delete, Deleted, Listing, Page, Saved, Scope, StoreError,
    StoreFuture, Window,
};
use rusqlite::{Connection, Result, Transaction};

use crate::tables;

/// The conversations of the help desk.
#[derive(Debug, Clone)]
pub struct OwnTables(Arc<Mutex<Connection>>);

impl OwnTables {
    /// Opens the database of the help desk.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(tables::SCHEMA)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Works in a transaction, on a thread that may wait for the disk. Work that does not commit leaves nothing.
    pub fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let connection = Arc::clone(&self.0);
        Box::pin(async move {
            let work = tokio::task::spawn_blocking(move || {
                let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                work(connection.transaction()?)
            });
            work.await.map_err(StoreError::unavailable)?.map_err(StoreError::other)
        })
    }
}

impl ConversationStore for OwnTables {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        let (scope, chat, window) = (scope.clone(), chat.to_owned(), window.clone());
        self.transact(move |tables| tables::load(&tables, scope.owner(), &chat, &window))
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        let (scope, chat, change) = (scope.clone(), chat.to_owned(), change.clone());
        self.transact(move |tables| tables::save(tables, scope.owner(), &chat, &change))
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        let (scope, at_most) = (scope.clone(), page.at_most);
        match page.cursor.as_deref().map_or(Ok(0), str::parse) {
            Ok(start) => self.transact(move |tables| tables::list(&tables, scope.owner(), start, at_most)),
            Err(error) => Box::pin(async { Err(StoreError::invalid(error)) }),
        }
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        let scope = scope.clone();
        let chat = match what {
            Delete::Chat(chat) => Some(chat.to_owned()),
            Delete::Everything => None,
            _ => return Box::pin(async { Err(StoreError::invalid("an unknown kind of deletion")) }),
        };
        self.transact(move |tables| tables::delete(tables, scope.owner(), chat.as_deref()))
    }
}
