//! The task that drives a leg of a run, and the journal that it writes.

mod given_up;
mod leg;
mod notices;
mod obligations;
mod recorder;
mod task;
mod usage_sum;

pub(super) use leg::{Built, Leg, Start};
pub(super) use notices::Notices;
pub(super) use recorder::Recorder;
pub(super) use task::{Lost, append, settle};
pub(super) use usage_sum::UsageSum;
