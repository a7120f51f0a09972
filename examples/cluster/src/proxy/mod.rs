//! A reverse proxy that gives each request to the next server in turn. Bodies are streamed in both directions.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONNECTION, HeaderMap, HeaderName, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The header of a response with the number of the server that sent it, counted from 1.
pub(crate) const SERVER: HeaderName = HeaderName::from_static("x-cluster-server");

/// The time for a server on this machine to accept a connection. A stopped process accepts none.
const CONNECT: Duration = Duration::from_secs(1);

/// Headers about one connection. `Transfer-Encoding` is set anew by the next one.
const HOP_BY_HOP: [HeaderName; 4] =
    [CONNECTION, TRANSFER_ENCODING, UPGRADE, HeaderName::from_static("keep-alive")];

/// The proxy. Clones share their turn.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    servers: Arc<[SocketAddr]>,
    turn: Arc<AtomicUsize>,
}

impl Proxy {
    /// Creates a proxy of these servers.
    #[must_use]
    pub(crate) fn new(servers: impl IntoIterator<Item = SocketAddr>) -> Self {
        Self { servers: servers.into_iter().collect(), turn: Arc::default() }
    }

    /// Returns the service that forwards every request.
    pub(crate) fn router(self) -> Router {
        Router::new().fallback(forward).with_state(self)
    }

    /// Sends a request to the next server that takes it.
    ///
    /// A server that refuses connections is left out. A request that a server may have read is not sent again: the server
    /// may have died after it took effect, so the client has to decide.
    async fn send(&self, mut request: Request) -> io::Result<(usize, Response)> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let mut problem = io::ErrorKind::HostUnreachable.into();
        for at in (turn..).take(self.servers.len()) {
            let number = at % self.servers.len();
            let Some(address) = self.servers.get(number) else { break };
            match connect(*address).await {
                Err(error) => problem = error,
                Ok(mut server) => match server.try_send_request(request).await {
                    Ok(response) => return Ok((number + 1, response.map(Body::new))),
                    Err(mut failed) => {
                        let unsent = failed.take_message();
                        problem = io::Error::other(failed.into_error());
                        let Some(unsent) = unsent else { break };
                        request = unsent;
                    }
                },
            }
        }
        Err(problem)
    }
}

/// Opens a connection to a server. The request has it for itself, so that a lost client ends it.
pub(crate) async fn connect(server: SocketAddr) -> io::Result<SendRequest<Body>> {
    let socket = timeout(CONNECT, TcpStream::connect(server)).await??;
    // Without this, a token waits until the one before it is acknowledged.
    socket.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(socket)).await.map_err(io::Error::other)?;
    // The body of the response reports the errors of the connection.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

async fn forward(State(proxy): State<Proxy>, mut request: Request) -> Response {
    remove_hop_by_hop(request.headers_mut());
    match proxy.send(request).await {
        Ok((number, mut response)) => {
            remove_hop_by_hop(response.headers_mut());
            response.headers_mut().insert(SERVER, HeaderValue::from(number));
            response
        }
        Err(error) => {
            tracing::warn!(%error, "no server answers");
            (StatusCode::BAD_GATEWAY, "No server answers.").into_response()
        }
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests;
