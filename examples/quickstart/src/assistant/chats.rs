//! The database of the chats: a file, or a PostgreSQL that several servers share.

use std::fmt;
use std::path::PathBuf;

use omniassist_axum::{AssistantBuilder, SqliteStore};
use omniassist_postgres::PostgresStore;
use tokio::task::spawn_blocking;

/// The place of the chats, as `QUICKSTART_CHATS` names it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ChatsAt {
    File(PathBuf),
    /// A URL that begins with `postgres://`.
    Postgres(String),
}

/// The store of the chats.
pub(crate) enum Chats {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

impl ChatsAt {
    pub(crate) fn named(name: String) -> Self {
        if name.starts_with("postgres://") { Self::Postgres(name) } else { Self::File(name.into()) }
    }

    pub(crate) async fn open(self) -> Result<Chats, String> {
        let place = self.to_string();
        let opened = match self {
            Self::File(path) => {
                let opened = spawn_blocking(move || SqliteStore::open(path)).await;
                opened.map_err(|error| error.to_string())?.map(Chats::Sqlite)
            }
            Self::Postgres(url) => PostgresStore::connect(&url).await.map(Chats::Postgres),
        };
        opened.map_err(|error| format!("QUICKSTART_CHATS: {place}: {error}"))
    }
}

/// Shows no password.
impl fmt::Display for ChatsAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => {
                let place = url.rsplit_once('@').map_or("", |(_, place)| place);
                write!(f, "PostgreSQL at {place}")
            }
        }
    }
}

impl Chats {
    pub(crate) fn add_to(self, builder: AssistantBuilder) -> AssistantBuilder {
        match self {
            Self::Sqlite(store) => builder.store(store),
            Self::Postgres(store) => builder.store(store),
        }
    }
}
