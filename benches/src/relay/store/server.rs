//! The servers of the measurement: axum with an assistant whose clients have a principal.

use std::error::Error;

use axum::Extension;
#[cfg(feature = "postgres")]
use omniassist_postgres::PostgresStore;
#[cfg(feature = "postgres")]
use omniassist_redis::{Redis, RedisTail};
use omniassist_server::Principal;
use omniassist_sqlite::SqliteStore;

use super::timed::TimedStore;
use crate::relay::hosts::{self, Adapter};
use crate::relay::process::Process;
use crate::relay::scenario::{Bench, Streams};
use crate::relay::server::{self, Target};
use crate::relay::wire::Api;

/// The id of the principal of all clients.
pub(super) const PRINCIPAL: &str = "bench";

/// Serves until the standard input is closed. The variants are:
///
/// - `known`, without a store;
/// - `stored`, with a file;
/// - `timed`, with a file, which writes the times of the commits beside it;
/// - `postgres`, with the URL of a database and a file for the times of the commits;
/// - `redis`, with the URLs of a database and of Redis.
pub(in crate::relay) fn serve(provider: &str, variant: &[&str]) -> Result<(), Box<dyn Error>> {
    let builder = server::builder(Api::Responses, provider.parse()?)?;
    hosts::runtime()?.block_on(async {
        let builder = match *variant {
            ["known"] => builder,
            ["stored", path] => builder.store(SqliteStore::open(path)?),
            ["timed", path] => {
                builder.store(TimedStore::new(SqliteStore::open(path)?, &format!("{path}.times"))?)
            }
            #[cfg(feature = "postgres")]
            ["postgres", url, times] => {
                builder.store(TimedStore::new(PostgresStore::connect(url).await?, times)?)
            }
            #[cfg(feature = "postgres")]
            ["redis", url, redis] => {
                builder.store(RedisTail::new(PostgresStore::connect(url).await?, &Redis::connect(redis)?))
            }
            _ => return Err("no such variant of the assistant".into()),
        };
        let app = omniassist_axum::router(builder.build()?).layer(Extension(Principal::new(PRINCIPAL)));
        hosts::serve_axum(server::listen()?, app).await
    })
}

impl Bench {
    /// Starts a server with a variant of [`serve`].
    pub(in crate::relay) fn start_known(streams: Streams, variant: &[&str]) -> Result<Self, Box<dyn Error>> {
        let axum = Target::Assistant(Adapter::Axum);
        Self::start_as(axum, Api::Responses, streams, variant, Process::start)
    }
}
