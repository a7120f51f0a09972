//! The decisions of the host about one run and about each of its model calls.

mod call;
mod hook;
mod refusal;
mod run_plan;
mod step_plan;

pub(super) use call::Call;
pub use hook::{PlanHandler, PlanParameters};
pub(super) use hook::{PlanHook, unmet_need};
pub(crate) use refusal::Admission;
pub use refusal::Refusal;
pub use run_plan::RunPlan;
pub(super) use run_plan::{Planned, Planning};
pub use step_plan::StepPlan;
pub(super) use step_plan::{Stepping, Steps};
