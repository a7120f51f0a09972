//! Tests of the tools that count towards the threshold for deferring.

use std::sync::Arc;

use omniassist_server::core::run::ClientAbilities;
use omniassist_server::core::{RunRequest, ToolSpec};
use omniassist_server::testing::{ScriptedProvider, text};
use omniassist_server::tool::Approval;
use omniassist_server::{AssistantBuilder, Refusal, RunPlan, Tool};
use serde_json::json;

use super::deferred::{ask, last, numbered, tool};

#[tokio::test]
async fn tools_are_deferred_above_the_threshold_only() {
    for (count, above, defers) in [
        (40, None, false),
        (41, None, true),
        (3, Some(Some(3)), false),
        (4, Some(Some(3)), true),
        (1, Some(Some(0)), true),
        (0, Some(Some(0)), false),
        (41, Some(None), false),
    ] {
        let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
        let builder = numbered(&model, count);
        let builder = match above {
            None => builder,
            Some(above) => builder.defer_tools_above(above),
        };
        ask(&builder.build().unwrap(), Vec::new(), "Hi").await;
        match defers {
            true => assert_eq!(last(&model), ["tool_search"], "{count} {above:?}"),
            false => assert_eq!(last(&model).len(), count, "{count} {above:?}"),
        }
    }
}

/// Returns the offered tools of an assistant with 40 server tools and the tools that `add` adds.
async fn with_40_tools(add: impl FnOnce(AssistantBuilder) -> AssistantBuilder) -> Vec<String> {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let assistant = add(numbered(&model, 40)).build().unwrap();
    ask(&assistant, Vec::new(), "Hi").await;
    last(&model)
}

#[tokio::test]
async fn server_tools_of_all_kinds_count() {
    let approved = tool("approved").requires_approval(Approval::always());
    assert_eq!(with_40_tools(|builder| builder.tool(approved)).await, ["tool_search"]);

    let pinned = tool("pinned").always_loaded();
    assert_eq!(with_40_tools(|builder| builder.tool(pinned)).await, ["tool_search", "pinned"]);

    let prepare = |plan: &mut RunPlan| {
        std::future::ready(plan.add_tool(tool("added")).map(drop).map_err(Refusal::from))
    };
    assert_eq!(with_40_tools(|builder| builder.prepare(prepare)).await, ["tool_search"]);
}

#[tokio::test]
async fn front_end_tools_do_not_count() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let schema = json!({"type": "object", "properties": {}});
    let page = |builder: AssistantBuilder, index: usize| {
        builder.tool(Tool::front_end_with_schema(format!("page_{index}"), "Of the page", schema.clone()))
    };
    let assistant = (0..5).fold(numbered(&model, 40), page).build().unwrap();
    let mut request = RunRequest::prompt("Hi");
    request.abilities = ClientAbilities::default();
    let declared = |index: usize| ToolSpec::new(format!("declared_{index}"), "Of the page", schema.clone());
    request.tools = (0..5).map(|index| Arc::new(declared(index).front_end())).collect();
    assistant.run(request).text().await.unwrap();
    assert_eq!(last(&model).len(), 50);
    assert!(!last(&model).contains(&"tool_search".to_owned()));
}

#[tokio::test]
async fn a_run_without_deferred_tools_has_no_search() {
    let model = ScriptedProvider::new().otherwise(|_| text("Hi"));
    let pinned = |builder: AssistantBuilder, index| builder.tool(tool(&format!("p_{index}")).always_loaded());
    let assistant = (0..41).fold(numbered(&model, 0), pinned).build().unwrap();
    ask(&assistant, Vec::new(), "Hi").await;
    assert_eq!(last(&model).len(), 41);
    assert!(!last(&model).contains(&"tool_search".to_owned()));
}
