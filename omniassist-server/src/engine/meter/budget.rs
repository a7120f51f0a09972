use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use omniassist_core::Error;
use omniassist_core::event::RunErrorCode;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::throttle::{Grant, Outage, Reservation, Spent, TokenBudget, WhenUnavailable, ask};

/// A budget of the host and its pending settlements.
pub(in crate::engine) struct Budget {
    pub(super) tokens: Arc<dyn TokenBudget>,
    tasks: TaskTracker,
}

/// The reason why tokens are not reserved.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    Exceeded(Duration),
    Unchecked(Outage),
}

impl Budget {
    pub(in crate::engine) fn new(tokens: Arc<dyn TokenBudget>) -> Self {
        Self { tokens, tasks: TaskTracker::new() }
    }

    /// Reserves tokens, and returns their number.
    pub(super) async fn reserve(&self, of: &Reservation, tokens: RangeInclusive<u64>) -> Result<u64, Stop> {
        let (least, most) = (*tokens.start(), *tokens.end());
        let reserve = async { self.tokens.reserve(of, tokens).await };
        match ask("the token budget", self.tokens.timeout(), reserve).await {
            Ok(Grant::Tokens(granted)) => Ok(granted.max(least).min(most)),
            Ok(Grant::Exceeded { retry_after }) => Err(Stop::Exceeded(retry_after)),
            Err(Outage::Unavailable) if self.tokens.when_unavailable() == WhenUnavailable::Allow => Ok(most),
            Err(outage) => Err(Stop::Unchecked(outage)),
        }
    }

    /// Settles a reservation. A settlement that is not complete at once continues in a task, which is returned. The task is of
    /// the current runtime, or of this one where there is none.
    pub(super) fn settle(
        self: &Arc<Self>,
        of: Reservation,
        spent: Spent,
        runtime: &Handle,
    ) -> Option<JoinHandle<()>> {
        let budget = Arc::clone(self);
        let mut settlement: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let settle = async { budget.tokens.settle(&of, &spent).await };
            if ask("the token budget", budget.tokens.timeout(), settle).await.is_err() {
                tracing::error!(
                    account = of.account().id(),
                    tokens = spent.tokens(),
                    "the tokens of a model call were not counted"
                );
            }
        });
        let current = Handle::try_current();
        let runtime = current.as_ref().unwrap_or(runtime);
        let _context = runtime.enter();
        match settlement.as_mut().now_or_never() {
            Some(()) => None,
            None => Some(runtime.spawn(self.tasks.track_future(settlement))),
        }
    }

    /// Waits until every settlement is complete.
    pub(in crate::engine) async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Exceeded(retry_after) => Self::token_budget_exceeded(retry_after),
            Stop::Unchecked(outage) => outage.into(),
        }
    }
}

/// The error that ends the answer of a model.
impl From<Stop> for crate::Error {
    fn from(stop: Stop) -> Self {
        let code = match stop {
            Stop::Exceeded(_) => RunErrorCode::TokenBudgetExceeded,
            Stop::Unchecked(Outage::Unavailable) => RunErrorCode::LimitsUnavailable,
            Stop::Unchecked(Outage::Panicked) => RunErrorCode::Internal,
        };
        let error = Self::stopped(code);
        match Error::from(stop).retry_after() {
            Some(delay) => error.with_retry_after(delay),
            None => error,
        }
    }
}
