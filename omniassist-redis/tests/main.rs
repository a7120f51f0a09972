//! Integration tests, with a real Redis.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod agents;
mod encrypted;
mod failover;
mod limits;
mod outage;
mod page;
mod tail;
mod tls;
