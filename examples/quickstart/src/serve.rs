//! Serves the application, and stops it.

use std::time::Duration;

use axum::Router;
use omniassist_axum::Assistant;
use serving::serve_axum;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The time that running answers get to finish after Ctrl-C. In production, 25 s is a good value.
pub const DRAIN: Duration = Duration::from_secs(3);
/// The time to write the last events of answers that were cut.
pub const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until `stopped` completes, and then lets the running answers finish within [`DRAIN`].
pub async fn serve_until(
    stopped: impl Future<Output = ()>,
    listener: TcpListener,
    app: Router,
    assistant: &Assistant,
) {
    let connections = serve_axum(listener, stopped, app).await;
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
