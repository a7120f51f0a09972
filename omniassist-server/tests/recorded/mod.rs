//! Recorded provider streams: through each decoder, through the whole engine in process, over HTTP, and cut after
//! every event. The recordings are no part of the repository: `OMNIASSIST_FIXTURES` says where they are.
//!
//! A new API adds one entry in [`apis::APIS`], and its rules in [`legal`].

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are written where they are used; how much was checked is part of the result"
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

/// Fails with all that is wrong at once, and says how much was checked.
fn report(what: &str, failures: &[String]) {
    eprintln!("{what}: {} differences", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
