//! A desk that clients of MCP start as a process: they speak with it over its standard input and output.
//!
//! ```json
//! { "mcpServers": { "desk": { "command": "target/debug/examples/stdio" } } }
//! ```

use std::error::Error;

use omniassist_mcp::{Expose, Prompt, PromptMessage, Resource, ResourceContent};
use omniassist_server::testing::ScriptedProvider;
use omniassist_server::tool::{Approval, Args, Tool, ToolError};
use omniassist_server::{Assistant, Principal};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: u32,
}

async fn total(Args(order): Args<Order>) -> Result<String, ToolError> {
    Ok(format!("Order {} costs 3 €.", order.number))
}

async fn refund(Args(order): Args<Order>) -> Result<String, ToolError> {
    Ok(format!("Order {} is refunded.", order.number))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The model of the client decides. An assistant with agents has a provider of its own.
    let assistant = Assistant::builder(ScriptedProvider::new())
        .tool(Tool::new("total", "The price of an order", total).read_only())
        .tool(Tool::new("refund", "Gives money back", refund).requires_approval(Approval::always()))
        .allow_anonymous()
        .build()?;
    let terms = Resource::new("desk://terms", "terms", async |_| {
        Ok(ResourceContent::text("Refunds within 14 days."))
    });
    let order = Resource::template("desk://orders/{number}", "order", async |request| {
        Ok(request.parameter("number").map(|number| ResourceContent::text(format!("Order {number}: tea"))))
    });
    let reply = Prompt::new("reply", "Answers a customer", async |request| {
        let name = request.argument("name").unwrap_or_default();
        Ok(vec![PromptMessage::user(format!("Write a friendly answer to {name}."))])
    });
    let expose = Expose::tools()
        .named("desk")
        .resource(terms.description("What customers may expect"))
        .resource(order.description("One order"))
        .prompt(reply.required_argument("name", "The name of the customer"));
    Ok(expose.serve_stdio(assistant, Principal::new("local")).await?)
}
