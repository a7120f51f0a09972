//! How a host tests its assistant with the network off.
//!
//! This crate is the host: a tool over some orders, and the assistant that has it. Its tests stand in
//! `tests/offline.rs` and ask the same questions in two ways.
//!
//! - **A script.** `ScriptedProvider` says what the test tells it to. Most tests of tools and prompts need no more: what
//!   did the tool do, what was the model told, what happens when the tool fails.
//! - **A cassette.** The real `OpenAiProvider`, with its request, its connection and its decoder, is pointed at a
//!   `Player`, which sends what stands in `tests/cassettes/order_status.jsonl`. Use it to keep what a real model once
//!   said: an odd call, a long answer, an error.
//!
//! That cassette is written by hand, to be read, and leaves the requests' bodies out, so that any are accepted. One that
//! a `Recorder` wrote also holds the requests, and the test then fails when the prompt or a tool's schema has changed:
//!
//! ```no_run
//! # async fn record() -> Result<(), Box<dyn std::error::Error>> {
//! use omniassist_server::OpenAiProvider;
//! use omniassist_server::core::RunRequest;
//! use omniassist_server::testing::Recorder;
//!
//! let recorder = Recorder::start("https://api.openai.com/v1").await?;
//! let key = std::env::var("OPENAI_API_KEY")?;
//! let provider = OpenAiProvider::builder().api_key(key).base_url(recorder.base_url()).build()?;
//! let assistant = offline_tests::assistant(provider, offline_tests::Orders::sample())?;
//! println!("{}", assistant.run(RunRequest::prompt("Where is order 7?")).text().await?);
//! recorder.finish().await?.save("tests/cassettes/order_status.jsonl")?;
//! # Ok(())
//! # }
//! ```
//!
//! The file's format is described in `omniassist_server::testing::cassette`.

use std::collections::BTreeMap;
use std::sync::Arc;

use omniassist_server::{Args, Assistant, Json, LlmProvider, Result, State, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host's data.
#[derive(Debug, Clone, Default)]
pub struct Orders(Arc<BTreeMap<u32, &'static str>>);

impl Orders {
    /// Two orders.
    #[must_use]
    pub fn sample() -> Self {
        Self(Arc::new(BTreeMap::from([(7, "shipped"), (8, "pending")])))
    }
}

/// What the tool is asked.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OrderQuery {
    /// Number of the order.
    pub number: u32,
}

/// What the tool answers.
#[derive(Debug, Serialize)]
pub struct Order {
    number: u32,
    status: &'static str,
}

async fn order_status(
    Args(query): Args<OrderQuery>,
    State(orders): State<Orders>,
) -> Result<Json<Order>, ToolError> {
    let number = query.number;
    match orders.0.get(&number) {
        Some(status) => Ok(Json(Order { number, status })),
        None => Err(ToolError::new(format!("There is no order {number}."))),
    }
}

/// The host's assistant. The model is a parameter, so that a test can bring its own.
///
/// # Errors
///
/// Those of [`AssistantBuilder::build`](omniassist_server::AssistantBuilder::build).
pub fn assistant(model: impl LlmProvider, orders: Orders) -> Result<Assistant> {
    Assistant::builder(model)
        .system_prompt("You help with orders.")
        .state(orders)
        .tool(Tool::new("order_status", "Look up an order by its number", order_status))
        .build()
}
