use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use omniassist_core::{Error, Text, Usage};
use tokio::runtime::Handle;
use uuid::Uuid;

use super::budget::{Budget, Stop};
use super::estimate;
use super::lease::Lease;
use crate::sync::lock;
use crate::throttle::{Attempt, Reservation, Spent};
use crate::{Principal, panics};

/// The number of output tokens that a model call reserves at a time.
pub(super) const RESERVATION: u64 = 64;

/// Counts the tokens of one run. A clone counts for the same run.
#[derive(Clone)]
pub(in crate::engine) struct Meter {
    shared: Arc<Shared>,
}

struct Shared {
    budget: Arc<Budget>,
    account: Principal,
    runtime: Handle,
    id: Text,
    lifetime: Duration,
    /// The number of reservations so far.
    reservations: AtomicU32,
    /// The reservation for the next model call.
    next: Mutex<Option<Lease>>,
}

impl Meter {
    /// Creates the meter of a client's run, with a reservation.
    ///
    /// # Errors
    ///
    /// Returns an error if nothing is left for the run, or the budget fails.
    pub(in crate::engine) async fn admit(
        budget: &Arc<Budget>,
        attempt: &Attempt<'_>,
        lifetime: Duration,
    ) -> Result<Self, Error> {
        let meter = Self::unreserved_for(budget, attempt, lifetime)?;
        meter.reserve_next().await?;
        Ok(meter)
    }

    /// Creates the meter of a run that goes on without its client. Its first model call makes the first reservation, so
    /// that a run without tokens ends with an error in its conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the budget panics.
    pub(in crate::engine) fn unreserved_for(
        budget: &Arc<Budget>,
        attempt: &Attempt<'_>,
        lifetime: Duration,
    ) -> Result<Self, Error> {
        let account = panics::catch("the token budget", || budget.tokens.account(attempt));
        let account = account.ok_or_else(Error::internal)?;
        let runtime = Handle::try_current().map_err(|_| Error::internal())?;
        Ok(Self {
            shared: Arc::new(Shared {
                budget: Arc::clone(budget),
                account,
                runtime,
                id: Uuid::now_v7().simple().to_string().into(),
                lifetime,
                reservations: AtomicU32::new(0),
                next: Mutex::default(),
            }),
        })
    }

    /// Reserves tokens for the next model call, whose size is not known yet.
    pub(super) async fn reserve_next(&self) -> Result<(), Stop> {
        let Shared { budget, runtime, .. } = &*self.shared;
        let (budget, runtime) = (Arc::clone(budget), runtime.clone());
        let lease = Lease::begin(budget, self.reservation(), runtime, 1..=RESERVATION).await?;
        *lock(&self.shared.next) = Some(lease);
        Ok(())
    }

    /// Returns the reservation for the next model call.
    pub(super) fn next_lease(&self) -> Lease {
        lock(&self.shared.next).take().unwrap_or_else(|| self.unreserved())
    }

    /// Spends the tokens that a summary used. They are estimated if its provider did not report them.
    pub(in crate::engine) fn count_summary(&self, mut usage: Usage, read: usize, written: usize) {
        let is_estimated = usage.input_tokens.is_none() || usage.output_tokens.is_none();
        usage.input_tokens.get_or_insert(estimate::tokens(read as u64));
        usage.output_tokens.get_or_insert(estimate::tokens(written as u64));
        drop(self.unreserved().settle(Spent::new(usage, is_estimated)));
    }

    fn unreserved(&self) -> Lease {
        let Shared { budget, runtime, .. } = &*self.shared;
        Lease::unreserved(Arc::clone(budget), self.reservation(), runtime.clone())
    }

    fn reservation(&self) -> Reservation {
        let Shared { account, id, lifetime, reservations, .. } = &*self.shared;
        let number = reservations.fetch_add(1, Ordering::Relaxed);
        Reservation::new(account.clone(), format!("{id}-{number}"), *lifetime)
    }
}
