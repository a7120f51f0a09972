use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use omniassist_server::store::{
    Begun, Change, InstanceId, NewRun, RunId, RunStore, Scope, StoredMessage, Writer,
};
use omniassist_server::testing::store::Factory;
use omniassist_server::testing::store::budgets::BudgetFactory;
use omniassist_sqlite::{SqliteStore, SqliteTokenBudget};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) const LEASE: Duration = Duration::from_secs(6);

/// A folder of databases.
pub(crate) struct Folder {
    folder: TempDir,
    created: AtomicU32,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), created: AtomicU32::new(0) }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of a database that does not exist.
    pub(crate) fn path(&self) -> PathBuf {
        let number = self.created.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join(format!("{number}.db"))
    }

    /// Returns the path of the latest database.
    pub(crate) fn last(&self) -> PathBuf {
        self.folder.path().join(format!("{}.db", self.created.load(Ordering::Relaxed) - 1))
    }
}

impl BudgetFactory for Folder {
    type Budget = SqliteTokenBudget;

    async fn create(&self, tokens: u64) -> [SqliteTokenBudget; 2] {
        let path = self.path();
        [(); 2].map(|()| SqliteStore::open(&path).unwrap().token_budget(tokens))
    }

    async fn advance(&self, _budget: &SqliteTokenBudget, by: Duration) {
        let (by, days) = (by.as_millis(), by.as_secs() / 86_400);
        let connection = Connection::open(self.last()).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        let sql = format!(
            "update reservation set expires_at = expires_at - {by}; update budget set day = day - {days};"
        );
        connection.execute_batch(&sql).unwrap();
    }
}

impl Factory for Folder {
    type Store = SqliteStore;

    async fn create(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }

    /// Moves the stored times back, instead of the clock forward.
    async fn advance(&self, store: &SqliteStore, by: Duration) {
        let connection = Connection::open(store.path()).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        let (by, days) = (by.as_millis(), by.as_secs() / 86_400);
        let sql = format!(
            "begin immediate;
             update instance set expires_at = expires_at - {by};
             update run set due_at = due_at - {by}, watched_until = watched_until - {by}, ended_at = ended_at - {by},
               created_at = created_at - {by};
             update signal set received_at = received_at - {by};
             update obligation set expires_at = expires_at - {by};
             update conversation set updated_at = updated_at - {by}, deleted_at = deleted_at - {by};
             update usage_day set day = day - {days};
             commit;"
        );
        connection.execute_batch(&sql).unwrap();
    }
}

pub(crate) fn alice() -> Scope {
    Scope::new("alice")
}

/// Begins a run that answers a message.
pub(crate) async fn begin(store: &impl RunStore, me: InstanceId, chat: &str, text: &str) -> Writer {
    store.beat(me, LEASE, 0).await.unwrap();
    let mut new = NewRun::new(RunId::random(), alice(), chat, me);
    new.change = Some(Change::messages([StoredMessage::new("u1", None, text.to_owned())]));
    let Begun::Started(writer) = store.begin(&new).await.unwrap() else { panic!("the run did not begin") };
    writer
}
