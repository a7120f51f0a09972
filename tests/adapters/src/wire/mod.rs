//! A client that sees what is on the wire: HTTP/1 by hand on a TCP socket, HTTP/2 by hyper. What it reads of a body it
//! gives without the framing, and it knows a body that ended from one that was cut.

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

/// Long for a machine that is busy, short for a run that nobody stops.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Returns the bytes that arrive within [`PATIENCE`].
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("it does not come about: {what}"),
    }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
