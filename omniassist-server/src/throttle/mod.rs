//! Who may begin a run now, and how much it may use: rate limits and token budgets.
//!
//! How many runs may be under way at the same time is a matter of [`Limits`](omniassist_core::Limits), and is limited by
//! default. How many may begin in some time is the host's to say, with [`AssistantBuilder::rate_limit`]: by a
//! `PrincipalRate` of this module (cargo feature `rate-limit`), or by a [`RateLimit`] of its own. Whoever is over it is
//! answered before a model is asked. How many tokens a principal may use is said with [`AssistantBuilder::token_budget`],
//! by an [`InMemoryTokenBudget`] or a [`TokenBudget`] of the host's own; it is kept while the model talks.
//!
//! A limit on requests of every kind, or one by address, is better kept in the host's own middleware, in front of the
//! assistant; this one knows the principal and what the run is about.
//!
//! ```
//! use std::time::Duration;
//! use omniassist_server::testing::ScriptedProvider;
//! use omniassist_server::throttle::RunAttempt;
//! use omniassist_server::Assistant;
//!
//! # fn main() -> omniassist_server::Result<()> {
//! // The shop closes at night: nobody but its staff may ask.
//! let shop_is_open = || true;
//! let assistant = Assistant::builder(ScriptedProvider::new())
//!     .rate_limit(move |attempt: &RunAttempt<'_>| {
//!         if shop_is_open() || attempt.principal().id().starts_with("staff-") {
//!             Ok(())
//!         } else {
//!             Err(Duration::from_secs(3600))
//!         }
//!     })
//!     .build()?;
//! # let _ = assistant;
//! # Ok(())
//! # }
//! ```
//!
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
