//! Agents that ask the user before they answer.

use omniassist_server::core::TranscriptItem;
use omniassist_server::testing::{ScriptedProvider, Turn, text};
use omniassist_server::tool::Tool;
use omniassist_server::{Agent, AssistantBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Returns a model that asks for the fields, one form after the other, and then answers.
fn asking(fields: &'static [(&'static str, &'static str, &'static str)]) -> ScriptedProvider {
    ScriptedProvider::new().otherwise(move |payload| {
        let results = payload.transcript.iter().filter(|item| matches!(item, TranscriptItem::Result(_)));
        match fields.get(results.count()) {
            Some((id, field, message)) => {
                let schema = json!({
                    "type": "object", "properties": { (*field): { "type": "string" } }, "required": [field]
                });
                Turn::call_with_id(*id, "request_input", json!({ "message": message, "schema": schema }))
            }
            None => text("Thank you."),
        }
    })
}

/// Adds agents that the assistant's model asks, and so does a client.
pub(crate) fn agents(builder: AssistantBuilder) -> AssistantBuilder {
    let agent = |name: &'static str, model| {
        Agent::new(name, "Asks the user.").input::<Nothing>().provider(model).tool(Tool::request_input())
    };
    let once = asking(&[("user_name", "name", "What is your name?")]);
    let twice = asking(&[
        ("step1", "name", "Step 1: What is your name?"),
        ("step2", "color", "Step 2: What is your favorite color?"),
    ]);
    builder
        .agent(agent("test_input_required_result_elicitation", once))
        .agent(agent("test_input_required_result_multi_round", twice))
        .delegates(["test_input_required_result_elicitation", "test_input_required_result_multi_round"])
}
