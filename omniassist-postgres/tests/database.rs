use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use omniassist_postgres::{PostgresStore, PostgresTokenBudget};
use omniassist_server::testing::store::Factory;
use omniassist_server::testing::store::budgets::BudgetFactory;
use omniassist_test_databases::Postgres;

/// Returns the URL of the database that tests share, each with a schema of its own.
pub(crate) fn shared() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| Postgres::shared().create_database())
}

/// Returns a name that no other schema has.
pub(crate) fn new_schema() -> String {
    static CREATED: AtomicU32 = AtomicU32::new(0);
    format!("Test schema {}", CREATED.fetch_add(1, Ordering::Relaxed))
}

/// Connects to the schema, on a machine that compiles meanwhile.
pub(crate) async fn connect(schema: &str) -> PostgresStore {
    connect_at(shared(), schema).await
}

pub(crate) async fn connect_at(url: &str, schema: &str) -> PostgresStore {
    let slow = Duration::from_secs(30);
    PostgresStore::options().schema(schema).timeout(slow).connect_timeout(slow).connect(url).await.unwrap()
}

/// Creates stores, each in a schema of its own.
pub(crate) struct Schemas {
    url: String,
    /// The schema of the latest store.
    latest: Mutex<String>,
}

impl Default for Schemas {
    fn default() -> Self {
        Self::at(shared().to_owned())
    }
}

impl Schemas {
    /// Returns schemas of the shared database under another URL.
    pub(crate) fn at(url: String) -> Self {
        Self { url, latest: Mutex::default() }
    }

    /// Executes statements in the schema of the latest store, and returns what they print.
    fn execute(&self, statements: &str) -> String {
        let schema = self.latest.lock().unwrap();
        execute(&schema, statements)
    }
}

/// Executes statements in a schema of the shared database.
pub(crate) fn execute(schema: &str, statements: &str) -> String {
    let database = shared().rsplit_once('/').unwrap().1;
    Postgres::shared().execute(database, &format!("set search_path = \"{schema}\"; {statements}"))
}

impl BudgetFactory for Schemas {
    type Budget = PostgresTokenBudget;

    async fn create(&self, tokens: u64) -> [PostgresTokenBudget; 2] {
        let first = Factory::create(self).await;
        let schema = self.latest.lock().unwrap().clone();
        [first.token_budget(tokens), connect_at(&self.url, &schema).await.token_budget(tokens)]
    }

    async fn advance(&self, _budget: &PostgresTokenBudget, by: Duration) {
        let (ms, days) = (by.as_millis(), by.as_secs() / 86_400);
        self.execute(&format!(
            "update reservation set expires_at = expires_at - interval '{ms} ms';
             update budget set day = day - {days}"
        ));
    }
}

impl Factory for Schemas {
    type Store = PostgresStore;

    async fn create(&self) -> PostgresStore {
        let schema = new_schema();
        self.latest.lock().unwrap().clone_from(&schema);
        connect_at(&self.url, &schema).await
    }

    /// Moves the stored times back, instead of the clock forward.
    async fn advance(&self, _store: &PostgresStore, by: Duration) {
        let (by, days) = (format!("interval '{} ms'", by.as_millis()), by.as_secs() / 86_400);
        self.execute(&format!(
            "begin;
             update instance set expires_at = expires_at - {by};
             update run set due_at = due_at - {by}, watched_until = watched_until - {by}, ended_at = ended_at - {by},
               created_at = created_at - {by};
             update signal set received_at = received_at - {by};
             update obligation set expires_at = expires_at - {by};
             update conversation set updated_at = updated_at - {by}, deleted_at = deleted_at - {by};
             update usage_day set day = day - {days};
             commit"
        ));
    }
}
