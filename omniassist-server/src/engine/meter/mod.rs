//! Token budgets: the tokens that a run reserves and spends from the budget of its principal.

mod budget;
pub(super) mod estimate;
mod lease;
mod metered;
mod run_meter;
mod tally;

pub(super) use budget::Budget;
pub(super) use run_meter::Meter;
pub(super) use tally::Tally;
