//! Integration tests of the core, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod machine;
#[cfg(feature = "partial-json")]
mod partial_json;
mod sse;
mod ai_sdk;
mod ai_sdk_request;
mod read;
mod round_trip;
mod strategies;
mod transcript;
//! Integration tests.
mod context;
