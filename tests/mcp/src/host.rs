//! The assistant of the suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use omniassist_mcp::Expose;
use omniassist_server::core::TranscriptItem;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::{Approval, Args, State, Tool, ToolContext, ToolError};
use omniassist_server::{Agent, Assistant};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{AnyError, media, questions};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: f64,
    b: f64,
}

async fn add(Args(Sum { a, b }): Args<Sum>) -> Result<f64, ToolError> {
    Ok(a + b)
}

async fn simple_text() -> Result<&'static str, ToolError> {
    Ok("This is a simple text response for testing.")
}

async fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}

async fn with_progress(call: ToolContext) -> Result<&'static str, ToolError> {
    for percent in ["0", "50", "100"] {
        call.progress(percent);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok("Done.")
}

/// The number of calls that were cancelled.
#[derive(Clone, Default)]
struct Cancelled(Arc<AtomicU32>);

async fn slow(call: ToolContext, State(cancelled): State<Cancelled>) -> Result<&'static str, ToolError> {
    call.cancelled().await;
    cancelled.0.fetch_add(1, Ordering::Relaxed);
    Ok("cancelled")
}

async fn cancelled_calls(State(cancelled): State<Cancelled>) -> Result<u32, ToolError> {
    Ok(cancelled.0.load(Ordering::Relaxed))
}

async fn refund() -> Result<&'static str, ToolError> {
    Ok("Refunded.")
}

/// Returns a tool that needs an approval.
fn guarded(name: &'static str) -> Tool {
    Tool::new(name, "Gives money back", refund)
        .requires_approval(Approval::always().message("Give this back?"))
}

/// A schema with those keywords that the suite looks for and providers take. They refuse `allOf` and `if` at the root.
fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": {
            "street": { "type": "string" }, "city": { "type": "string" } } } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "additionalProperties": false
    })
}

/// Answers for the agent: with a form, and then with a greeting.
fn greeter() -> ScriptedProvider {
    let form = json!({
        "message": "What is your name?",
        "schema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }
    });
    ScriptedProvider::new().otherwise(move |payload| match payload.transcript.last() {
        Some(TranscriptItem::Result(result)) => text(format!("Hello, {}!", result.output_text())),
        _ => Turn::call_with_id("user_name", "request_input", form.clone()),
    })
}

/// The parts of the assistant that clients reach.
pub(crate) fn expose() -> Expose {
    media::prompts(media::resources(Expose::tools().and_agent("greeter").named("omniassist-suite")))
}

pub(crate) fn assistant() -> Result<Assistant, AnyError> {
    let greeter =
        Agent::new("greeter", "Greets the user by name.").provider(greeter()).tool(Tool::request_input());
    let builder = Assistant::builder(ScriptedProvider::new().otherwise(|_| text("Hello.")));
    Ok(questions::agents(media::tools(builder))
        .tool(Tool::new("add", "Adds two numbers", add).read_only())
        .state(Cancelled::default())
        .tool(Tool::new("slow", "Waits until it is cancelled", slow))
        .tool(
            Tool::new("cancelled_calls", "Counts the calls that were cancelled", cancelled_calls).read_only(),
        )
        .tool(Tool::new("test_simple_text", "Returns a text", simple_text).read_only())
        .tool(Tool::new("test_error_handling", "Fails", fail))
        .tool(Tool::new("test_tool_with_progress", "Reports its progress", with_progress))
        .tool(Tool::new("test_logging_tool", "Returns a text", simple_text))
        .tool(guarded("refund"))
        .tool(guarded("test_streaming_elicitation"))
        .tool(guarded("test_input_required_result_request_state"))
        .tool(guarded("test_input_required_result_tampered_state"))
        .tool(Tool::from_fn_with_schema(
            "json_schema_2020_12_tool",
            "Has a schema of the draft 2020-12",
            schema_2020_12(),
            async |_: Value, _: ToolContext| Ok::<_, ToolError>("ok"),
        ))
        .agent(greeter)
        .mcp_server(expose())
        .allow_anonymous()
        .build()?)
}
