use omniassist_server::core::Message;
use omniassist_server::testing::{ScriptedProvider, call, text};
use omniassist_server::{Assistant, Tool, ToolError};
use serde_json::json;

use super::{Table, last, post};

#[tokio::test]
async fn tools_that_a_stored_turn_loaded_stay_loaded() {
    let model = ScriptedProvider::new()
        .turn(call("tool_search", json!({"query": "refund"})))
        .turn(text("Which order?"))
        .otherwise(|_| text("Done."));
    let tool =
        |name: &'static str| Tool::new(name, format!("Handles {name}"), async || Ok::<_, ToolError>("ok"));
    let builder = Assistant::builder(model.clone()).tool(tool("refund")).tool(tool("track"));
    let assistant = Table::default().of(builder.defer_tools_above(1));
    let mut messages = vec![Message::user("u1", "I want my money back")];
    post(&assistant, &last(&messages, "submit-message", None), &mut messages).await;
    messages.push(Message::user("u2", "Order 17"));
    post(&assistant, &last(&messages, "submit-message", None), &mut messages).await;
    let payloads = model.payloads();
    let names: Vec<_> = payloads[2].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["tool_search", "refund"]);
}
