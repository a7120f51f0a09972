//! Tests of the MCP server over real sockets, with requests as clients send them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod agents;
mod approvals;
mod calls;
mod edge;
mod host;
mod leaving;
mod limits;
mod lists;
mod refused_state;
