//! One behaviour suite over real sockets, run unchanged over every adapter: axum, and actix-web and hyper, both over HTTP/1
//! and over HTTP/2. At the end it prints which case passed over which.
//!
//! `cargo test -p omniassist-adapter-suite` runs everything, `… -- leaving http2` what has both words in its name.
//! [`table`] lists the cases: a case is an `async fn(Transport)`, and one line there. [`corpus`] lists requests whose
//! answers must be the same bytes over all of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking, and this one prints its table"
)]

mod cases;
mod corpus;
mod host;
mod runner;
mod stage;
mod table;
mod transport;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    runner::main(&arguments)
}
