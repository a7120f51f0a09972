//! A tool call, from the model's arguments to the tool's output as JSON.

use std::hint::black_box;

use omniassist_core::{JsonText, Limits, RunRequest, Text};
use omniassist_server::tool::{StateMap, Tool, ToolInvocation, Tools};
use omniassist_server::{Args, RunContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Outcome;

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// The number of the order.
    id: u32,
    /// `true` to include the lines of the order.
    #[serde(default)]
    lines: bool,
}

async fn order_total(Args(order): Args<Order>) -> Result<u32, ToolError> {
    Ok(order.id + u32::from(order.lines))
}

/// Measures a call without the tool's own work: finding the tool, checking the arguments against its schema, the two
/// tasks of a call, extracting the arguments, and writing the output as JSON.
pub(super) fn call(events: usize) -> Outcome<usize> {
    let tools = Tools::new(StateMap::new(), Limits::default());
    tools.register(Tool::new("order_total", "The total of an order", order_total))?;
    let arguments = JsonText::parse(r#"{"id":1042,"lines":true}"#)?;
    let run = RunContext::for_request(RunRequest::prompt("Total?"), http::Extensions::new());
    let call_id = Text::from("call_0123456789abcdef01234567".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let snapshot = tools.snapshot();
        let mut count = 0;
        for _ in 0..events {
            let arguments = black_box(&arguments).clone();
            snapshot.check("order_total", &arguments).map_err(String::from)?;
            let tool = snapshot.get("order_total").ok_or("no such tool")?;
            let invocation = ToolInvocation::new(call_id.clone(), arguments, run.clone());
            let outcome = tools.start(tool, invocation).outcome().await;
            count += usize::from(outcome.result.is_ok_and(|output| output.as_str() == "1043"));
        }
        Ok(count)
    })
}
