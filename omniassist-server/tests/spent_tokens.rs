//! A token budget without a limit, which keeps what runs spend.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use omniassist_server::throttle::{Grant, LimitFuture, Reservation, Spent, TokenBudget};

/// The spendings of runs. Those of nothing are left out.
#[derive(Clone, Default)]
pub(super) struct SpentTokens(pub(super) Arc<Mutex<Vec<Spent>>>);

impl TokenBudget for SpentTokens {
    fn reserve<'a>(&'a self, _: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        Box::pin(async move { Ok(Grant::Tokens(*tokens.end())) })
    }

    fn settle<'a>(&'a self, _: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        Box::pin(async move {
            self.0.lock().unwrap().extend((*spent != Spent::nothing()).then_some(*spent));
            Ok(())
        })
    }
}
