//! The backend: one tool, and the assistant that may call it.

use axum::Router;
use omniassist_axum::testing::{ScriptedProvider, Turn, call, text};
use omniassist_axum::{Args, Assistant, Error, LlmProvider, Price, Prices, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct OrderQuery {
    /// Number of the order.
    number: u32,
}

async fn order_status(Args(query): Args<OrderQuery>) -> Result<String, ToolError> {
    tracing::info!(number = query.number, "looked up an order");
    Ok(format!("Order {} is on its way.", query.number))
}

/// The assistant below `/assistant`. What was said stays out of the traces: `record_content` is left off.
pub(crate) fn router(model: impl LlmProvider) -> Result<Router, Error> {
    let assistant = Assistant::builder(model)
        .allow_anonymous()
        .system_prompt("You help with orders. Answer briefly.")
        .tool(Tool::new("order_status", "Looks up an order by its number", order_status))
        .prices(Prices::new().model("gpt-5-mini", Price::per_million_tokens(0.25, 2.0).cached_input(0.025)))
        .build()?;
    Ok(Router::new().nest_service("/assistant", omniassist_axum::router(assistant)))
}

/// A model for trying this out: whatever is asked, it looks up order 7.
pub(crate) fn scripted() -> ScriptedProvider {
    ScriptedProvider::new().with_model("gpt-5-mini").otherwise(|payload| {
        let looked_up = payload
            .transcript
            .last()
            .is_some_and(|item| matches!(item, omniassist_axum::core::TranscriptItem::Result(_)));
        if looked_up {
            text("It is on its way.").then(Turn::usage(240, 12))
        } else {
            call("order_status", json!({ "number": 7 })).then(Turn::usage(180, 20))
        }
    })
}
