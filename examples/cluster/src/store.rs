//! The store that the servers share, and the Redis that carries their text.

use std::error::Error;
use std::path::PathBuf;

use omniassist_axum::{AssistantBuilder, SqliteStore};
use omniassist_postgres::PostgresStore;
use omniassist_redis::{Redis, RedisTail};

/// The variable with the URL of Redis. Without it, text reaches the other servers by the store.
pub(crate) const REDIS: &str = "CLUSTER_REDIS";

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
        let redis = std::env::var(REDIS).ok().map(|url| Redis::connect(&url)).transpose()?;
        Ok(match (self, redis) {
            (Self::Sqlite(path), _) => builder.store(SqliteStore::open(path)?),
            (Self::Postgres(url), None) => builder.store(PostgresStore::connect(&url).await?),
            (Self::Postgres(url), Some(redis)) => {
                builder.store(RedisTail::new(PostgresStore::connect(&url).await?, &redis))
            }
        })
    }
}
