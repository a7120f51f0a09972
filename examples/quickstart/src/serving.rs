//! Serves the application with hyper, because `axum::serve` has no timeouts for clients that send nothing.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use omniassist_axum::Assistant;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The longest time that a client may take to send the head of a request. A connection without a request ends after
/// the same time.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The time that running answers get to finish after Ctrl-C. In production, 25 s is a good value.
pub const DRAIN: Duration = Duration::from_secs(3);
/// The time to write the last events of answers that were cut.
pub const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until `stopped` completes, and then lets the running answers finish within [`DRAIN`].
pub async fn serve_until(
    stopped: impl Future<Output = ()>,
    mut listener: TcpListener,
    app: Router,
    assistant: &Assistant,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let connections = GracefulShutdown::new();
    let mut stopped = pin!(stopped);
    loop {
        // This `accept` is the one of `axum::serve`: it waits and tries again if the process has no sockets left.
        let (socket, peer): (_, SocketAddr) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stopped => break,
        };
        // Without this, a token waits until the client has acknowledged the token before it.
        let _: io::Result<()> = socket.set_nodelay(true);
        let app = TowerToHyperService::new(app.clone().layer(Extension(ConnectInfo(peer))));
        let connection = connections.watch(http.serve_connection(TokioIo::new(socket), app));
        // A client that disconnects early is an error here.
        tokio::spawn(async move { drop(connection.await) });
    }
    drop(listener);
    let drained = async {
        assistant.drain(DRAIN).await;
        sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = connections.shutdown() => {}
        () = drained => {}
    }
    // Tools may still be stopping after the last client has disconnected.
    assistant.shutdown().await;
}

/// Waits for Ctrl-C or, on Unix, for the signal `SIGTERM`.
pub async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler, the default handler ends the process.
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
