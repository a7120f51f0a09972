use std::sync::Arc;
use std::time::Duration;

use omniassist_core::Error;

use super::Attempt;
use super::outage::{LimitFuture, Outage, TIMEOUT, WhenUnavailable, ask};

/// A limit on how often clients may begin runs, or how often a tool may be called.
///
/// A limit of runs ([`AssistantBuilder::rate_limit`](crate::AssistantBuilder::rate_limit)) is checked once for each run of
/// a client, after the limits on concurrent runs and before the conversation is verified. A limit of a tool
/// ([`Tool::rate_limit`](crate::Tool::rate_limit)) is checked before each call that would run. A check is dropped when the
/// client disconnects. A limit that panics refuses the run with 500.
///
/// Closures `|attempt: &Attempt<'_>| -> Result<(), Duration>` are rate limits, for decisions that need no store. This limit
/// counts in a store that several servers share:
///
/// ```
/// use std::time::Duration;
/// use omniassist_server::throttle::{Attempt, LimitFuture, RateDecision, RateLimit};
/// # use omniassist_server::{Assistant, testing::ScriptedProvider};
/// # struct Redis;
/// # impl Redis {
/// #     async fn increment(&self, _key: String, _expiry: Duration) -> std::io::Result<u64> { Ok(1) }
/// # }
///
/// /// 100 runs an hour for each user.
/// struct Hourly(Redis);
///
/// impl RateLimit for Hourly {
///     fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
///         Box::pin(async move {
///             let hour = Duration::from_secs(3600);
///             let runs = self.0.increment(format!("runs:{}", attempt.principal().id()), hour).await?;
///             Ok(if runs <= 100 { RateDecision::Allow } else { RateDecision::Wait(hour) })
///         })
///     }
/// }
///
/// let assistant = Assistant::builder(ScriptedProvider::new()).rate_limit(Hourly(Redis)).build()?;
/// # Ok::<(), omniassist_server::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limit",
    note = "a rate limit implements `RateLimit`, or is a closure `|attempt: &Attempt<'_>| -> Result<(), Duration>`"
)]
pub trait RateLimit: Send + Sync + 'static {
    /// Counts the attempt and decides if it is allowed.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit cannot be checked. It is logged, and [`when_unavailable`](Self::when_unavailable)
    /// decides.
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision>;

    /// Returns the longest time that a check may take. After it the check is dropped, and the limit counts as unavailable.
    /// Default: 2 s.
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    /// Returns the decision about attempts that cannot be checked. Default: [`WhenUnavailable::Refuse`].
    fn when_unavailable(&self) -> WhenUnavailable {
        WhenUnavailable::Refuse
    }
}

/// The decision of a [`RateLimit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateDecision {
    /// The attempt is allowed.
    Allow,
    /// The attempt is over the limit. A later one may succeed after this time.
    ///
    /// The client gets 429 `rate_limited` with the time as `Retry-After`, in whole seconds, rounded up. The model reads it
    /// as the error of the tool.
    Wait(Duration),
}

impl<F> RateLimit for F
where
    F: Fn(&Attempt<'_>) -> Result<(), Duration> + Send + Sync + 'static,
{
    fn check<'a>(&'a self, attempt: &'a Attempt<'a>) -> LimitFuture<'a, RateDecision> {
        let decision = self(attempt).map_or_else(RateDecision::Wait, |()| RateDecision::Allow);
        Box::pin(std::future::ready(Ok(decision)))
    }
}

/// The reason for the refusal of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Throttled {
    /// It is over a limit for this time.
    Wait(Duration),
    /// A limit cannot be checked.
    Unchecked(Outage),
}

/// Checks rate limits, in order, until one refuses the attempt.
///
/// # Errors
///
/// Returns the reason of the refusal.
pub(crate) async fn check(limits: &[Arc<dyn RateLimit>], attempt: &Attempt<'_>) -> Result<(), Throttled> {
    for limit in limits {
        let check = async { limit.check(attempt).await };
        match ask("the rate limit", limit.timeout(), check).await {
            Ok(RateDecision::Allow) => {}
            Ok(RateDecision::Wait(delay)) => return Err(Throttled::Wait(delay)),
            Err(Outage::Unavailable) if limit.when_unavailable() == WhenUnavailable::Allow => {}
            Err(outage) => return Err(Throttled::Unchecked(outage)),
        }
    }
    Ok(())
}

impl From<Throttled> for Error {
    fn from(throttled: Throttled) -> Self {
        match throttled {
            Throttled::Wait(delay) => Self::rate_limited(delay),
            Throttled::Unchecked(outage) => outage.into(),
        }
    }
}
