//! The store that the servers share, and what they leave in it.

use omniassist_postgres::PostgresStore;
use omniassist_redis::RedisTail;
use omniassist_server::AssistantBuilder;
use omniassist_sqlite::SqliteStore;
use omniassist_test_databases::{Postgres, Redis};
use tempfile::TempDir;

const NAME: &str = "torment";

/// A store, by its URL.
#[derive(Debug, Clone)]
pub(crate) enum Url {
    /// `sqlite:PATH`.
    Sqlite(String),
    /// `postgres://…`.
    Postgres(String),
}

impl Url {
    pub(crate) fn parse(url: &str) -> Self {
        match url.split_once(':') {
            Some(("sqlite", path)) => Self::Sqlite(path.to_owned()),
            Some(("postgres", _)) => Self::Postgres(url.to_owned()),
            _ => panic!("no store: {url}"),
        }
    }

    /// Adds the store to a builder, with the URL of a Redis above it.
    pub(crate) async fn add_to(&self, redis: Option<&str>, builder: AssistantBuilder) -> AssistantBuilder {
        match (self, redis) {
            (Self::Sqlite(path), _) => builder.store(SqliteStore::open(path).unwrap()),
            (Self::Postgres(url), None) => builder.store(PostgresStore::connect(url).await.unwrap()),
            (Self::Postgres(url), Some(redis)) => {
                let redis = omniassist_redis::Redis::connect(redis).unwrap();
                builder.store(RedisTail::new(PostgresStore::connect(url).await.unwrap(), &redis))
            }
        }
    }
}

/// The database of a cluster.
pub(crate) enum Database {
    Sqlite(TempDir),
    Postgres { postgres: Box<Postgres>, redis: Option<Box<Redis>> },
}

impl Database {
    /// Starts `sqlite`, `postgres` or `postgres+redis`.
    pub(crate) fn start(kind: &str) -> Self {
        let postgres = |redis| {
            let postgres = Box::new(Postgres::start(&[]));
            postgres.execute("postgres", &format!("create database {NAME}"));
            Self::Postgres { postgres, redis }
        };
        match kind {
            "sqlite" => Self::Sqlite(tempfile::tempdir().unwrap()),
            "postgres" => postgres(None),
            "postgres+redis" => postgres(Some(Box::new(Redis::start()))),
            _ => panic!("no database: {kind}"),
        }
    }

    /// Returns the port, if the database has one.
    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres { postgres, .. } => Some(postgres.port()),
        }
    }

    /// Returns the URL, by way of another port.
    pub(crate) fn url(&self, port: Option<u16>) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", folder.path().join("a.db").display()),
            Self::Postgres { postgres, .. } => {
                let port = port.unwrap_or_else(|| postgres.port());
                format!("postgres://postgres@127.0.0.1:{port}/{NAME}")
            }
        }
    }

    /// Returns the Redis above the database.
    pub(crate) fn redis(&self) -> Option<&Redis> {
        match self {
            Self::Postgres { redis, .. } => redis.as_deref(),
            Self::Sqlite(_) => None,
        }
    }

    /// Returns `true` if the servers send each other hints.
    pub(crate) fn has_hints(&self) -> bool {
        matches!(self, Self::Postgres { .. })
    }

    /// Returns the number of connections that receive hints.
    pub(crate) fn listeners(&self) -> usize {
        // A silent connection of a listener is probed by the other statement.
        self.count(&format!("pg_stat_activity where datname = '{NAME}' and query ~ '^(listen|select 1$)'"))
    }

    /// Returns what servers that have ended leave behind, with the number of each.
    pub(crate) fn left(&self) -> [(&'static str, usize); 4] {
        let redis = |command: &[&str]| self.redis().map(|redis| redis.execute(command)).unwrap_or_default();
        let clients = redis(&["CLIENT", "LIST", "TYPE", "NORMAL"]);
        [
            (
                "connections to the database",
                // A worker of autovacuum is none, but has the database's name too.
                self.count(&format!(
                    "pg_stat_activity where datname = '{NAME}' and backend_type = 'client backend'"
                )),
            ),
            ("locks of sessions", self.count("pg_locks where locktype = 'advisory'")),
            // One is the client that asks.
            ("connections to Redis", clients.lines().filter(|client| !client.contains("cmd=client")).count()),
            ("keys of Redis", redis(&["DBSIZE"]).trim_start_matches("(integer) ").parse().unwrap_or(0)),
        ]
    }

    /// Returns the connections to the database, a line each: state, the event that each waits for, and its statement.
    pub(crate) fn connections(&self) -> String {
        match self {
            Self::Sqlite(_) => String::new(),
            Self::Postgres { postgres, .. } => postgres.execute(
                "postgres",
                &format!(
                    "select backend_type, state, state_change, wait_event, query from pg_stat_activity where datname = '{NAME}'"
                ),
            ),
        }
    }

    fn count(&self, rows: &str) -> usize {
        match self {
            Self::Sqlite(_) => 0,
            Self::Postgres { postgres, .. } => {
                postgres.execute("postgres", &format!("select count(*) from {rows}")).parse().unwrap()
            }
        }
    }
}
