//! One run, from its preparation to its end, and the runs in progress.

mod admitted;
mod client;
mod driver;
mod gate;
pub(super) mod handoff;
mod live;
mod preparation;
mod recording;
mod script;
mod shown_components;
mod stream;
pub(super) mod verification;

pub(super) use admitted::{Admitted, ChatKey, Post, Wanted};
pub(super) use client::ClientQueue;
pub(crate) use client::ClientRun;
pub(super) use driver::{Driver, RunParts};
pub(super) use gate::UsedBefore;
pub(super) use live::{LiveRun, LiveRuns};
pub(super) use preparation::{
    NotPrepared, Prepare, Unprepared, contained, prepare, prepare_invalid, prepare_scripted,
};
pub(super) use script::Script;
pub(super) use stream::{EventSink, poll_one};
pub use stream::{Run, RunFailure, RunHandle, RunOutcome};
