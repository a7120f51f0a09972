//! Integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "that is how a test fails; clippy's own exception covers test functions only, not what they call"
)]

mod budget;
mod conformance;
mod encrypted;
mod faults;
mod file;
mod folder;
mod forgotten;
mod processes;
mod queue;
mod trees;
mod versions;
