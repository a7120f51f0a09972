//! Token budgets that several processes share.
//!
//! A [`TokenBudget`] is no store of runs, so it has a factory of its own, [`BudgetFactory`], and [`all`](super::all) does not
//! check it. A budget of one process need not let reservations expire, because the assistant settles each of them. Its test
//! calls all functions but [`a_reservation_that_nobody_settles_expires`].
//!
//! ```
//! use std::time::Duration;
//!
//! use omniassist_server::testing::store::budgets::{self, BudgetFactory};
//! use omniassist_server::throttle::TokenBudget;
//!
//! /// Checks a budget of an application, of which `open` returns a handle to an empty database.
//! async fn check<B: TokenBudget>(open: impl Fn(u64) -> [B; 2] + Send + Sync, advance: impl Fn(Duration) + Send + Sync) {
//!     struct Source<O, A>(O, A);
//!
//!     impl<B: TokenBudget, O: Fn(u64) -> [B; 2] + Send + Sync, A: Fn(Duration) + Send + Sync> BudgetFactory for Source<O, A> {
//!         type Budget = B;
//!
//!         async fn create(&self, tokens: u64) -> [B; 2] {
//!             (self.0)(tokens)
//!         }
//!
//!         async fn advance(&self, _budget: &B, by: Duration) {
//!             (self.1)(by);
//!         }
//!     }
//!
//!     budgets::all(&Source(open, advance)).await;
//! }
//! ```

use std::future::Future;
use std::ops::RangeInclusive;
use std::time::Duration;

use futures_util::future::join_all;
use omniassist_core::Usage;

use crate::Principal;
use crate::throttle::{Grant, Reservation, Spent, TokenBudget};

/// The lifetime of the reservations.
const LIFETIME: Duration = Duration::from_secs(600);

/// The longest delay after which a run may ask again for tokens that are only reserved.
const LENT: Duration = Duration::from_secs(1);

/// The source of the budgets that the functions of this module check.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not create budgets to check",
    note = "implement `BudgetFactory` for a type of the test"
)]
pub trait BudgetFactory: Send + Sync {
    /// The budget.
    type Budget: TokenBudget;

    /// Creates a budget of this many tokens for each principal, of which nothing is used. Returns it twice, as two processes
    /// have it. The suite calls it for each behaviour.
    fn create(&self, tokens: u64) -> impl Future<Output = [Self::Budget; 2]> + Send;

    /// Lets time pass for a budget.
    ///
    /// A budget that uses tokio's clock calls `tokio::time::advance` in a test with a paused clock. A budget that uses the
    /// clock of its database moves the ends of its reservations back, and the days or windows of its tokens.
    fn advance(&self, budget: &Self::Budget, by: Duration) -> impl Future<Output = ()> + Send;

    /// Returns the time after which a budget is renewed at the latest. Default: a day.
    fn window(&self) -> Duration {
        Duration::from_secs(24 * 60 * 60)
    }
}

/// Checks all of this module.
pub async fn all<F: BudgetFactory>(factory: &F) {
    concurrent_reservations_are_not_more_than_is_left(factory).await;
    the_last_tokens_are_granted(factory).await;
    a_repeated_reservation_replaces_the_earlier_one(factory).await;
    used_tokens_count(factory).await;
    usage_beyond_the_budget_is_counted(factory).await;
    principals_have_tokens_of_their_own(factory).await;
    a_budget_is_renewed(factory).await;
    a_reservation_that_nobody_settles_expires(factory).await;
}

/// Processes that reserve tokens at the same moment get no more than the budget together.
pub async fn concurrent_reservations_are_not_more_than_is_left<F: BudgetFactory>(factory: &F) {
    let budgets = factory.create(101).await;
    let ids: Vec<_> = (0..40).map(|id| id.to_string()).collect();
    let reservations = ids.iter().zip(budgets.iter().cycle()).map(|(id, budget)| reserve(budget, id, 5..=10));
    let grants = join_all(reservations).await;
    let granted: u64 = grants.iter().flatten().sum();
    assert_eq!(granted, 100, "ten reservations of ten tokens; one token is less than five: {grants:?}");
    assert!(grants.iter().filter_map(|grant| grant.err()).all(|delay| delay <= LENT), "{grants:?}");
}

