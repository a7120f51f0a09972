//! Integration tests of the core, in one binary.

mod machine;
mod sse;
mod transcript;
