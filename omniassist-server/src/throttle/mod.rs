//! Rate limits and token budgets of clients' runs.
//!
//! The number of concurrent runs is bounded by [`Limits`](omniassist_core::Limits), with defaults. The number of runs
//! that begin in a period is bounded by [`AssistantBuilder::rate_limit`], with an `InMemoryRateLimit` of this module (cargo
//! feature `rate-limit`) or an implementation of [`RateLimit`]. Runs over it are refused before the model is called. The
//! number of tokens that a principal may use is bounded by [`AssistantBuilder::token_budget`], with an
//! [`InMemoryTokenBudget`] or an implementation of [`TokenBudget`]. It is enforced while the model writes.
//!
//! Both count for each principal, or for a key of the host such as the tenant (`per`). Several rate limits can be added.
//! [`Tool::rate_limit`](crate::Tool::rate_limit) bounds the calls of one tool.
//!
//! Limits on all requests, or by address, belong in middleware in front of the assistant. The limits of this module
//! apply to the principal and the run.
//!
//! ```
//! use std::time::Duration;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::throttle::{InMemoryTokenBudget, Attempt};
//! use omniassist_server::Assistant;
//!
//! # fn main() -> omniassist_server::Result<()> {
//! // At night, only the staff of the shop may begin runs.
//! let shop_is_open = || true;
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .rate_limit(move |attempt: &Attempt<'_>| {
//!         if shop_is_open() || attempt.principal().id().starts_with("staff-") {
//!             Ok(())
//!         } else {
//!             Err(Duration::from_secs(3600))
//!         }
//!     })
//!     .token_budget(InMemoryTokenBudget::new(200_000, Duration::from_secs(24 * 60 * 60)))
//!     .build()?;
//! # let _ = assistant;
//! # Ok(())
//! # }
//! ```
//!
//! # Limits in a shared store
//!
//! The methods of [`RateLimit`] and [`TokenBudget`] are async, so limits that several instances share can be stored in
//! Redis or PostgreSQL. Each trait has an example. A limit that fails or takes longer than 2 s refuses the run with 503
//! `limits_unavailable`; the methods `timeout` and `when_unavailable` change that for each limit.
//!
//! [`AssistantBuilder::rate_limit`]: crate::AssistantBuilder::rate_limit
//! [`AssistantBuilder::token_budget`]: crate::AssistantBuilder::token_budget

mod attempt;
mod budget;
mod in_memory_budget;
#[cfg(feature = "rate-limit")]
mod in_memory_rate;
mod outage;
mod rate;

pub use attempt::Attempt;
pub use budget::{Grant, Reservation, Spent, TokenBudget};
pub use in_memory_budget::InMemoryTokenBudget;
#[cfg(feature = "rate-limit")]
pub use in_memory_rate::InMemoryRateLimit;
pub use outage::{LimitFuture, WhenUnavailable};
pub(crate) use outage::{Outage, ask};
pub use rate::{RateDecision, RateLimit};
pub(crate) use rate::{Throttled, check};
