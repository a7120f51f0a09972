use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationKey, ConversationStore, Delete,
    Deleted, Durability, InstanceId, KeyOf, KeyStore, Listing, NewRun, OpenRun, Page, Retention, RunHead,
    RunId, RunStore, Saved, Scope, Segment, Settled, Signal, Signalled, StoreError, StoreFuture, Swept, Tail,
    TailOf, UsageListing, UsageQuery, Wake, Which, Window,
};

use crate::database::{Connector, Pool};
use crate::failure::Failure;
use crate::hints::Hints;
use crate::runs::Try;
use crate::{PostgresOptions, conversations, keys, runs, schema, sweep, usage};

/// The number of conversations that are deleted in one transaction, whose time is limited.
const BATCH: usize = 100;

/// A store of runs and conversations in a PostgreSQL database.
///
/// Clones share the connections, which are closed when the last one is dropped. A write that has begun may complete after
/// that.
#[derive(Clone)]
pub struct PostgresStore {
    /// Segments and leases, so that neither waits for a transaction with locks.
    journals: Arc<Pool>,
    writers: Arc<Pool>,
    readers: Arc<Pool>,
    hints: Arc<Hints>,
    timeout: Duration,
}

impl PostgresStore {
    /// Connects to a database, and brings its tables to the version of this crate.
    ///
    /// The URL has the form `postgres://user:password@host:port/database`. The form with `key=value`, several hosts and
    /// `target_session_attrs=read-write` are accepted too. `sslmode=require`, `verify-ca` and `verify-full` demand TLS with a
    /// certificate that the system or a [`root_certificate`](PostgresOptions::root_certificate) trusts; without them, the
    /// connection is not encrypted.
    ///
    /// The call waits while another process migrates the tables.
    ///
    /// # Errors
    ///
    /// The error tells the cause:
    ///
    /// - [unavailable](StoreError::is_unavailable): the database cannot be reached, or has no connection left;
    /// - [full](StoreError::is_full): the disk has no room for the tables;
    /// - [read-only](StoreError::is_read_only): the database is a standby, or the user may not create the tables;
    /// - [incompatible](StoreError::is_incompatible): the tables need a newer version or are of another program, or the
    ///   encoding of the database is not UTF-8;
    /// - [invalid](StoreError::is_invalid): the URL, the name of the schema or a root certificate is not valid, or the URL
    ///   demands TLS in a build without it.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::options().connect(url).await
    }

    /// Returns the settings, with which a database can be connected to otherwise.
    pub fn options() -> PostgresOptions {
        PostgresOptions::default()
    }

    /// Returns the SQL of each version of the tables, for applications with a migration tool of their own. The first one
    /// creates the schema. [`PostgresOptions::migrations`] returns it for a schema of another name.
    ///
    /// A store whose tables have the latest version changes nothing when it connects, and needs no right to do so.
    #[must_use]
    pub fn migrations() -> Vec<String> {
        schema::migrations(&Self::options().schema)
    }

    async fn connect_with(url: &str, options: &PostgresOptions) -> Result<Self, Failure> {
        let connector = Arc::new(Connector::new(url, options)?);
        let listener = match &options.listener_url {
            Some(url) => Arc::new(Connector::new(url, options)?),
            None => Arc::clone(&connector),
        };
        let readers = Arc::new(Pool::new(&connector, options.readers));
        let store = Self {
            journals: Arc::new(Pool::new(&connector, 1)),
            writers: Arc::new(Pool::new(&connector, options.writers.saturating_sub(1))),
            hints: Arc::new(Hints::new(&readers, listener)),
            readers,
            timeout: options.timeout,
        };
        schema::migrate(&store.journals).await?;
        Ok(store)
    }

    /// Limits the time of a method.
    pub(crate) fn within<'a, T: Send>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        let timeout = self.timeout;
        Box::pin(async move { Ok(limited(timeout, work).await?) })
    }

    /// Deletes the conversations of an owner in several transactions, each of which has the time of a method.
    async fn delete_all(&self, scope: &Scope) -> Result<Deleted, Failure> {
        let (mut all, mut at_most) = (Deleted::default(), BATCH);
        loop {
            let batch = async {
                let transaction = self.writers.transaction().await?;
                conversations::delete(transaction, scope, None, at_most).await
            };
            match limited(self.timeout, batch).await {
                Ok(deleted) => {
                    all.conversations += deleted.conversations;
                    all.runs.extend(deleted.runs);
                    if deleted.conversations < at_most {
                        return Ok(all);
                    }
                }
                Err(failure) if failure.is_timeout() && at_most > 1 => at_most /= 2,
                Err(failure) => return Err(failure),
            }
        }
    }
}

