use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use super::background::Kept;
use super::log::{FakeEvent, FakeEventKind, Log};
use super::reply::{Ending, Reply};
use super::request::FakeRequest;
use super::socket::{Answer, Client, Next, Server};

/// The delay before an RST, so that the client can read the bytes that the RST would discard.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// A model provider's HTTP server on a real loopback socket. It follows a test's script.
///
/// Each request is answered with the next [`Reply`], regardless of its path. A request without a reply is
/// answered with 501. Dropping the server then panics so that the test fails;
/// [`take_faults`](Self::take_faults) prevents that. Dropping the server closes its connections. It must be
/// started, and lives, inside a tokio runtime.
///
/// The reply to a request with `background: true` is kept: its events after `starting_after` are the answer to
/// `GET /responses/{id}?stream=true`, and `POST /responses/{id}/cancel` cancels it. These two requests use no reply.
///
/// Under a paused tokio clock, time advances while a socket is awaited. Use short limits with this server instead.
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
    server: Server,
    script: Arc<Script>,
}

impl FakeProvider {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns an error if no socket can be bound.
    pub async fn start() -> io::Result<Self> {
        let script = Arc::new(Script::default());
        Ok(Self { server: Server::start(Arc::clone(&script)).await?, script })
    }

    /// Adds the answer to the next request.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.script.replies().next.push_back(reply);
        self
    }

    /// Sets the answer to every request for which no reply is left.
    pub fn otherwise(&self, reply: Reply) -> &Self {
        self.script.replies().otherwise = Some(reply);
        self
    }

    /// Changes the reply to the next request for the rest of a background response: its pace, or how it breaks. May be called
    /// for several requests in advance.
    pub fn change_rest(&self, change: impl FnOnce(Reply) -> Reply + Send + 'static) -> &Self {
        self.script.replies().kept.change(Box::new(change));
        self
    }

    /// Forgets the background responses so far. Requests for them are answered with 404.
    pub fn expire(&self) {
        self.script.replies().kept.expire();
    }

    /// Returns the number of replies that no request has used yet, without that of
    /// [`otherwise`](Self::otherwise).
    #[must_use]
    pub fn replies_left(&self) -> usize {
        self.script.replies().next.len()
    }

    /// Returns the base URL for a provider: `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address())
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Returns the requests so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<FakeRequest> {
        self.script.log.lock().requests.clone()
    }

    /// Returns the events so far, oldest first.
    #[must_use]
    pub fn events(&self) -> Vec<FakeEvent> {
        self.script.log.lock().events.clone()
    }

    /// Returns the number of body bytes that were handed to the sockets. It stops growing when the clients
    /// stop reading.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.script.log.sent()
    }

    /// Waits until this many requests have arrived in all, and returns the last of them. With 0 it returns the first.
    pub async fn request(&self, number: usize) -> FakeRequest {
        self.script.log.wait(|entries| entries.requests.get(number.saturating_sub(1)).cloned()).await
    }

    /// Waits until a client closes a connection in the middle of a reply or before a delayed one, and returns
    /// the time. Each such end is reported once.
    pub async fn closed(&self) -> Instant {
        self.script
            .log
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
        std::mem::take(&mut self.script.log.lock().faults)
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        let faults = self.take_faults();
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "{}", faults.join("; "));
        }
    }
}

/// The replies of a fake provider, and the record of its use.
#[derive(Debug, Default)]
struct Script {
    log: Log,
    replies: Mutex<Replies>,
}

#[derive(Debug, Default)]
struct Replies {
    next: VecDeque<Reply>,
    otherwise: Option<Reply>,
    kept: Kept,
}

impl Script {
    fn replies(&self) -> MutexGuard<'_, Replies> {
        crate::sync::lock(&self.replies)
    }

    fn take(&self, request: &FakeRequest) -> Reply {
        let reply = {
            let mut replies = self.replies();
            if let Some(reply) = replies.kept.reply(request) {
                return reply;
            }
            let reply = replies.next.pop_front().or_else(|| replies.otherwise.clone());
            if let Some(reply) = &reply {
                replies.kept.keep(request, reply);
            }
            reply
        };
        reply.unwrap_or_else(|| {
            let what = format!("the fake provider has no reply for {} {}", request.method, request.path);
            let reply = Reply::json(501, &json!({ "error": { "message": what } }));
            self.log.fault(what);
            reply
        })
    }

    /// Sends the body of a reply, or the part of it that the script allows.
    async fn body(&self, reply: &Reply, to: &mut Client) -> io::Result<()> {
        let mut body = reply.sent();
        let mut first = true;
        while !body.is_empty() {
            if !std::mem::take(&mut first) {
                pause(reply.between).await;
            }
            let piece = body.split_to(reply.piece.min(body.len()));
            if reply.is_chunked() {
                to.chunk(&piece).await?;
            } else {
                to.bytes(&piece).await?;
            }
            self.log.add_sent(piece.len());
        }
        Ok(())
    }
}

impl Answer for Script {
    async fn answer(&self, request: FakeRequest, to: &mut Client) -> io::Result<Next> {
        let reply = self.take(&request);
        self.log.request(to.number, request);
        pause(reply.before_head).await;
        if !reply.raw {
            to.bytes(&reply.head()).await?;
        }
        pause(reply.before_body).await;
        self.body(&reply, to).await?;
        match reply.ending {
            Ending::Whole | Ending::Close => {
                if reply.is_chunked() && reply.after.is_none() {
                    to.end().await?;
                }
                Ok(if reply.ending == Ending::Whole { Next::Keep } else { Next::Close })
            }
            Ending::Reset => {
                if !reply.sent().is_empty() {
                    sleep(BEFORE_RESET).await;
                }
                to.reset()?;
                Ok(Next::Forget)
            }
            Ending::Stall => pending().await,
            Ending::Endless => loop {
                self.body(&reply, to).await?;
                // An empty body would never wait for the socket.
                tokio::task::yield_now().await;
            },
        }
    }

    fn nonsense(&self, what: &'static str) {
        self.log.fault(what.to_owned());
    }

    fn event(&self, connection: usize, event: FakeEventKind) {
        self.log.event(connection, event);
    }
}

/// Waits for the duration; returns at once if it is zero.
async fn pause(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay).await;
    }
}
