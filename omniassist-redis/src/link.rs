//! A connection that is replaced when it does not work.

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, ServerErrorKind};
use tokio::sync::Mutex;

/// The longest time for a new connection.
const CONNECT: Duration = Duration::from_secs(1);

/// The time for which a failure to connect counts, so that those who wait for the lock do not try one after the other.
const FAILED: Duration = Duration::from_millis(100);

/// A connection to a server, and the way to the next one.
///
/// The manager of the `redis` crate keeps a connection on which answers time out. Such a connection may be cut without a
/// word, so this one is replaced.
pub(crate) struct Link {
    client: Client,
    config: AsyncConnectionConfig,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<MultiplexedConnection>,
    /// The last failure to connect.
    failed: Option<(Instant, RedisError)>,
    /// The number of connections so far.
    number: u64,
}

impl Link {
    /// Creates a link whose commands take at most this long.
    pub(crate) fn new(client: Client, response: Duration) -> Self {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(response));
        Self { client, config, state: Mutex::default() }
    }

    /// Sends commands.
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be reached, answers too late, or refuses them.
    pub(crate) async fn send<T>(
        &self,
        commands: impl AsyncFnOnce(MultiplexedConnection) -> RedisResult<T>,
    ) -> RedisResult<T> {
        let (connection, number) = self.connection().await?;
        let sent = commands(connection).await;
        if let Err(error) = &sent
            && is_broken(error)
        {
            let mut state = self.state.lock().await;
            if state.number == number {
                state.connection = None;
            }
        }
        sent
    }

    async fn connection(&self) -> RedisResult<(MultiplexedConnection, u64)> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            return Ok((connection.clone(), state.number));
        }
        if let Some((at, error)) = &state.failed
            && at.elapsed() < FAILED
        {
            return Err(error.clone());
        }
        let connected = self.client.get_multiplexed_async_connection_with_config(&self.config).await;
        state.failed = connected.as_ref().err().map(|error| (Instant::now(), error.clone()));
        let connection = connected?;
        state.number += 1;
        state.connection = Some(connection.clone());
        Ok((connection, state.number))
    }
}

/// Returns `true` if another connection may not have this error. After a failover, a connection stays with a server that
/// refuses writes, as a replica, while the name leads to the new one.
fn is_broken(error: &RedisError) -> bool {
    let is_refused = [ServerErrorKind::ReadOnly, ServerErrorKind::ExecAbort].map(ErrorKind::Server);
    // The error of a script before Redis 7 has it in its text.
    let says_replica = || error.detail().is_some_and(|detail| detail.contains("READONLY"));
    is_refused.contains(&error.kind())
        || says_replica()
        || error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.is_unrecoverable_error()
}
