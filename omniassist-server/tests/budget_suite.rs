//! The suite for token budgets: the budget in memory passes it, and budgets with one fault each do not.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use omniassist_server::testing::store::budgets::{self, BudgetFactory};
use omniassist_server::throttle::{Grant, InMemoryTokenBudget, LimitFuture, Reservation, Spent, TokenBudget};
use tokio::time::{Instant, advance};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone)]
struct Shared(Arc<InMemoryTokenBudget>);

impl TokenBudget for Shared {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        self.0.reserve(of, tokens)
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        self.0.settle(of, spent)
    }
}

struct InMemory;

impl BudgetFactory for InMemory {
    type Budget = Shared;

    async fn create(&self, tokens: u64) -> [Shared; 2] {
        let budget = Shared(Arc::new(InMemoryTokenBudget::new(tokens, DAY)));
        [budget.clone(), budget]
    }

    async fn advance(&self, _budget: &Shared, by: Duration) {
        advance(by).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_budget_in_memory_passes() {
    budgets::concurrent_reservations_are_not_more_than_is_left(&InMemory).await;
    budgets::the_last_tokens_are_granted(&InMemory).await;
    budgets::a_repeated_reservation_replaces_the_earlier_one(&InMemory).await;
    budgets::used_tokens_count(&InMemory).await;
    budgets::usage_beyond_the_budget_is_counted(&InMemory).await;
    budgets::principals_have_tokens_of_their_own(&InMemory).await;
    budgets::a_budget_is_renewed(&InMemory).await;
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Two processes see different tokens.
    OwnTokens,
    AllOrNothing,
    WaitsForRenewalOfLentTokens,
    AddsRepeatedReservations,
    DropsReservationsThatCannotGrow,
    KeepsUnusedTokens,
    IgnoresUnknownReservations,
    Overflows,
    OneAccount,
    NeverRenewed,
    NeverExpires,
    ExpiresEarly,
}

/// A budget as in the documentation of `TokenBudget`, with a fault.
#[derive(Clone)]
struct Faulty {
    tokens: u64,
    fault: Fault,
    accounts: Arc<Mutex<HashMap<String, Account>>>,
}

struct Account {
    began: Instant,
    spent: u64,
    reserved: HashMap<String, (u64, Instant)>,
}

impl Faulty {
    fn with<T>(&self, of: &Reservation, work: impl FnOnce(&mut Account) -> T) -> T {
        let name = if self.fault == Fault::OneAccount { "all" } else { of.account().id() };
        let mut accounts = self.accounts.lock().unwrap();
        let new = || Account { began: Instant::now(), spent: 0, reserved: HashMap::new() };
        let account = accounts.entry(name.to_owned()).or_insert_with(new);
        if account.began.elapsed() >= DAY && self.fault != Fault::NeverRenewed {
            (account.began, account.spent) = (Instant::now(), 0);
        }
        match self.fault {
            Fault::NeverExpires => {}
            Fault::ExpiresEarly => account.reserved.retain(|_, (_, end)| *end > Instant::now() + DAY / 288),
            _ => account.reserved.retain(|_, (_, end)| *end > Instant::now()),
        }
        work(account)
    }
}

impl TokenBudget for Faulty {
    fn reserve<'a>(&'a self, of: &'a Reservation, tokens: RangeInclusive<u64>) -> LimitFuture<'a, Grant> {
        let grant = self.with(of, |account| {
            let others = account
                .reserved
                .iter()
                .filter(|(id, _)| id.as_str() != of.id() || self.fault == Fault::AddsRepeatedReservations);
            let others: u64 = others.map(|(_, (tokens, _))| tokens).sum();
            let left = self.tokens.saturating_sub(account.spent);
            let room = left.saturating_sub(others);
            let least = if self.fault == Fault::AllOrNothing { tokens.end() } else { tokens.start() };
            if room < *least {
                if self.fault == Fault::DropsReservationsThatCannotGrow {
                    account.reserved.remove(of.id());
                }
                let is_lent = left >= *least && self.fault != Fault::WaitsForRenewalOfLentTokens;
                return Grant::Exceeded { retry_after: if is_lent { Duration::from_secs(1) } else { DAY } };
            }
            let granted = room.min(*tokens.end());
            account.reserved.insert(of.id().to_owned(), (granted, Instant::now() + of.lifetime()));
            Grant::Tokens(granted)
        });
        Box::pin(async move { Ok(grant) })
    }

    fn settle<'a>(&'a self, of: &'a Reservation, spent: &'a Spent) -> LimitFuture<'a, ()> {
        self.with(of, |account| {
            let reserved = match self.fault {
                Fault::KeepsUnusedTokens => account.reserved.get(of.id()).copied(),
                _ => account.reserved.remove(of.id()),
            };
            if reserved.is_none() && self.fault == Fault::IgnoresUnknownReservations {
                return;
            }
            account.spent = match self.fault {
                Fault::Overflows => account.spent.wrapping_add(spent.tokens()),
                _ => account.spent.saturating_add(spent.tokens()),
            };
        });
        Box::pin(async { Ok(()) })
    }
}

impl BudgetFactory for Fault {
    type Budget = Faulty;

    async fn create(&self, tokens: u64) -> [Faulty; 2] {
        let budget = Faulty { tokens, fault: *self, accounts: Arc::default() };
        let mut other = budget.clone();
        if *self == Fault::OwnTokens {
            other.accounts = Arc::default();
        }
        [budget, other]
    }

    async fn advance(&self, _budget: &Faulty, by: Duration) {
        advance(by).await;
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_is_found() {
    budgets::all(&Fault::None).await;
    for fault in [
        Fault::OwnTokens,
        Fault::AllOrNothing,
        Fault::WaitsForRenewalOfLentTokens,
        Fault::AddsRepeatedReservations,
        Fault::DropsReservationsThatCannotGrow,
        Fault::KeepsUnusedTokens,
        Fault::IgnoresUnknownReservations,
        Fault::Overflows,
        Fault::OneAccount,
        Fault::NeverRenewed,
        Fault::NeverExpires,
        Fault::ExpiresEarly,
    ] {
        let checked = AssertUnwindSafe(budgets::all(&fault)).catch_unwind().await;
        assert!(checked.is_err(), "{fault:?}");
    }
}
