//! Tests of the adapter over real sockets, with real clients.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod compression;
mod hosts;
mod mounting;
mod serving;
mod shutdown;
