use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::backoff::Backoff;
use super::shared::Shared;
use super::state::Ready;
use crate::client::McpError;
use crate::client::auth::Credentials;
use crate::client::connection::{Connection, Era};
use crate::client::oauth::Refusal;

/// The shortest time between two attempts, however many calls wait.
const MIN_GAP: Duration = Duration::from_millis(500);

/// The time after which a connection counts as one that works.
const STABLE: Duration = Duration::from_secs(10);

/// The time that a server has to show that it lives, after it did not answer a call.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// The shortest time between two lists.
const LIST_GAP: Duration = Duration::from_secs(1);

/// The time without a call after which the connection of one user is closed.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// Keeps a link connected. It is the only one that connects, so there is one attempt at a time.
pub(super) async fn supervise(shared: Arc<Shared>) {
    let (mut backoff, mut era) = (Backoff::default(), Era::Unknown);
    loop {
        let began = Instant::now();
        let is_idle = match connect(&shared, era).await {
            Ok(ready) => {
                era = ready.connection.era();
                let connection = Arc::clone(&ready.connection);
                shared.connected(ready);
                let is_idle = watch(&shared, &connection).await;
                shared.disconnected();
                if began.elapsed() >= STABLE {
                    backoff.reset();
                }
                is_idle
            }
            Err(error) => {
                // The server may be another one now.
                era = Era::Unknown;
                // Only the next run can bring credentials, and a user may have left.
                shared.failed(error);
                shared.config.is_per_principal()
            }
        };
        let delay = if is_idle { None } else { Some(backoff.next()) };
        shared.set_at_rest(is_idle);
        let wanted = async {
            shared.wanted.notified().await;
            sleep_until(began + MIN_GAP).await;
        };
        tokio::select! {
            () = wanted => {}
            () = sleep_if(delay) => {}
        }
        shared.set_at_rest(false);
    }
}

async fn connect(shared: &Shared, era: Era) -> Result<Ready, McpError> {
    let mut is_repeated = false;
    loop {
        let credentials = shared.config.credentials(&shared.principal).await?;
        let connected = async {
            let connection = Connection::open(&shared.config, credentials.as_ref(), era).await?;
            let listing = Arc::new(connection.list().await?);
            Ok(Ready { connection: Arc::new(connection), listing })
        };
        let error = match connected.await {
            Ok(ready) => return Ok(ready),
            Err(error) => error,
        };
        match credentials.as_ref().and_then(Credentials::refusal) {
            // A token that was refused is renewed once.
            Some(Refusal::Token) if !is_repeated => is_repeated = true,
            Some(Refusal::Token | Refusal::MissingScope) => return Err(McpError::authorization_needed()),
            Some(Refusal::Forbidden) => return Err(McpError::forbidden()),
            None => return Err(error),
        }
    }
}

/// Follows the changes of the tools until the connection ends. Returns `true` if nobody has used it for a time.
async fn watch(shared: &Shared, connection: &Connection) -> bool {
    loop {
        let fresh_for = shared.fresh_for();
        let is_doubted = tokio::select! {
            () = connection.unusable() => return false,
            () = shared.idle(IDLE) => return true,
            () = connection.doubted.notified() => true,
            () = connection.changed() => false,
            () = sleep_if(fresh_for) => false,
        };
        let list = async {
            if is_doubted {
                return timeout(SIGN_OF_LIFE, connection.list()).await.map_err(|_| McpError::timed_out())?;
            }
            sleep(LIST_GAP).await;
            connection.list().await
        };
        let listed = tokio::select! {
            () = connection.unusable() => return false,
            listed = list => listed,
        };
        match listed {
            Ok(listing) => shared.listed(Arc::new(listing)),
            Err(error) if is_doubted => {
                shared.failed(error);
                connection.abandon();
                return false;
            }
            // The tools stay as they are.
            Err(error) => shared.unlisted(&error),
        }
    }
}

/// Sleeps for a time, or for ever.
async fn sleep_if(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}
