//! Tests of the OpenAI providers.

#![allow(
    clippy::needless_pass_by_value,
    clippy::print_stderr,
    reason = "`json!` values are built where they are used, and the tests print the number of checks"
)]

mod accepted;
mod background;
mod compat;
mod constrained;
mod cuts;
mod decode_chat;
mod decode_responses;
mod encode;
mod fixtures;
pub(crate) mod harness;
mod provider;
mod schemas;
mod settings;
pub(crate) mod streams;
