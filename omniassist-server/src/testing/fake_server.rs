use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use super::connection::{Connection, Replies};
use super::log::{FakeEvent, FakeEventKind, Log};
use super::{FakeRequest, Reply};

/// A model provider's HTTP server on a real loopback socket. It follows a test's script.
///
/// Each request is answered with the next [`Reply`], regardless of its path. A request without a reply is
/// answered with 501. Dropping the server then panics so that the test fails;
/// [`take_faults`](Self::take_faults) prevents that. Dropping the server closes its connections. It must be
/// started, and lives, inside a tokio runtime.
///
/// Under a paused tokio clock, time advances while a socket is awaited. Use short limits with this server
/// instead.
///
/// ```
/// use omniassist_server::testing::{FakeProvider, Reply, chat_sse};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let server = FakeProvider::start().await?;
/// server
///     .reply(Reply::json(429, &serde_json::json!({"error": {"message": "slow down"}})).header("retry-after", "0"))
///     .reply(Reply::sse(chat_sse::text("Hello")).chunked_by(7));
///
/// // Give `server.base_url()` to a provider, ask it something, and look at what came:
/// assert!(server.base_url().ends_with("/v1"));
/// assert!(server.requests().is_empty());
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct FakeProvider {
    address: SocketAddr,
    log: Arc<Log>,
    replies: Arc<Replies>,
    accepting: AbortHandle,
}

impl FakeProvider {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns an error if no socket can be bound.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (log, replies) = (Arc::new(Log::default()), Arc::new(Replies::default()));
        let accepting = tokio::spawn(accept(listener, Arc::clone(&log), Arc::clone(&replies))).abort_handle();
        Ok(Self { address, log, replies, accepting })
    }

    /// Adds the answer to the next request.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.replies.push(reply);
        self
    }

    /// Sets the answer to every request for which no reply is left.
    pub fn otherwise(&self, reply: Reply) -> &Self {
        self.replies.otherwise(reply);
        self
    }

    /// Returns the number of replies that no request has used yet, without that of
    /// [`otherwise`](Self::otherwise).
    #[must_use]
    pub fn replies_left(&self) -> usize {
        self.replies.left()
    }

    /// Returns the base URL for a provider: `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<FakeRequest> {
        self.log.lock().requests.clone()
    }

    /// Returns the events so far, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<FakeEvent> {
        self.log.lock().events.clone()
    }

    /// Returns the number of body bytes that were handed to the sockets. It stops growing when the clients
    /// stop reading.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.log.sent()
    }

    /// Waits until this many requests have arrived in all, and returns the last of them. With 0 it returns
    /// the first.
    pub async fn request(&self, number: usize) -> FakeRequest {
        self.log.wait(|entries| entries.requests.get(number.saturating_sub(1)).cloned()).await
    }

    /// Waits until a client closes a connection in the middle of a reply or before a delayed one, and returns
    /// the time. Each such end is reported once.
    pub async fn closed(&self) -> Instant {
        self.log
            .wait(|entries| {
                let mut aborts = entries.events.iter().filter(|event| event.kind == FakeEventKind::Aborted);
                let at = aborts.nth(entries.aborts_seen)?.at;
                entries.aborts_seen += 1;
                Some(at)
            })
            .await
    }

    /// Returns the unexpected events (a request without a reply, malformed requests), one sentence each.
    /// Dropping the server no longer panics because of faults that were taken.
    #[must_use]
    pub fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().faults)
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.accepting.abort();
        let faults = self.take_faults();
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "{}", faults.join("; "));
        }
    }
}

async fn accept(listener: TcpListener, log: Arc<Log>, replies: Arc<Replies>) {
    // Dropped with this future, which ends every connection.
    let mut connections = JoinSet::new();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else { return };
        while connections.try_join_next().is_some() {}
        // Each piece must leave in a packet of its own.
        let _ = stream.set_nodelay(true);
        let connection = Connection { number, log: Arc::clone(&log), replies: Arc::clone(&replies) };
        connections.spawn(connection.serve(stream));
    }
}
