//! The adapter over real sockets, HTTP/1 and HTTP/2, driven as a client would.

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
