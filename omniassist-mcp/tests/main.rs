//! Tests of the crate.

#[cfg(feature = "client")]
mod client;
