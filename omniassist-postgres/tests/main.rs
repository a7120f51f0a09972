//! Integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod agents;
mod bouncer;
mod budget;
mod components;
mod conformance;
mod database;
mod durability;
mod encrypted;
mod faults;
mod growth;
mod guard;
mod hints;
mod rate;
mod tls;
mod versions;
