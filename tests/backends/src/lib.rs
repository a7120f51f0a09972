//! Tests of the common behaviour of the four example backends over HTTP, and of their shutdown.
//!
//! A backend reads the variables `LISTEN`, `TOKENS`, `SHUTDOWN_SECONDS`, `OPENAI_BASE_URL` and `OPENAI_API_KEY`. It
//! first prints `listening on http://…`, and serves the assistant at `/assistant`.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod backend;
mod behaviour;
mod client;
mod shutdown;

use std::time::Duration;

pub use behaviour::{behaves, holds_nothing_back, speaks_http2};
pub use shutdown::{tells_every_client, tells_every_client_and_the_audit_file};

/// The time limit of a test.
const PATIENCE: Duration = Duration::from_secs(120);

fn in_time(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await }).expect("the test ends in time");
}
