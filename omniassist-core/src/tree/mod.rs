//! The budget of a tree of agents: an agent that asks others, which may ask others in turn.
//!
//! A check after a model call comes too late. The [`Ledger`] of a tree therefore reserves the tokens of each call before it
//! is made: the estimated input and the maximum output, for the agent and for all agents above it. The maximum
//! is sent to the provider. A budget of money is reserved in the same way, by the prices of the called model.
//!
//! The last call that a limit allows is made without tools, so that tokens that were spent yield an answer. Agents below
//! leave enough for the answers of those above.
//!
//! ```
//! use omniassist_core::tree::{AgentBudget, Ledger, Limit, TreeLimits};
//!
//! let mut ledger = Ledger::new(TreeLimits::new().tokens(20_000).depth(1));
//! let child = ledger.open(Ledger::ROOT, AgentBudget::new().tokens(8_000))?;
//! assert_eq!(ledger.open(child, AgentBudget::new()), Err(Limit::Depth));
//!
//! let call = ledger.reserve(child, 1_000, Some(500), None)?;
//! assert_eq!(call.max_output(), Some(500));
//! ledger.settle(call, 1_200, 0);
//! assert_eq!(ledger.spent(Ledger::ROOT), 1_200);
//! # Ok::<(), Limit>(())
//! ```

mod account;
mod ledger;
mod limits;

pub use account::TokenPrice;
pub use ledger::{Ledger, NodeId, Reservation};
pub use limits::{AgentBudget, Limit, TreeLimits};
