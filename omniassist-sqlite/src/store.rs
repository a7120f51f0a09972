use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use omniassist_server::core::Text;
use omniassist_server::failpoint;
use omniassist_server::store::{
    Appended, Beat, Begun, Change, Claim, Claimed, Conversation, ConversationKey, ConversationStore, Delete,
    Deleted, Durability, InstanceId, KeyOf, KeyStore, Listing, NewRun, OpenRun, Page, Retention, RunHead,
    RunId, RunStore, Saved, Scope, Segment, Settled, Signal, Signalled, StoreError, StoreFuture, Swept, Tail,
    TailOf, UsageListing, UsageQuery, Which, Window,
};
use rusqlite::Connection;

use crate::failure::Failure;
use crate::liveness::Liveness;
use crate::readers::Readers;
use crate::writer::Writer;
use crate::{SqliteOptions, conversations, file_system, keys, open, runs, schema, sweep, usage};

/// The number of conversations that are deleted in one transaction, so that other writes do not wait for all of them.
const BATCH: usize = 100;

/// A store of runs and conversations in a SQLite file.
///
/// Clones share the connections. When the last one is dropped, writes that have begun are completed by a thread, which then
/// closes the file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    _liveness: Arc<Liveness>,
}

impl SqliteStore {
    /// Opens a file, creates it if there is none, and brings its tables to the version of this crate.
    ///
    /// The call blocks while another process migrates the file, for 5 s at most.
    ///
    /// # Errors
    ///
    /// The error tells the cause, and its source the path:
    ///
    /// - [unavailable](StoreError::is_unavailable): the file cannot be opened, or another process locks it for too long;
    /// - [full](StoreError::is_full): the disk has no room for the tables;
    /// - [read-only](StoreError::is_read_only): the file or its folder cannot be written to;
    /// - [corrupt](StoreError::is_corrupt): the file is not a database, or is damaged;
    /// - [incompatible](StoreError::is_incompatible): the file is of another program or needs a newer version, or is on
    ///   a network file system (which Linux alone tells), or on one without the shared memory of a write-ahead log.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::options().open(path)
    }

    /// Returns the settings, with which a file can be opened otherwise.
    pub fn options() -> SqliteOptions {
        SqliteOptions::default()
    }

    fn open_with(path: &Path, options: &SqliteOptions) -> Result<Self, Failure> {
        file_system::check(path)?;
        // Before the database, since SQLite does not tell why it cannot create a file.
        let liveness = Liveness::open(path)?;
        let mut connection = open::writer(path, options)?;
        failpoint::hit("file.opened");
        schema::migrate(&mut connection)?;
        failpoint::hit("file.migrated");
        liveness.enter(|| {
            connection.execute("delete from instance", [])?;
            Ok::<_, Failure>(())
        })?;
        failpoint::hit("file.entered");
        let writer = Writer::start(connection, options.busy_timeout)?;
        Ok(Self {
            writer: Arc::new(writer),
            readers: Readers::new(path, options),
            _liveness: Arc::new(liveness),
        })
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.readers.path()
    }

    pub(crate) fn on_writer<T: Send + 'static>(
        &self,
        how: Durability,
        work: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move { Ok(self.writer.write(how, work).await?) })
    }

    /// Deletes on the writer. The log is cleared if the function returns `true` for the result.
    fn deletes<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Failure> + Send + 'static,
        has_deleted: fn(&T) -> bool,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move { Ok(self.writer.delete(work, has_deleted).await?) })
    }

    fn on_reader<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        Box::pin(async move { Ok(self.readers.read(work).await?) })
    }
}

impl SqliteOptions {
    /// Opens a file, as [`SqliteStore::open`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SqliteStore::open`]. One is [full](StoreError::is_full) if the tables need more than the limit.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path.as_ref(), self).map_err(|failure| failure.of_file(path.as_ref()))
    }
}

impl RunStore for SqliteStore {
    fn begin<'a>(&'a self, new: &'a NewRun) -> StoreFuture<'a, Begun> {
        let new = new.clone();
        Box::pin(async move {
            match self.writer.write(Durability::Hard, move |connection| runs::begin(connection, &new)).await {
                Err(Failure::Refused(refused)) => Ok(Begun::Refused(refused)),
                begun => Ok(begun?),
            }
        })
    }

    fn append<'a>(&'a self, batch: &'a [Segment], how: Durability) -> StoreFuture<'a, Vec<Appended>> {
        let batch = batch.to_vec();
        self.on_writer(how, move |connection| {
            batch.iter().map(|segment| runs::append(connection, segment)).collect()
        })
    }

    fn read<'a>(&'a self, tails: &'a [TailOf], max_bytes: usize) -> StoreFuture<'a, Vec<Option<Tail>>> {
        let tails = tails.to_vec();
        self.on_reader(move |connection| {
            tails.iter().map(|of| runs::tail(connection, of, max_bytes)).collect()
        })
    }

