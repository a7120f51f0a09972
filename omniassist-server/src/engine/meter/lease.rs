use std::future::Future;
use std::ops::RangeInclusive;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::budget::{Budget, Stop};
use crate::throttle::{Reservation, Spent};

/// A reservation of a run. Dropping it settles it with nothing.
pub(super) struct Lease {
    budget: Arc<Budget>,
    reservation: Reservation,
    runtime: Handle,
    is_settled: bool,
}

impl Lease {
    /// Reserves tokens. Dropping the future settles the reservation.
    pub(super) async fn begin(
        budget: Arc<Budget>,
        reservation: Reservation,
        runtime: Handle,
        tokens: RangeInclusive<u64>,
    ) -> Result<Self, Stop> {
        let lease = Self::unreserved(budget, reservation, runtime);
        lease.change(tokens).await?;
        Ok(lease)
    }

    /// Creates a lease that has reserved nothing.
    pub(super) fn unreserved(budget: Arc<Budget>, reservation: Reservation, runtime: Handle) -> Self {
        Self { budget, reservation, runtime, is_settled: false }
    }

    /// Changes the reservation, and returns its new number of tokens.
    pub(super) fn change(
        &self,
        tokens: RangeInclusive<u64>,
    ) -> impl Future<Output = Result<u64, Stop>> + Send + 'static {
        let (budget, reservation) = (Arc::clone(&self.budget), self.reservation.clone());
        async move { budget.reserve(&reservation, tokens).await }
    }

    /// Settles the reservation. Returns the task that completes the settlement, if it is not complete at once.
    pub(super) fn settle(mut self, spent: Spent) -> Option<JoinHandle<()>> {
        self.end(spent)
    }

    fn end(&mut self, spent: Spent) -> Option<JoinHandle<()>> {
        self.is_settled = true;
        self.budget.settle(self.reservation.clone(), spent, &self.runtime)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.is_settled {
            drop(self.end(Spent::nothing()));
        }
    }
}
