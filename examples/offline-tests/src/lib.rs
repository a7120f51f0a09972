//! Tests of an assistant without a network.
//!
//! This crate is an application with a tool and an assistant. Its tests in `tests/offline.rs` ask the same questions in
//! two ways.
//!
//! - **A script.** `ScriptedProvider` answers with the turns of the test. Most tests of tools and prompts need no more.
//! - **A cassette.** The real `OpenAiProvider` sends its request to a `Player`, which answers with
//!   `tests/cassettes/order_status.jsonl`. Use it to keep an answer of a real model, such as a strange call or an error.
//!
//! This cassette is written by hand. It has no bodies of requests, so it accepts any. A cassette from a `Recorder` also
//! has the requests, and the test fails if the prompt or the schema of a tool has changed:
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

/// The data of the application.
#[derive(Debug, Clone, Default)]
pub struct Orders(Arc<BTreeMap<u32, &'static str>>);

impl Orders {
    /// Creates two orders.
    #[must_use]
    pub fn sample() -> Self {
        Self(Arc::new(BTreeMap::from([(7, "shipped"), (8, "pending")])))
    }
}

/// The arguments of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OrderQuery {
    /// Number of the order.
    pub number: u32,
}

/// The output of the tool.
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

/// Builds the assistant. The model is a parameter, so that tests can use their own.
///
/// # Errors
///
/// Returns the errors of [`AssistantBuilder::build`](omniassist_server::AssistantBuilder::build).
pub fn assistant(model: impl LlmProvider, orders: Orders) -> Result<Assistant> {
    Assistant::builder(model)
        .system_prompt("You help with orders.")
        .state(orders)
        .tool(Tool::new("order_status", "Look up an order by its number", order_status))
        .build()
}
