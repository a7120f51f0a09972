//! A client that observes the wire: HTTP/1 on a TCP socket, and HTTP/2 by hyper. It returns bodies without their
//! framing, and distinguishes a complete body from one that is cut.

mod answer;
mod ask;
mod connection;
mod exchange;
mod http1;
mod http2;

pub(crate) use answer::Answer;
pub(crate) use ask::Ask;
pub(crate) use connection::Connection;
pub(crate) use exchange::Exchange;

use std::future::Future;
use std::time::Duration;

/// The time limit of a wait: long enough for a busy machine, and shorter than a run that is not stopped.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Waits for a future. Panics if it takes longer than [`PATIENCE`].
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}

/// Waits until a condition is true.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
