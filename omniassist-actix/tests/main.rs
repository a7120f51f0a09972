//! Tests of the adapter over real sockets, with real clients.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod bodies;
mod bridging;
mod client;
mod host_data;
mod leaving;
mod mounting;
mod serving;
mod shutdown;
mod stored;
