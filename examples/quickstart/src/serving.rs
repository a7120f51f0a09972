//! Serving with axum until told to stop.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use omniassist_axum::{Assistant, CancellationToken};
use tokio::net::TcpListener;

/// After Ctrl-C: how long answers that are under way may take to end. In production it is rather 25 s.
pub const DRAIN: Duration = Duration::from_secs(3);
/// How long the last words of answers that were cut may take to be written.
pub const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until told to stop, and then lets the answers that are under way end, within limits.
///
/// # Errors
///
/// When the listener fails.
pub async fn serve_until(
    stopped: impl Future<Output = ()>,
    listener: TcpListener,
    app: Router,
    assistant: &Assistant,
) -> io::Result<()> {
    let stop = CancellationToken::new();
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    // Else a token waits until the client has acknowledged the one before it.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled());
    let drained = async {
        stopped.await;
        stop.cancel();
        assistant.drain(DRAIN).await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        ended = async { serving.await } => ended?,
        () = drained => {}
    }
    // Where the last client left first, tools may still be winding up.
    assistant.shutdown().await;
    Ok(())
}

/// Ctrl-C, or on Unix the signal that a supervisor sends.
pub async fn stopped() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler the system's own ends the process.
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
