//! Tests of the tools of HTTP services, with real servers on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod arguments;
mod auth;
mod http_tool;
mod hub;
mod internal_hosts;
mod large;
mod limits;
mod malformed;
mod names;
mod paths;
mod provider_rules;
mod providers;
mod public_styles;
mod real_model;
mod responses;
mod schemas;
mod search;
mod server;
mod skipped;
mod ssrf;
mod styles;