/// A reservation gets as many tokens of its range as are left. Without the least of them it gets none, and a delay: of one
/// second while others only hold the tokens, and until the renewal when they are used.
pub async fn the_last_tokens_are_granted<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    assert!(reserve(&first, "a", 101..=200).await.is_err());
    assert_eq!(reserve(&first, "a", 1..=60).await, Ok(60));
    let lent = reserve(&second, "b", 41..=64).await.unwrap_err();
    assert!(lent > Duration::ZERO && lent <= LENT, "{lent:?}");
    assert_eq!(reserve(&second, "b", 40..=64).await, Ok(40));
    settle(&first, "a", 60).await;
    let used = reserve(&second, "c", 41..=64).await.unwrap_err();
    assert!(used > Duration::ZERO && used <= factory.window(), "{used:?}");
}

/// A reservation with the id of an earlier one changes its number, and leaves it as it was if too few tokens are left.
pub async fn a_repeated_reservation_replaces_the_earlier_one<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    assert_eq!(reserve(&first, "a", 1..=100).await, Ok(100));
    assert_eq!(reserve(&second, "a", 1..=70).await, Ok(70));
    assert_eq!(reserve(&second, "b", 30..=30).await, Ok(30));
    assert!(reserve(&first, "a", 71..=80).await.is_err());
    assert!(reserve(&second, "c", 1..=1).await.is_err(), "the earlier reservation was changed");
    settle(&first, "a", 0).await;
    assert_eq!(reserve(&second, "c", 1..=100).await, Ok(70));
}

/// The end of a reservation counts the tokens that were used, and gives the others back. Tokens of a reservation that the
/// budget does not know count too.
pub async fn used_tokens_count<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    assert_eq!(reserve(&first, "a", 1..=80).await, Ok(80));
    settle(&first, "a", 30).await;
    settle(&second, "unknown", 20).await;
    assert_eq!(reserve(&second, "b", 1..=100).await, Ok(50));
    settle(&second, "b", 0).await;
    assert_eq!(reserve(&first, "c", 1..=100).await, Ok(50));
}

/// A model call can use more than was reserved, and more than a number of the database can hold.
pub async fn usage_beyond_the_budget_is_counted<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    for (id, tokens) in [("a", u64::MAX), ("b", 2)] {
        settle(&first, id, tokens).await;
        assert!(reserve(&second, "c", 1..=1).await.is_err(), "after {tokens}");
    }
}

/// A principal has no tokens less because of another one.
pub async fn principals_have_tokens_of_their_own<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    assert_eq!(reserve(&first, "a", 1..=100).await, Ok(100));
    settle(&first, "a", 100).await;
    let of_bob = Reservation::new(Principal::new("bob"), "b", LIFETIME);
    assert_eq!(second.reserve(&of_bob, 1..=100).await.unwrap(), Grant::Tokens(100));
}

/// After the [window](BudgetFactory::window) the whole budget is there again.
pub async fn a_budget_is_renewed<F: BudgetFactory>(factory: &F) {
    let [first, second] = factory.create(100).await;
    settle(&first, "a", 150).await;
    assert!(reserve(&second, "b", 1..=1).await.is_err());
    factory.advance(&first, factory.window()).await;
    assert_eq!(reserve(&second, "b", 1..=200).await, Ok(100));
}

/// A process that is killed settles nothing. Its tokens are free after the lifetime of the reservation, or count as used until
/// the budget is renewed.
pub async fn a_reservation_that_nobody_settles_expires<F: BudgetFactory>(factory: &F) {
    let [killed, next] = factory.create(100).await;
    assert_eq!(reserve(&killed, "a", 60..=60).await, Ok(60));
    factory.advance(&next, LIFETIME / 2).await;
    assert!(reserve(&next, "b", 41..=41).await.is_err(), "half of the lifetime has passed");
    factory.advance(&next, LIFETIME).await;
    assert_eq!(reserve(&next, "b", 40..=40).await, Ok(40));
    settle(&next, "b", 0).await;
    factory.advance(&next, factory.window()).await;
    assert_eq!(reserve(&next, "c", 1..=100).await, Ok(100));
}

/// Reserves tokens of one principal. Returns their number, or the delay after which there may be more.
async fn reserve(budget: &impl TokenBudget, id: &str, tokens: RangeInclusive<u64>) -> Result<u64, Duration> {
    match budget.reserve(&of_ada(id), tokens).await.unwrap() {
        Grant::Tokens(tokens) => Ok(tokens),
        Grant::Exceeded { retry_after } => Err(retry_after),
    }
}

async fn settle(budget: &impl TokenBudget, id: &str, tokens: u64) {
    let mut usage = Usage::default();
    usage.input_tokens = Some(tokens);
    budget.settle(&of_ada(id), &Spent::new(usage, false)).await.unwrap();
}

fn of_ada(id: &str) -> Reservation {
    Reservation::new(Principal::new("ada"), id.to_owned(), LIFETIME)
}