    fn find<'a>(&'a self, scope: &'a Scope, which: Which<'a>) -> StoreFuture<'a, Option<RunHead>> {
        let scope = scope.clone();
        match which {
            Which::Chat(chat) => {
                let chat = chat.to_owned();
                self.on_reader(move |connection| runs::find(connection, &scope, Which::Chat(&chat)))
            }
            Which::Post { chat, key } => {
                let (chat, key) = (chat.to_owned(), key.to_vec());
                let which = move |connection: &Connection| {
                    runs::find(connection, &scope, Which::Post { chat: &chat, key: &key })
                };
                self.on_reader(which)
            }
            Which::Run(run) => {
                self.on_reader(move |connection| runs::find(connection, &scope, Which::Run(run)))
            }
            _ => Box::pin(async { Err(StoreError::invalid("an unknown kind of question for a run")) }),
        }
    }

    fn open_runs<'a>(&'a self, scope: &'a Scope, chats: &'a [Text]) -> StoreFuture<'a, Vec<OpenRun>> {
        let (scope, chats) = (scope.clone(), chats.to_vec());
        self.on_reader(move |connection| runs::open_of(connection, &scope, &chats))
    }

    fn settle<'a>(&'a self, end: &'a Settled) -> StoreFuture<'a, Appended> {
        let end = end.clone();
        self.on_writer(Durability::Hard, move |connection| runs::settle(connection, &end))
    }

    fn signal<'a>(&'a self, scope: &'a Scope, run: RunId, signal: &'a Signal) -> StoreFuture<'a, Signalled> {
        let (scope, signal) = (scope.clone(), signal.clone());
        self.on_writer(Durability::Hard, move |connection| runs::signal(connection, &scope, run, &signal))
    }

    fn beat(&self, me: InstanceId, lease: Duration, room: usize) -> StoreFuture<'_, Beat> {
        self.on_writer(Durability::Soft, move |connection| runs::beat(connection, me, lease, room))
    }

    fn claim(&self, run: RunId, me: InstanceId, condition: Claim) -> StoreFuture<'_, Option<Claimed>> {
        self.on_writer(Durability::Hard, move |connection| runs::claim(connection, run, me, condition))
    }

    fn usage<'a>(&'a self, query: &'a UsageQuery, page: &'a Page) -> StoreFuture<'a, UsageListing> {
        let (query, page) = (query.clone(), page.clone());
        self.on_reader(move |connection| usage::list(connection, &query, &page))
    }

    fn delete_usage<'a>(&'a self, scope: &'a Scope) -> StoreFuture<'a, ()> {
        let scope = scope.clone();
        self.deletes(move |connection| usage::delete(connection, &scope), |()| true)
    }

    fn sweep<'a>(&'a self, policy: &'a Retention, at_most: usize) -> StoreFuture<'a, Swept> {
        let policy = policy.clone();
        self.deletes(move |connection| sweep::sweep(connection, &policy, at_most), |swept| !swept.is_empty())
    }
}

impl ConversationStore for SqliteStore {
    fn load<'a>(
        &'a self,
        scope: &'a Scope,
        chat: &'a str,
        window: &'a Window,
    ) -> StoreFuture<'a, Option<Conversation>> {
        let (scope, chat, window) = (scope.clone(), chat.to_owned(), window.clone());
        self.on_reader(move |connection| conversations::load(connection, &scope, &chat, &window))
    }

    fn save<'a>(&'a self, scope: &'a Scope, chat: &'a str, change: &'a Change) -> StoreFuture<'a, Saved> {
        let (scope, chat, change) = (scope.clone(), chat.to_owned(), change.clone());
        let save = move |connection: &Connection| conversations::save(connection, &scope, &chat, &change);
        Box::pin(async move {
            match self.writer.write(Durability::Hard, save).await {
                Err(Failure::Refused(refused)) => Ok(Saved::Refused(refused)),
                version => Ok(Saved::Version(version?)),
            }
        })
    }

    fn list<'a>(&'a self, scope: &'a Scope, page: &'a Page) -> StoreFuture<'a, Listing> {
        let (scope, page) = (scope.clone(), page.clone());
        self.on_reader(move |connection| conversations::list(connection, &scope, &page))
    }

    fn delete<'a>(&'a self, scope: &'a Scope, what: Delete<'a>) -> StoreFuture<'a, Deleted> {
        let scope = scope.clone();
        match what {
            Delete::Chat(chat) => {
                let chat = chat.to_owned();
                let delete = move |connection: &Connection| conversations::delete(connection, &scope, &chat);
                self.deletes(delete, |deleted| deleted.conversations > 0)
            }
            Delete::Everything => Box::pin(async move {
                let mut all = Deleted::default();
                loop {
                    let scope = scope.clone();
                    let batch =
                        move |connection: &Connection| conversations::delete_batch(connection, &scope, BATCH);
                    let deleted = self.deletes(batch, |deleted| deleted.conversations > 0).await?;
                    all.conversations += deleted.conversations;
                    all.runs.extend(deleted.runs);
                    if deleted.conversations == 0 {
                        return Ok(all);
                    }
                }
            }),
            _ => Box::pin(async { Err(StoreError::invalid("an unknown kind of deletion")) }),
        }
    }
}

impl KeyStore for SqliteStore {
    fn key<'a>(&'a self, of: KeyOf<'a>) -> StoreFuture<'a, Option<ConversationKey>> {
        match of {
            KeyOf::Chat(scope, chat) => {
                let (scope, chat) = (scope.clone(), chat.to_owned());
                self.on_reader(move |connection| keys::key(connection, KeyOf::Chat(&scope, &chat)))
            }
            KeyOf::Run(run) => self.on_reader(move |connection| keys::key(connection, KeyOf::Run(run))),
            _ => Box::pin(async { Err(StoreError::invalid("an unknown kind of question for a key")) }),
        }
    }

    fn keys<'a>(
        &'a self,
        after: Option<&'a ConversationKey>,
        at_most: usize,
    ) -> StoreFuture<'a, Vec<ConversationKey>> {
        let after = after.cloned();
        self.on_reader(move |connection| keys::keys(connection, after.as_ref(), at_most))
    }

    fn replace_key<'a>(&'a self, known: &'a ConversationKey, new: &'a Bytes) -> StoreFuture<'a, bool> {
        let (known, new) = (known.clone(), new.clone());
        // A copy of the log would have the key as it was wrapped before.
        self.deletes(move |connection| keys::replace(connection, &known, &new), |replaced| *replaced)
    }
}
