//! Integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail by a panic, and clippy's exception for tests covers only the test functions themselves"
)]

mod access;
mod ag_ui;
mod agent_tree;
mod agents;
#[cfg(feature = "anthropic")]
mod anthropic;
mod approvals;
mod asking_user;
mod audit;
mod bridge;
mod budget;
mod budget_suite;
mod bursts;
#[cfg(feature = "openai")]
mod canary;
mod cassette;
mod components;
mod concurrent_runs;
mod context;
mod copilotkit;
mod counted;
mod dialects;
mod drain;
mod engine;
mod error_report;
mod fallback;
#[cfg(feature = "openai")]
mod faults;
#[cfg(all(feature = "anthropic", feature = "files", feature = "gemini", feature = "openai"))]
mod files;
mod forgery;
#[cfg(feature = "gemini")]
mod gemini;
mod guards;
mod history;
mod host_process;
mod http;
mod loader;
#[cfg(feature = "openai")]
mod log_lines;
mod numbers;
mod object_in_process;
mod observe;
mod on_finish;
#[cfg(feature = "openai")]
mod openai;
mod openai_endpoint;
mod plain_routes;
mod plan;
mod playground;
#[cfg(all(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod provider_items;
mod rate;
#[cfg(feature = "openai")]
mod recorded;
#[cfg(feature = "__transport")]
mod recordings;
mod request_cpu_time;
mod run_cost;
mod shared_guard;
mod spans;
mod spent_tokens;
mod store_limits;
mod store_model;
mod stored;
mod stores;
mod telemetry;
mod testing_bodies;
mod testing_fake_server;
mod testing_scripted;
mod threads;
mod tool_choice;
mod tool_events;
mod tool_label;
mod tool_rate;
mod tool_search;
mod tools;
#[cfg(feature = "openai")]
mod transport;
mod ui;
mod widget;