impl PostgresStore {
    /// Returns the connections of short transactions.
    pub(crate) fn writers(&self) -> &Pool {
        &self.writers
    }
}

async fn limited<T>(timeout: Duration, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(timeout, work).await.unwrap_or(Err(Failure::TooSlow(timeout)))
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", &self.readers.connector().schema())
            .finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Connects to a database, as [`PostgresStore::connect`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`PostgresStore::connect`].
    pub async fn connect(&self, url: &str) -> Result<PostgresStore, StoreError> {
        PostgresStore::connect_with(url, self).await.map_err(StoreError::from)
    }

    /// Returns the SQL of each version of the tables, as [`PostgresStore::migrations`] does.
    #[must_use]
    pub fn migrations(&self) -> Vec<String> {
        schema::migrations(&self.schema)
    }
}

impl RunStore for PostgresStore {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        self.within(async move { runs::begin(self.writers.transaction().await?, new).await })
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        self.within(async move { runs::append(self.journals.transaction().await?, batch, how).await })
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        self.within(runs::tails(&self.readers, tails, max_bytes))
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        self.within(runs::find(&self.readers, scope, which))
    }

    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        self.within(runs::open_of(&self.readers, scope, chats))
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        self.within(async move { runs::settle(self.writers.transaction().await?, end).await })
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        self.within(async move { runs::signal(self.writers.transaction().await?, scope, run, signal).await })
    }

    fn watch<'a>(&'a self, runs: &'a [(Scope, RunId)], time: Duration) -> StoreFuture<'a, ()> {
        self.within(async move { runs::watch(self.writers.transaction().await?, runs, time).await })
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        self.within(async move { runs::beat(self.journals.transaction().await?, me, lease, room).await })
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        self.within(async move {
            loop {
                let transaction = self.writers.transaction().await?;
                if let Try::Done(claimed) = runs::claim(transaction, run, me, condition).await? {
                    return Ok(claimed.map(|claimed| *claimed));
                }
            }
        })
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        self.within(usage::list(&self.readers, query, page))
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        self.within(async move { usage::delete(self.writers.transaction().await?, scope).await })
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        Box::pin(async move {
            let rest = async { sweep::sweep(self.writers.transaction().await?, policy, at_most).await };
            let mut swept = limited(self.timeout, rest).await?;
            // If this fails, the sweeps pause, so nothing else must be left.
            let counts = [swept.journals, swept.usage, swept.tombstones];
            let has_more = counts.into_iter().any(|count| count >= at_most);
            if let Some(idle) = policy.conversations.filter(|_| !has_more) {
                let conversations = async {
                    sweep::sweep_conversations(self.writers.transaction().await?, idle, at_most).await
                };
                swept.conversations = limited(self.timeout, conversations).await?;
            }
            Ok(swept)
        })
    }

    fn hints(&self) -> Option<Arc<dyn Wake>> {
        Some(Arc::clone(&self.hints) as Arc<dyn Wake>)
    }
}

impl ConversationStore for PostgresStore {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        self.within(conversations::load(&self.readers, scope, chat, window))
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        self.within(async move {
            let saved = conversations::save(self.writers.transaction().await?, scope, chat, change).await?;
            Ok(saved.map_or_else(Saved::Refused, Saved::Version))
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        self.within(conversations::list(&self.readers, scope, page))
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        match what {
            Delete::Chat(chat) => self.within(async move {
                conversations::delete(self.writers.transaction().await?, scope, Some(chat), 1).await
            }),
            Delete::Everything => Box::pin(async move { Ok(self.delete_all(scope).await?) }),
            _ => Box::pin(async { Err(StoreError::invalid("an unknown kind of deletion")) }),
        }
    }
}

impl KeyStore for PostgresStore {
    fn key<'a>(&'a self, of: KeyOf<'a>) -> StoreFuture<'a, Option<ConversationKey>> {
        self.within(keys::key(&self.readers, of))
    }

    fn keys<'a>(
        &'a self,
        after: Option<&'a ConversationKey>,
        at_most: usize,
    ) -> StoreFuture<'a, Vec<ConversationKey>> {
        self.within(keys::keys(&self.readers, after, at_most))
    }

    fn replace_key<'a>(&'a self, known: &'a ConversationKey, new: &'a Bytes) -> StoreFuture<'a, bool> {
        self.within(async move { keys::replace(self.writers.transaction().await?, known, new).await })
    }
}
