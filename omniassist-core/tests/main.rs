//! Integration tests of the core, in one binary.

// The test settings of `clippy.toml` apply to test functions, but not to their helpers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::string_slice,
    reason = "tests fail by panicking"
)]
// The rules against files and clocks apply only to the published code.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests may use the operating system")]

mod ag_ui;
mod agent_frames;
mod ai_sdk;
mod ai_sdk_request;
mod bridge;
mod canonical;
mod chat_completions;
mod compact;
mod context;
mod cursors;
mod filter;
mod history;
mod journal;
mod json_guard;
mod last_message;
mod machine;
mod obligations;
mod official;
#[cfg(feature = "partial-json")]
mod partial_json;
mod posted_back;
mod provider_items;
mod question;
mod read;
mod records;
mod round_trip;
mod secret;
mod sse;
mod strategies;
mod text_stream;
mod transcript;
mod tree;
mod typescript;
mod verify;
