//! Tests with recorded provider streams: each decoder, the whole engine in process and over HTTP, and streams that are
//! cut after every event. The recordings are not part of the repository. `OMNIASSIST_FIXTURES` names their folder.
//!
//! A new API needs an entry in [`apis::APIS`] and rules in [`legal`].

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are built where they are used, and the tests print the number of checks"
)]

pub(crate) mod apis;
mod cuts;
mod decoder;
mod engine;
pub(crate) mod legal;
mod library;
mod over_http;
mod seen;
mod stage;
mod vetoes;

/// Prints the number of checks and fails with all failures at once.
fn report(what: &str, failures: &[String]) {
    eprintln!("{what}: {} differences", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
