//! The store that the servers share.

use omniassist_postgres::PostgresStore;
use omniassist_server::AssistantBuilder;
use omniassist_sqlite::SqliteStore;
use omniassist_test_databases::Postgres;
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

    pub(crate) async fn add_to(&self, builder: AssistantBuilder) -> AssistantBuilder {
        match self {
            Self::Sqlite(path) => builder.store(SqliteStore::open(path).unwrap()),
            Self::Postgres(url) => builder.store(PostgresStore::connect(url).await.unwrap()),
        }
    }
}

/// The database of a cluster.
pub(crate) enum Database {
    Sqlite(TempDir),
    Postgres(Box<Postgres>),
}

impl Database {
    pub(crate) fn start(kind: &str) -> Self {
        match kind {
            "sqlite" => Self::Sqlite(tempfile::tempdir().unwrap()),
            "postgres" => {
                let postgres = Postgres::start(&[]);
                postgres.execute("postgres", &format!("create database {NAME}"));
                Self::Postgres(Box::new(postgres))
            }
            _ => panic!("no database: {kind}"),
        }
    }

    /// Returns the port, if the database has one.
    pub(crate) fn port(&self) -> Option<u16> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(postgres) => Some(postgres.port()),
        }
    }

    /// Returns the URL, by way of another port.
    pub(crate) fn url(&self, port: Option<u16>) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", folder.path().join("a.db").display()),
            Self::Postgres(postgres) => {
                let port = port.unwrap_or_else(|| postgres.port());
                format!("postgres://postgres@127.0.0.1:{port}/{NAME}")
            }
        }
    }

    /// Returns `true` if the servers send each other hints.
    pub(crate) fn has_hints(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }

    /// Returns the number of connections to the database.
    pub(crate) fn connections(&self) -> usize {
        match self {
            Self::Sqlite(_) => 0,
            Self::Postgres(postgres) => {
                let count = format!("select count(*) from pg_stat_activity where datname = '{NAME}'");
                postgres.execute("postgres", &count).parse().unwrap()
            }
        }
    }
}
