//! Rate limits and token budgets of clients' runs.
//!
//! The number of concurrent runs is bounded by [`Limits`](omniassist_core::Limits), with defaults. The number of runs
//! that begin in a period is bounded by [`AssistantBuilder::rate_limit`], with a `PrincipalRate` of this module (cargo
//! feature `rate-limit`) or an implementation of [`RateLimit`]. Runs over it are refused before the model is called. The
//! number of tokens that a principal may use is bounded by [`AssistantBuilder::token_budget`], with an
//! [`InMemoryTokenBudget`] or an implementation of [`TokenBudget`]. It is enforced while the model writes.
//!
//! Both count for each principal, or for a key of the host such as the tenant (`per`). Several rate limits can be added.
//!
//! Limits on all requests, or by address, belong in middleware in front of the assistant. These limits know the
//! principal and the run.
//!
//! ```
//! use std::time::Duration;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::throttle::{InMemoryTokenBudget, RunAttempt};
//! use omniassist_server::Assistant;
//!
//! # fn main() -> omniassist_server::Result<()> {
//! // At night, only the staff of the shop may begin runs.
//! let shop_is_open = || true;
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .rate_limit(move |attempt: &RunAttempt<'_>| {
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
//! The traits of this module are called synchronously. A limit that several instances share, in Redis or PostgreSQL, is a
//! function of [`AssistantBuilder::prepare`]. It is awaited before the model is called, and its refusal is the HTTP
//! response:
//!
//! ```
//! use std::time::Duration;
//! use http::StatusCode;
//! use omniassist_server::tool::State;
//! use omniassist_server::{Principal, Refusal, RunPlan};
//! # use omniassist_server::Assistant;
//! # use omniassist_server::testing::ScriptedProvider;
//! # #[derive(Clone)]
//! # struct Redis;
//! # impl Redis {
//! #     async fn increment(&self, _key: &str) -> std::io::Result<u64> { Ok(1) }
//! # }
//!
//! async fn hourly(_: &mut RunPlan, State(redis): State<Redis>, user: Principal) -> Result<(), Refusal> {
//!     if redis.increment(&format!("runs:{}", user.id())).await? > 100 {
//!         let refusal = Refusal::new("rate_limited", "You have used the assistant often. Try again in an hour.");
//!         return Err(refusal.status(StatusCode::TOO_MANY_REQUESTS).retry_after(Duration::from_secs(3600)));
//!     }
//!     Ok(())
//! }
//!
//! # fn main() -> omniassist_server::Result<()> {
//! let assistant = Assistant::builder(ScriptedProvider::new()).state(Redis).prepare(hourly).build()?;
//! # let _ = assistant;
//! # Ok(())
//! # }
//! ```
//!
//! [`AssistantBuilder::prepare`]: crate::AssistantBuilder::prepare
//! [`AssistantBuilder::rate_limit`]: crate::AssistantBuilder::rate_limit
//! [`AssistantBuilder::token_budget`]: crate::AssistantBuilder::token_budget

mod attempt;
mod budget;
mod in_memory;
#[cfg(feature = "rate-limit")]
mod principal_rate;
mod rate;

pub use attempt::RunAttempt;
pub use budget::{Spent, TokenBudget, TokensLeft};
pub use in_memory::InMemoryTokenBudget;
#[cfg(feature = "rate-limit")]
pub use principal_rate::PrincipalRate;
pub use rate::RateLimit;
pub(crate) use rate::asked;
