//! Integration tests of the core, in one binary.

mod machine;
#[cfg(feature = "partial-json")]
mod partial_json;
mod sse;
mod transcript;
