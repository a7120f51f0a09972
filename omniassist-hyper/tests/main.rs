//! Tests of the adapter over real sockets, with real clients of HTTP/1 and HTTP/2.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod access;
mod client;
mod mounting;
mod serving;
mod shutdown;
