//! The store that the servers share.

use std::error::Error;
use std::path::PathBuf;

use omniassist_axum::{AssistantBuilder, SqliteStore};
use omniassist_postgres::PostgresStore;

/// A store, by its URL.
#[derive(Debug, Clone)]
pub(crate) enum Store {
    /// `sqlite:PATH`: a file, which processes of one machine can share.
    Sqlite(PathBuf),
    /// `postgres://USER@HOST/DATABASE`.
    Postgres(String),
}

impl Store {
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        match url.split_once(':') {
            Some(("sqlite", path)) => Ok(Self::Sqlite(path.into())),
            Some(("postgres", _)) => Ok(Self::Postgres(url.to_owned())),
            _ => Err(format!("`{url}` is no store; write sqlite:PATH or postgres://…")),
        }
    }

    pub(crate) async fn add_to(
        self,
        builder: AssistantBuilder,
    ) -> Result<AssistantBuilder, Box<dyn Error + Send + Sync>> {
        Ok(match self {
            Self::Sqlite(path) => builder.store(SqliteStore::open(path)?),
            Self::Postgres(url) => builder.store(PostgresStore::connect(&url).await?),
        })
    }
}
