//! Serves the backends that run on hyper: `axum-backend`, `hyper-backend` and `tower-backend`.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::stopped;

/// The longest time that a client may take to send the head of a request. A connection of HTTP/1 without a request ends
/// after the same time.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves HTTP/1 and HTTP/2 until the process is told to stop, and returns the open connections.
///
/// # Errors
///
/// Fails if the listener fails.
pub async fn serve<S, B>(listener: TcpListener, service: S) -> io::Result<GracefulShutdown>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(stopped());
    loop {
        let socket = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = &mut stopped => return Ok(connections),
        };
        // Without this, a token of the assistant waits until the client has acknowledged the token before it.
        socket.set_nodelay(true)?;
        let service = service.clone();
        let watcher = connections.watcher();
        tokio::spawn(async move {
            // The builder waits without a limit for the first bytes, which tell HTTP/1 from HTTP/2.
            if timeout(HEAD_TIMEOUT, socket.readable()).await.is_err() {
                return;
            }
            let mut server = auto::Builder::new(TokioExecutor::new());
            server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            server.http2().timer(TokioTimer::new()).keep_alive_interval(HEAD_TIMEOUT);
            let connection = server.serve_connection(TokioIo::new(socket), service).into_owned();
            // A client that disconnects early is an error here.
            drop(watcher.watch(connection).await);
        });
    }
}
