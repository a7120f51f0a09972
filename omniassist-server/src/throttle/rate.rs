use std::time::Duration;

use omniassist_core::Error;

use super::RunAttempt;

/// A limit on how often clients may begin runs.
///
/// It is checked once for each run of a client, after the limits on concurrent runs and before the conversation is
/// verified. The check runs in the task of the request and must return at once, so a limiter behind a network belongs in a
/// middleware of the application. A limit that panics refuses the run with 500.
///
/// Closures that take a `&RunAttempt<'_>` are rate limits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limit",
    note = "a rate limit implements `RateLimit`, or is a closure `|attempt: &RunAttempt<'_>| -> Result<(), Duration>`"
)]
pub trait RateLimit: Send + Sync + 'static {
    /// Counts the attempt, and decides if the run may begin.
    ///
    /// # Errors
    ///
    /// Returns the time until an attempt may succeed if this one may not. The client gets 429 `rate_limited` with that
    /// time as `Retry-After`, in whole seconds, rounded up.
    fn check(&self, attempt: &RunAttempt<'_>) -> Result<(), Duration>;
}

impl<F> RateLimit for F
where
    F: Fn(&RunAttempt<'_>) -> Result<(), Duration> + Send + Sync + 'static,
{
    fn check(&self, attempt: &RunAttempt<'_>) -> Result<(), Duration> {
        self(attempt)
    }
}

/// Checks a rate limit.
///
/// # Errors
///
/// Returns an error if the limit refuses the run, or panics.
pub(crate) fn asked(limit: &dyn RateLimit, attempt: &RunAttempt<'_>) -> Result<(), Error> {
    let checked = crate::panics::catch("the rate limit", || limit.check(attempt));
    checked.ok_or_else(Error::internal)?.map_err(Error::rate_limited)
}
