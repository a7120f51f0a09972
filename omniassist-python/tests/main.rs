//! Integration tests, with real worker processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod agents;
mod attacks;
mod dumps;
mod functions;
mod hooks;
mod limits;
mod programs;
mod progress;
mod runner;
mod runtime;
mod setup;
mod speed;
mod stored;
mod suspended;
mod workers;
