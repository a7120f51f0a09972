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

/// Mounts the assistant at `/assistant`. The traces contain no messages, because `record_content` is off by default.
pub(crate) fn router(model: impl LlmProvider) -> Result<Router, Error> {
    let assistant = Assistant::builder(model)
        .allow_anonymous()
        .system_prompt("You help with orders. Answer briefly.")
        .tool(Tool::new("order_status", "Looks up an order by its number", order_status))
        .prices(Prices::new().model("gpt-5-mini", Price::per_million_tokens(0.25, 2.0).cached_input(0.025)))
        .build()?;
    Ok(Router::new().nest_service("/assistant", omniassist_axum::router(assistant)))
}

/// Returns a scripted model that looks up order 7 for every question.
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
