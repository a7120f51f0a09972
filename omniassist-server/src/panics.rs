//! The boundary at which panics of host code stop.
//!
//! Tools, hooks, observers and prompts belong to the host. A panic in one of them fails the run it works for, and
//! nothing else.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;

/// Calls host code. Logs a panic and returns `None`; `what` is the subject of the log line.
pub(crate) fn catch<T>(what: &'static str, call: impl FnOnce() -> T) -> Option<T> {
    report(what, catch_unwind(AssertUnwindSafe(call)))
}

/// Awaits host code. Logs a panic and returns `None`; `what` is the subject of the log line.
pub(crate) fn catch_async<F: Future>(
    what: &'static str,
    future: F,
) -> impl Future<Output = Option<F::Output>> {
    AssertUnwindSafe(future).catch_unwind().map(move |result| report(what, result))
}

fn report<T, E>(what: &'static str, result: Result<T, E>) -> Option<T> {
    result.map_err(|_| tracing::error!("{what} panicked")).ok()
}
