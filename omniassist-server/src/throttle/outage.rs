//! The handling of limits that cannot be checked, because their store fails, is too slow, or they panic.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use omniassist_core::Error;

use crate::{BoxError, one_line, panics};

/// The longest time that a limit may take by default.
pub(super) const TIMEOUT: Duration = Duration::from_secs(2);

/// The delay after which a store may be available again.
const RETRY: Duration = Duration::from_secs(2);

/// The future of a limit. Dropping it stops the work where it awaits.
pub type LimitFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send + 'a>>;

/// The decision about an attempt that a limit cannot check, because its store is down or too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum WhenUnavailable {
    /// A run is refused with 503 `limits_unavailable` and a `Retry-After`, or ends with that code if it has begun. A call of
    /// a tool does not run.
    #[default]
    Refuse,
    /// The attempt is allowed and not counted.
    Allow,
}

/// The reason why a limit was not checked. It is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    Unavailable,
    Panicked,
}

impl From<Outage> for Error {
    fn from(outage: Outage) -> Self {
        match outage {
            Outage::Unavailable => Self::limits_unavailable(RETRY),
            Outage::Panicked => Self::internal(),
        }
    }
}

/// Awaits a limit of the host; `what` is the subject of log lines.
///
/// # Errors
///
/// Returns an error if the limit fails, panics, or takes longer than `timeout`.
pub(crate) async fn ask<T>(
    what: &'static str,
    timeout: Duration,
    call: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, Outage> {
    // An async block, because `timeout` panics outside of a runtime.
    let call = async { tokio::time::timeout(timeout, call).await };
    match panics::catch_async(what, call).await {
        None => Err(Outage::Panicked),
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(error))) => {
            let error = one_line::chain(&*error);
            tracing::error!(%error, "{what} failed");
            Err(Outage::Unavailable)
        }
        Some(Err(_elapsed)) => {
            tracing::error!(?timeout, "{what} took too long");
            Err(Outage::Unavailable)
        }
    }
}
