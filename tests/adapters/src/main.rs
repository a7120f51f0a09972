//! One behaviour suite over real sockets for every adapter: axum over HTTP/1, and actix-web and hyper over HTTP/1 and
//! HTTP/2. At the end it prints a table of the results.
//!
//! `cargo test -p omniassist-adapter-suite` runs all cases. With `-- leaving http2`, it runs the cases with both words
//! in their names. [`table`] lists the cases, and [`corpus`] lists requests whose answers must be the same bytes over
//! all transports.

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
